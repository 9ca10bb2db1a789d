"""`lacuner show-removed`: the likely gaps that an exploration found in the labels of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from lacuner.cli.console import Json, print_json, results
from lacuner.errors import DataError, UsageError
from lacuner.training.removed_words import ROWS, RemovedRow, read_removed, read_summary

_STAGE = "explore"
_GAP, _WRONG, _UNKNOWN, _LABELLED = "bold green", "bold red", "bold yellow", "underline"


def show_removed(
    run: Annotated[
        Path, typer.Argument(help="Folder of a run of two_step, or with exploration.ell set.")
    ],
    limit: Annotated[int, typer.Option("--limit", help="Sentences to show.")] = 20,
    stage: Annotated[
        str | None,
        typer.Option(
            "--stage", metavar="NAME", help="Which, where a run has several, as member-2.explore."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show which words without a label a run left out, as likely gaps.

    Sentences come in the order of their smallest O-value, the likeliest gaps first; behind them
    stand the O-values. Labels are underlined. Where the hidden labels are known ('lacuner train
    --hidden'), words of hidden entities are green, [+word], and others red, [-word], and precision
    and recall of the removed words are given.

    Example: lacuner show-removed run --limit 50
    """
    if limit < 0:
        raise UsageError(f"--limit is a number of sentences, not {limit}.")
    folder = _folder(run, stage)
    summary = read_summary(folder)
    rows = sorted(read_removed(folder), key=lambda row: row.lowest)[:limit]
    if json:
        print_json({**summary, "shown": [row.as_dict() for row in rows]})
        return
    console = results()
    for row in rows:
        console.print(_line(row, console), soft_wrap=True)
    if rows:
        console.print()
    _print_summary(summary, console)


def _folder(run: Path, stage: str | None) -> Path:
    """The stage whose removed words are asked for."""
    found = {path.parent.name: path.parent for path in sorted(run.glob(f"stages/*/{ROWS}"))}
    if not found:
        begun = (run / "settings.toml").exists()
        raise DataError(
            run,
            "this run has removed no words" if begun else "this is no folder of a run",
            right="Runs of two_step remove some, as do other taggers with exploration.ell",
        )
    if stage is None:
        return found.get(_STAGE) or next(iter(found.values()))
    if stage not in found:
        raise UsageError(f"{run} has no removed words of '{stage}'; it has {', '.join(found)}.")
    return found[stage]


def _line(row: RemovedRow, console: Console) -> Text:
    """A sentence with its removed words in colour, or in brackets where there is none."""
    brackets = not console.is_terminal or console.no_color
    labelled = {n for e in row.sentence.entities for n in range(e.start, e.end)}
    gap = "" if all(len(word) == 1 for word in row.sentence.tokens) else " "
    line = Text.assemble((f"{row.sentence.id}: ", "dim"))
    for number, word in enumerate(row.sentence.tokens):
        if number in row.words:
            style, sign = _kind(row, number)
            line.append(f"[{sign}{word}]" if brackets else word, style)
        else:
            line.append(word, _LABELLED if number in labelled else "")
        line.append(gap)
    values = ", ".join(
        f"{row.sentence.tokens[word]} {value:.2f}"
        for word, value in zip(row.words, row.values, strict=True)
    )
    return line.append(f"  ({values})", "dim")


def _kind(row: RemovedRow, word: int) -> tuple[str, str]:
    if row.hidden is None:
        return _UNKNOWN, "?"
    return (_GAP, "+") if row.is_hidden(word) else (_WRONG, "-")


def _print_summary(summary: dict[str, Any], console: Console) -> None:
    chosen = "chosen by itself" if summary["auto"] else "as set"
    lines = [
        f"{summary['removed']:,} of {summary['candidates']:,} words without a label were left out, "
        f"in {summary['sentences']:,} sentences (ell {summary['ell']:.4g}, {chosen})"
    ]
    expected, measured = summary["expected"], summary["measured"]
    if expected is not None:
        lines.append(
            f"expected: precision about {expected['precision']:.3f}, "
            f"recall {expected['recall']:.3f}"
        )
    if measured is not None:
        lines.append(
            f"measured: precision {measured['precision']:.3f}, recall {measured['recall']:.3f} "
            f"of {measured['hidden_words']:,} words of hidden entities"
        )
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
