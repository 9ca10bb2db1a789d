"""Lines with their names at their ends, and panels of them: how figures of a study are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lacuner.evaluation.label_places import spread
from lacuner.evaluation.plots import DASHES, GREY, LINES, ORANGE, new_figure, quieten
from lacuner.experiments.tables import Mean, StudyTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.2  # inches
_READABLE_ORANGE = "#8F6300"  # as text
_PANEL = 2.7  # inches
_LABEL = 0.16  # inches between the names of two lines


@dataclass(frozen=True)
class Line:
    """A named line.

    Attributes:
        name: What stands at its end.
        points: `(x, mean over seeds)`.
        number: Chooses colour and dashes.
    """

    name: str
    points: Sequence[tuple[float, Mean]]
    number: int


def panels_figure(
    panels: Mapping[float, Sequence[Line]],
    table: StudyTable,
    title: str,
    unit: str,
    form: str,
    *,
    bottom: float | None = None,
) -> Figure | None:
    """Panels one below the other, lines by epoch; None when no line has two points.

    Args:
        panels: Lines by masking rate.
        table: What they come from.
        title: What stands above.
        unit: What is measured.
        form: How the last value of a line is written.
        bottom: Where the axis begins; None leaves it to the values.
    """
    panels = {masking: lines for masking, lines in panels.items() if longest(lines) > 1}
    if not panels:
        return None
    figure = new_figure(0.6 + _PANEL * len(panels), WIDTH)
    all_axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for number, (axes, (masking, lines)) in enumerate(zip(all_axes, panels.items(), strict=True)):
        draw_lines(axes, lines, form, height=_PANEL - 0.7, bars=False)
        if bottom is not None:
            from_bottom(axes, bottom)
        axes.set_ylabel(unit)
        name = f"{masking:.0%} of labels hidden" if masking else "nothing hidden"
        if number == 0:
            entitle(axes, title, table, room=18)
        axes.text(0.01, 1.0, name, transform=axes.transAxes, va="bottom", fontsize=9, color=GREY)
    all_axes[-1].set_xlabel("epoch")
    all_axes[-1].locator_params(axis="x", integer=True)
    return figure


def draw_lines(
    axes: Axes,
    lines: Sequence[Line],
    form: str,
    *,
    height: float,
    bars: bool = True,
    level: tuple[str, float] | None = None,
    between: tuple[float, float] | None = None,
) -> None:
    """Lines with their names and last values at the end.

    Args:
        axes: Where to.
        lines: What to draw, each with a point at least.
        form: How the last value is written, such as `{:.1f}`.
        height: Of the axes, in inches, for names that must not overlap.
        bars: Draw deviations.
        level: Name and value of a level line.
        between: Show this part of the axis, and name the lines that end there.
    """
    for line in lines:
        colour = LINES[line.number % len(LINES)]
        axes.errorbar(
            [x for x, _ in line.points],
            [y.value for _, y in line.points],
            yerr=[y.deviation or 0.0 for _, y in line.points] if bars else None,
            color=colour,
            linestyle=DASHES[line.number % len(DASHES)],
            marker="o",
            markersize=4,
            linewidth=1.7,
            elinewidth=1,
            capsize=2.5,
        )
    quieten(axes, grid="y")
    axes.margins(x=0.03)
    if between is not None:
        axes.set_ylim(between)
    elif level is not None:
        axes.set_ylim(top=max(axes.get_ylim()[1], level[1]))
    low, high = axes.get_ylim()
    gap = (high - low) * _LABEL / height
    last = max((line.points[-1][0] for line in lines), default=0.0)
    ends = []
    for line in lines:
        x, y = line.points[-1]
        where = "" if x == last else f" (at {x:g})"
        text = f"{line.name}: {form.format(y.value)}{where}"
        ends.append((y.value, text, LINES[line.number % len(LINES)]))
    if level is not None:
        axes.axhline(level[1], color=GREY, linewidth=1, linestyle=(0, (6, 3)))
        ends.append((level[1], f"{level[0]}: {form.format(level[1])}", GREY))
    ends = [end for end in ends if between is None or low <= end[0] <= high]
    places = spread([value for value, _, _ in ends], gap)
    for (_, text, colour), place in zip(ends, places, strict=True):
        axes.annotate(
            text,
            (1.015, place),
            xycoords=axes.get_yaxis_transform(),
            color=_READABLE_ORANGE if colour == ORANGE else colour,
            fontsize=8.5,
            va="center",
            annotation_clip=False,
        )


def entitle(
    axes: Axes, text: str, table: StudyTable, *, room: float = 8, whole: bool = False
) -> None:
    """Writes what a figure shows above it, and below where it comes from.

    Args:
        axes: Its first axes.
        text: What it shows.
        table: Where it comes from.
        room: Points between the title and the axes.
        whole: Begin at the left of the figure, for axes with long names beside them.
    """
    if whole:
        axes.figure.suptitle(text, x=0.01, ha="left", weight="bold", fontsize=10.5)
    else:
        axes.set_title(text, loc="left", weight="bold", fontsize=10.5, pad=room)
    axes.figure.text(
        0.995, 0.005, f"{table.study}, {table.profile}, {table.encoder}", ha="right", va="bottom",
        fontsize=7, color=GREY,
    )  # fmt: skip


def longest(lines: Sequence[Line]) -> int:
    """Points of the line that has most."""
    return max((len(line.points) for line in lines), default=0)


def from_bottom(axes: Axes, bottom: float) -> None:
    """Begins an axis there, and leaves room above for the marks of a flat line."""
    high = axes.get_ylim()[1]
    axes.set_ylim(bottom, high + 0.06 * (high - bottom))


def along_masking(axes: Axes, lines: Sequence[Line]) -> None:
    """Names the axis of masking rates, with a mark at each that was measured."""
    axes.set_xlabel("share of hidden labels")
    axes.set_xticks(sorted({x for line in lines for x, _ in line.points}))
