"""How well removed words are those of hidden entities (two-step learning, Figures 3 and 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lacuner.evaluation.plots import new_figure
from lacuner.experiments.comparable_rows import Column
from lacuner.experiments.line_panels import WIDTH, Line, draw_lines, entitle
from lacuner.experiments.tables import Cell, Mean, StudyTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL = 2.9  # inches


def removed_by_share(table: StudyTable, column: Column) -> Figure | None:
    """Precision and recall of removed words over the share that is removed: a line a system.

    None where no run removed words, or nobody knows what was hidden.
    """
    cells = [
        (number, system, cell)
        for number, system in enumerate(table.systems)
        if (cell := table.cells.get((system, column))) is not None and _grids(cell)
    ]
    if not cells:
        return None
    figure = new_figure(0.6 + 2 * _PANEL, WIDTH)
    all_axes = figure.subplots(2, 1, sharex=True)
    for axes, measure in zip(all_axes, ("precision", "recall"), strict=True):
        lines = [Line(system, _points(cell, measure), number) for number, system, cell in cells]
        axes.set_xscale("log")
        draw_lines(axes, lines, "{:.0f}", height=_PANEL - 0.7)
        axes.set_ylabel(f"{measure} (%)")
    shares = [x for x, _ in lines[0].points]
    all_axes[-1].set_xticks(shares, [f"{100 * share:.2g}" for share in shares])
    all_axes[-1].set_xticks([], minor=True)
    all_axes[-1].set_xlabel("share of the words without a label that is removed (%)")
    corpus, masking = column
    title = f"{corpus}, {masking:.0%} of labels hidden: words of hidden entities among the removed"
    entitle(all_axes[0], title, table)
    return figure


def _grids(cell: Cell) -> list[list[dict[str, float]]]:
    """What each seed measured at every share of the grid."""
    removed = [row["removed"] for row in cell.rows if row.get("removed")]
    return [one["measured"]["grid"] for one in removed if one.get("measured")]


def _points(cell: Cell, measure: str) -> list[tuple[float, Mean]]:
    return [
        (at[0]["ell"], Mean.of([one[measure] for one in at]).in_percent)
        for at in zip(*_grids(cell), strict=True)
    ]
