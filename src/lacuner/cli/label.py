"""`lacuner label`: labels from dictionaries, and a report to prune them by."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import orjson
import typer

from lacuner.cli.console import (
    Json,
    Overwrite,
    Quiet,
    ToFormat,
    messages,
    print_json,
    reading_shown,
    results,
    say,
    tell,
)
from lacuner.cli.label_tables import print_report
from lacuner.cli.reading_options import Reading, takes_reading
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import write
from lacuner.errors import OutputExists
from lacuner.files import written_aside
from lacuner.labelling import distant
from lacuner.labelling.gazetteer import Gazetteer
from lacuner.labelling.gazetteer_cache import default_folder
from lacuner.labelling.label_report import LabelReport
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.names import NameFile, name_files, read_stop_list
from lacuner.labelling.spacy_pipeline import spacy_phrases
from lacuner.matching.units import detect_units

_MATCHING = "Matching"
_EXAMPLES_PRINTED = 100


@takes_reading
def label(
    source: Annotated[Path, typer.Argument(help="Raw text, or a corpus in any format.")],
    names: Annotated[
        list[str],
        typer.Option(
            "--names",
            "-n",
            metavar="LABEL=FILE",
            help="A dictionary: text, CSV, TSV, JSON, or a folder of one file a label. Without "
            "'LABEL=' the file says the labels itself. May be given several times.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write.")],
    reading: Reading,
    case: Annotated[
        str,
        typer.Option(
            metavar="exact|ignore|smart",
            help="smart ignores case, but text without a capital is matched by lower-case "
            "names only.",
            rich_help_panel=_MATCHING,
        ),
    ] = "exact",
    normal_form: Annotated[
        str,
        typer.Option(
            metavar="NFC|NFKC|none",
            help="Unicode form in which names and text are compared.",
            rich_help_panel=_MATCHING,
        ),
    ] = "NFC",
    units: Annotated[
        str,
        typer.Option(
            metavar="auto|words|characters",
            help="characters is for corpora whose tokens are characters.",
            rich_help_panel=_MATCHING,
        ),
    ] = "auto",
    min_length: Annotated[
        int,
        typer.Option(help="Leave out shorter names, in characters.", rich_help_panel=_MATCHING),
    ] = 1,
    stop: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Names to leave out, one a line.", rich_help_panel=_MATCHING
        ),
    ] = None,
    overlap: Annotated[
        str,
        typer.Option(
            metavar="leftmost|longest|all",
            help="Of names that overlap keep the longest from the left, the longest anywhere, "
            "or all (nested).",
            rich_help_panel=_MATCHING,
        ),
    ] = "leftmost",
    ambiguous: Annotated[
        str,
        typer.Option(
            metavar="both|first|skip",
            help="A name with two labels: record both as an ambiguity, take the first "
            "dictionary's, or label nothing.",
            rich_help_panel=_MATCHING,
        ),
    ] = "both",
    phrases: Annotated[
        str | None,
        typer.Option(
            metavar="PIPELINE",
            help="Label only candidate phrases (runs of proper nouns and the like), as wholes. "
            "The spaCy pipeline, by name or folder, says the parts of speech.",
            rich_help_panel=_MATCHING,
        ),
    ] = None,
    relabel: Annotated[
        bool,
        typer.Option("--relabel", help="Drop the labels that are there; they are kept otherwise."),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the whole report as JSON."),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where compiled dictionaries are kept. [default: the user's]"
        ),
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Keep no compiled dictionaries.")
    ] = False,
    to: ToFormat = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Label a corpus with names from dictionaries.

    Every label says its dictionary and entry. What no dictionary knows stays unknown. The report
    afterwards shows which entries matched, which never did, and which look wrong.

    Example: lacuner label news.txt --names PER=people.txt --names LOC=cities.csv -o news.jsonl
    """
    findings = Findings()
    options = MatchOptions(
        case=case,
        normal_form=normal_form,
        units=units,
        min_length=min_length,
        stop=read_stop_list(stop) if stop else (),
        overlap=overlap,
        ambiguous=ambiguous,
    )
    files = name_files(names)
    for path in (output, report):
        if path is not None and path.exists() and not overwrite:
            raise OutputExists(path)
    if units == "auto":
        options = replace(options, units=detect_units(reading.stream(source, Findings())))
    finder = spacy_phrases(phrases, units=options.units) if phrases is not None else None
    folder = None if no_cache else cache or default_folder()
    gazetteer = _gazetteer(files, options, folder, findings, quiet=quiet or json)
    counts = LabelReport(gazetteer)
    with reading_shown(source, quiet=quiet or json):
        sentences = reading.stream(source, findings)
        labelled = distant.label(
            sentences, gazetteer, keep_labels=not relabel, phrases=finder, report=counts
        )
        write(
            labelled,
            output,
            format=to,
            overwrite=overwrite,
            findings=findings,
            labels=gazetteer.labels,
        )
    if report is not None:
        with written_aside(report, overwrite=overwrite) as aside:
            aside.write_bytes(orjson.dumps(counts.as_dict(), option=orjson.OPT_INDENT_2))
    tell(findings, quiet=quiet or json)
    if json:
        print_json({"output": str(output), **counts.as_dict(examples=_EXAMPLES_PRINTED)})
    elif not quiet:
        print_report(results(), counts)
        say(f"{output}: {counts.sentences:,} sentences", quiet=quiet)


def _gazetteer(
    files: list[NameFile],
    options: MatchOptions,
    folder: Path | None,
    findings: Findings,
    *,
    quiet: bool,
) -> Gazetteer:
    console = messages()
    if quiet or not console.is_terminal:
        return distant.load_gazetteer(files, options, cache=folder, findings=findings).gazetteer
    with console.status("compiling names"):
        return distant.load_gazetteer(files, options, cache=folder, findings=findings).gazetteer
