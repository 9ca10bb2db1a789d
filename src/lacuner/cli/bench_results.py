"""`lacuner bench table` and `plot`: what the rows of a study say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lacuner.cli.bench_options import Only, filters
from lacuner.cli.console import Overwrite, Quiet, results, say, tell
from lacuner.corpus.findings import Findings
from lacuner.errors import UsageError
from lacuner.files import written_aside
from lacuner.suggestions import unknown_name

if TYPE_CHECKING:
    from lacuner.experiments.tables import StudyTable

FIGURE_FORMATS = ("svg", "png")
ResultsArgument = Annotated[
    Path, typer.Argument(metavar="RESULTS", help="The .jsonl file of 'lacuner bench run'.")
]


def table(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS",
            help="Files of 'lacuner bench run'; several stand in one table.",
            show_default=False,
        ),
    ],
    form: Annotated[
        str, typer.Option("--format", help="markdown, csv or latex.", metavar="FORMAT")
    ] = "markdown",
    columns: Annotated[
        str,
        typer.Option(
            "--columns",
            metavar="NAME,…",
            help="Of f1, unshifted, retention, published, dev, precision, recall, missampling, "
            "removed, exploration, seconds, processor, cost, peak_mb.",
        ),
    ] = "f1,unshifted,retention,published",
    only: Only = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write. (default: print)")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Show results as tables: mean ± deviation over seeds, retention, published figures.

    The best of a column is bold; † marks what a paired bootstrap cannot tell from it.

    Example: lacuner bench table results/masked-conll.jsonl --only masking=0.8 --format latex
    """
    from lacuner.experiments import table_formats as formats
    from lacuner.experiments.comparable_rows import joined
    from lacuner.experiments.filters import wanted_rows
    from lacuner.experiments.results import Results, read_rows
    from lacuner.experiments.tables import make_tables

    measures = formats.find_measures([name.strip() for name in columns.split(",")])
    writers: dict[str, Callable[[list[StudyTable]], str]] = {
        "markdown": lambda tables: formats.to_markdown(tables, measures),
        "csv": formats.to_csv,
        "latex": lambda tables: formats.to_latex(tables, measures),
    }
    if form not in writers:
        raise UsageError(unknown_name("format of tables", form, writers))
    rows = wanted_rows([row for source in sources for row in read_rows(source)], filters(only))
    counts = {run: own for source in sources for run, own in Results(source).counts().items()}
    text = writers[form](make_tables(joined(rows) if len(sources) > 1 else rows, counts))
    if output is None:
        results().print(text.rstrip(), markup=False, soft_wrap=True)
        return
    with written_aside(output, overwrite=overwrite) as aside:
        aside.write_text(text, "utf-8")


def plot(
    source: ResultsArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the figures.")],
    form: Annotated[str, typer.Option("--format", help="svg or png.", metavar="FORMAT")] = "svg",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Draw whichever figures the results allow.

    F1 and missampling by masking rate, missampling and dev F1 by epoch, what each stage reaches on
    dev, F1 by a setting that was varied, retention; for studies that look into their runs, what
    they think of spans or words by epoch, and a map of spans. Needs matplotlib: pip
    install 'lacuner[plots]'.

    Example: lacuner bench plot results/masked-conll.jsonl -o figures
    """
    from lacuner.experiments.figures import write_figures
    from lacuner.experiments.results import Results, read_rows
    from lacuner.experiments.tables import make_tables

    if form not in FIGURE_FORMATS:
        raise UsageError(unknown_name("format of figures", form, FIGURE_FORMATS))
    tables = make_tables(read_rows(source), {})
    findings = Findings()
    written = write_figures(
        tables,
        output,
        results=Results(source),
        findings=findings,
        ending=form,
        overwrite=overwrite,
    )
    tell(findings, quiet=False)
    if not written:
        raise UsageError(
            f"{source} allows no figure yet: it takes runs of two epochs, two masking rates, or a "
            "supervised ceiling."
        )
    for path in written:
        say(str(path), quiet=quiet)
