"""`lacuner predict`: files of any size to entities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from lacuner.cli.console import (
    Json,
    Overwrite,
    Quiet,
    ToFormat,
    print_json,
    reading_shown,
    say,
    tell,
)
from lacuner.cli.reading_options import Reading, takes_reading
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import write
from lacuner.corpus.sentence import Sentence


@takes_reading
def predict(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    source: Annotated[Path, typer.Argument(help="Text or corpus to label.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write.")],
    reading: Reading,
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", metavar="SHARE", help="Say of retrieval, for runs of scl_rai."),
    ] = None,
    offset: Annotated[
        float | None,
        typer.Option(
            "--offset",
            metavar="NUMBER",
            help="Off the score of 'no entity': more finds more, less is surer.",
        ),
    ] = None,
    to: ToFormat = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Find the entities of a text or corpus.

    The file is streamed, whatever its size. Labels that the input has are not looked at.

    Example: lacuner predict run news.txt -o news.jsonl
    """
    from lacuner.inference.recogniser import load

    recogniser = load(run, alpha=alpha, offset=offset)
    findings = Findings()
    sentences = entities = 0

    def predicted() -> Iterator[Sentence]:
        nonlocal sentences, entities
        for sentence in recogniser.stream(reading.stream(source, findings)):
            sentences += 1
            entities += len(sentence.entities)
            yield sentence

    with reading_shown(source, quiet=quiet or json):
        write(
            predicted(),
            output,
            format=to,
            overwrite=overwrite,
            findings=findings,
            labels=recogniser.labels,
        )
    if json:
        counts = {"output": str(output), "sentences": sentences, "entities": entities}
        print_json({**counts, **findings.as_dict()})
        return
    tell(findings, quiet=quiet)
    say(f"{output}: {sentences:,} sentences, {entities:,} entities", quiet=quiet)
