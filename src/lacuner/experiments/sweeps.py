"""Figures of how much a setting matters: F1 over its values, all else being equal.

Nobody has to say which study is such a sweep. Wherever cells of a recipe differ in one number and
in nothing else, that number has a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lacuner.evaluation.plots import new_figure
from lacuner.experiments.line_panels import WIDTH, Line, draw_lines, entitle
from lacuner.experiments.tables import Cell, Mean, StudyTable
from lacuner.settings import flattened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL = 2.7  # inches
_LEAST = 3  # values, without which there is no curve
_MEANINGS = {
    "loss.w": "w (epochs in which the share of cross-entropy falls to 1/e)",
    "loss.q": "q (0: cross-entropy, 1: mean absolute error)",
    "removal.threshold": "τ (labels that the model finds no more probable are removed)",
    "exploration.n": "n (epochs of the exploration)",
    "exploration.ell": "l (share of the words without a label that is removed)",
}
_NOT_SWEPT = "training.seed"

Value = tuple[float, Cell]
Rest = tuple[tuple[str, str], ...]  # all other settings


def sweep_figures(table: StudyTable, corpus: str) -> dict[str, Figure]:
    """A figure for every setting that a study varies on a corpus: a line a masking rate."""
    figures = {}
    for (recipe, setting), by_masking in _varied(table, corpus).items():
        lines = {
            f"p = {masking:g}" if masking else recipe: sorted(values, key=lambda value: value[0])
            for masking, groups in sorted(by_masking.items())
            # Where other settings vary, too, the most values that share all others are the sweep.
            if len(values := max(groups.values(), key=len)) >= _LEAST
        }
        if lines:
            name = f"{recipe}-by-{setting.split('.')[-1]}"
            figures[name] = _figure(table, f"{corpus}: {recipe}, by {setting}", setting, lines)
    return figures


def _varied(
    table: StudyTable, corpus: str
) -> dict[tuple[str, str], dict[float, dict[Rest, list[Value]]]]:
    """For every recipe and setting, by masking rate, the cells that share all other settings."""
    found: dict[tuple[str, str], dict[float, dict[Rest, list[Value]]]] = {}
    for (_, (where, masking)), cell in table.cells.items():
        if where != corpus:
            continue
        row = cell.rows[0]
        settings = flattened(row.get("settings", {}))
        settings.pop(_NOT_SWEPT, None)
        for setting, value in settings.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            rest = tuple(sorted((k, str(v)) for k, v in settings.items() if k != setting))
            groups = found.setdefault((row["recipe"], setting), {}).setdefault(masking, {})
            groups.setdefault(rest, []).append((float(value), cell))
    return found


def _figure(
    table: StudyTable, title: str, setting: str, by_name: Mapping[str, list[Value]]
) -> Figure:
    """Panels: F1 on dev, by which a setting is chosen, on test, and there without the offset."""
    cells = [cell for values in by_name.values() for _, cell in values]
    panels: dict[str, Callable[[Cell], Mean]] = {"F1 on test (%)": lambda cell: cell.f1}
    if all(cell.dev is not None for cell in cells):
        panels = {"F1 on dev (%)": lambda cell: cell.dev or cell.f1, **panels}
    if any(cell.unshifted is not None for cell in cells):
        panels["without the offset (%)"] = lambda cell: cell.unshifted or cell.f1
    figure = new_figure(0.9 + _PANEL * len(panels), WIDTH)
    all_axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (unit, measure) in zip(all_axes, panels.items(), strict=True):
        lines = [
            Line(name, [(value, measure(cell).in_percent) for value, cell in values], number)
            for number, (name, values) in enumerate(by_name.items())
        ]
        ticks = sorted({x for line in lines for x, _ in line.points})
        if _is_geometric(ticks):
            axes.set_xscale("log")
        draw_lines(axes, lines, "{:.1f}", height=_PANEL - 0.3)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_ylabel(unit)
    entitle(all_axes[0], title, table)
    all_axes[-1].set_xlabel(_MEANINGS.get(setting, setting))
    return figure


def _is_geometric(values: Sequence[float]) -> bool:
    """Are increasing values more evenly spread by their ratios than by their differences?"""
    if values[0] <= 0:
        return False
    steps, ratios = np.diff(values), np.diff(np.log(values))
    return bool(ratios.std() / ratios.mean() < steps.std() / steps.mean() - 1e-9)
