"""`lacuner refill`: the labels that a run of `refill` put back or took out, as corpus and list."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.table import Table

from lacuner.cli.console import Json, Overwrite, Quiet, ToFormat, print_json, results, say, tell
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import read, write
from lacuner.files import written_aside

if TYPE_CHECKING:
    from lacuner.refilling.changes import Change


def refill(
    run: Annotated[Path, typer.Argument(help="Folder of a run of refill.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the filled corpus.")
    ] = None,
    changes: Annotated[
        Path | None,
        typer.Option(
            "--changes", metavar="FILE", help="Write every change there, one a line, as JSON."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the labels given, put back and missing, as .svg or .png.",
        ),
    ] = None,
    to: ToFormat = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Show how many labels a corpus misses, and write it with those that were put back.

    Labels that were put back have the source 'refill:ROUND' and a score. --changes lists them one
    by one, and the doubtful ones, and those that were taken out because a model that had not
    learnt from them did not believe them, with the reason for each: a list for annotators.

    Example: lacuner refill run -o filled.jsonl --changes changes.jsonl
    """
    from lacuner.evaluation.plots import check_plot, save
    from lacuner.refilling.outcome import filled_file, read_changes, read_gaps
    from lacuner.refilling.picture import labels_figure

    if plot is not None:
        check_plot(plot)
    facts = read_gaps(run)
    findings = Findings()
    if output is not None:
        filled = read(filled_file(run))
        write(filled, output, format=to, overwrite=overwrite, findings=findings)
    if changes is not None:
        _write_changes(read_changes(run), changes, overwrite=overwrite)
    if plot is not None:
        save(labels_figure(facts), plot, overwrite=overwrite, findings=findings)
    if json:
        print_json({**facts, **findings.as_dict()})
        return
    _print(facts, results())
    tell(findings, quiet=quiet)
    for path in (output, changes, plot):
        if path is not None:
            say(f"{path} is written", quiet=quiet)


def _write_changes(found: list[Change], path: Path, *, overwrite: bool) -> None:
    rows = sorted(found, key=lambda change: -change.sureness)
    with written_aside(path, overwrite=overwrite) as aside:
        aside.write_bytes(b"".join(orjson.dumps(row.as_dict()) + b"\n" for row in rows))


def _print(facts: dict[str, Any], console: Console) -> None:
    table = Table(box=None, header_style="bold")
    table.add_column("label")
    for heading in ("given", "put back", "taken out", "doubtful", "missing, by estimate"):
        table.add_column(heading, justify="right")
    total = facts["rounds"][-1]
    rows = {
        **facts["labels"],
        "all": {**facts["estimate"], "given": facts["given"], **total},
    }
    for label, row in rows.items():
        table.add_row(
            label,
            f"{row['given']:,}",
            f"{row['added']:,}",
            f"{row['removed']:,}",
            f"{row['doubtful']:,}",
            _estimate(row if label != "all" else facts["estimate"]),
        )
    console.print(table)
    if "measured" in total:
        found = total["measured"]
        console.print(
            f"put back: precision {found['precision']:.3f}, recall {found['recall']:.3f} of "
            f"{found['hidden']:,} hidden labels",
            markup=False,
        )


def _estimate(row: dict[str, Any]) -> str:
    if row["missing"] is None:
        return "too few labels to tell"
    return f"{row['missing']:,.0f} ({row['low']:,.0f} to {row['high']:,.0f})"
