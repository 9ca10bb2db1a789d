"""What each stage of a training adds: F1 on dev of single models, their ensemble, self-training."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lacuner.evaluation.plots import GREY, LINES, new_figure, quieten
from lacuner.experiments.comparable_rows import Column
from lacuner.experiments.line_panels import WIDTH, entitle
from lacuner.experiments.results import Row
from lacuner.experiments.tables import Mean, StudyTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROW = 0.34  # inches
_SPREAD = 0.1  # between the dots of neighbouring models, where stages are 1 apart
_NAMES = (
    (re.compile(r"member-\d+\..*"), "single models"),
    (re.compile("ensemble"), "ensemble"),
    (re.compile(r"self_training-\d+"), "self-training"),
    (re.compile("train"), "first training"),
)


def f1_by_stage(table: StudyTable, column: Column) -> Figure | None:
    """F1 on dev that each stage reached, a dot a model, with mean and deviation.

    None where no system on that corpus has several stages that dev chose in.
    """
    groups = [
        (number, f"{system}: {name}", values)
        for number, system in enumerate(table.systems)
        if (cell := table.cells.get((system, column))) is not None
        for name, values in _values_by_stage(cell.rows).items()
    ]
    if not groups:
        return None
    figure = new_figure(1.2 + _ROW * len(groups), WIDTH)
    axes = figure.add_subplot()
    for place, (number, _, values) in enumerate(groups):
        colour, middle = LINES[number % len(LINES)], (len(values) - 1) / 2
        down = [
            place - 0.12 + _SPREAD * (which - middle) / len(values) for which in range(len(values))
        ]
        axes.scatter(values, down, s=22, color=colour, alpha=0.65, linewidths=0)
        mean = Mean.of(values)
        axes.errorbar(
            mean.value, place + 0.12, xerr=mean.deviation or 0.0, fmt="|", color=colour,
            markersize=8, markeredgewidth=2, elinewidth=1, capsize=2.5,
        )  # fmt: skip
        axes.text(
            1.015, place, _written(mean), transform=axes.get_yaxis_transform(), va="center",
            fontsize=8.5, color=GREY,
        )  # fmt: skip
    axes.set_yticks(range(len(groups)), [name for _, name, _ in groups], fontsize=8.5)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlabel("F1 on dev (%)", loc="left")
    quieten(axes, grid="x")
    corpus, masking = column
    masked = f", {masking:.0%} of labels hidden" if masking else ""
    entitle(axes, f"{corpus}{masked}: what each stage reaches on dev", table, whole=True)
    return figure


def _values_by_stage(rows: Sequence[Row]) -> dict[str, list[float]]:
    """The best F1 on dev, in percent, of every model, by the kind of its stage."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for stage, best in best_by_stage(row).items():
            name = next((name for form, name in _NAMES if form.fullmatch(stage)), stage)
            found.setdefault(name, []).append(100 * best)
    return found


def best_by_stage(row: Row) -> dict[str, float]:
    """F1 on dev of the model that each stage of a run chose; nothing where that is not known.

    Epochs are counted anew in every stage, which is how a curve is cut into them.
    """
    parts: list[list[float]] = []
    last = float("inf")
    for point in row.get("curve") or ():
        if point["epoch"] <= last:
            parts.append([])
        parts[-1].append(point["dev"])
        last = point["epoch"]
    stages = list(row.get("stages") or ())
    if len(parts) < 2 or len(parts) != len(stages):
        return {}
    return dict(zip(stages, map(max, parts), strict=True))


def _written(mean: Mean) -> str:
    deviation = "" if mean.deviation is None else f" ± {mean.deviation:.1f}"
    return f"{mean.value:.1f}{deviation}"
