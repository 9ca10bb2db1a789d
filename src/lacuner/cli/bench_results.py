"""`lacuner bench table` and `plot`: what the rows of a study say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lacuner.cli.console import Overwrite, results
from lacuner.errors import UsageError
from lacuner.files import written_aside
from lacuner.suggestions import unknown_name

if TYPE_CHECKING:
    from lacuner.experiments.tables import StudyTable

ResultsArgument = Annotated[
    Path, typer.Argument(metavar="RESULTS", help="The .jsonl file of 'lacuner bench run'.")
]


def table(
    source: ResultsArgument,
    form: Annotated[
        str, typer.Option("--format", help="markdown, csv or latex.", metavar="FORMAT")
    ] = "markdown",
    columns: Annotated[
        str,
        typer.Option(
            "--columns",
            metavar="NAME,…",
            help="Of f1, retention, published, dev, precision, recall, missampling, seconds, "
            "peak_mb.",
        ),
    ] = "f1,retention,published",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write. (default: print)")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Show results as tables: mean ± deviation over seeds, retention, published figures.

    The best of a column is bold; † marks what a paired bootstrap cannot tell from it.

    Example: lacuner bench table results/masked-conll.jsonl --format latex -o table.tex
    """
    from lacuner.experiments import table_formats as formats
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
    text = writers[form](make_tables(read_rows(source), Results(source).counts()))
    if output is None:
        results().print(text.rstrip(), markup=False, soft_wrap=True)
        return
    with written_aside(output, overwrite=overwrite) as aside:
        aside.write_text(text, "utf-8")
