"""Lines over an axis that leaves out where none is: what collapses must not flatten the rest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lacuner.evaluation.plots import GREY
from lacuner.experiments.line_panels import Line, draw_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EMPTY, _LEAST = 0.4, 25.0  # of the range, and points, without a value: more is left out
_LOWER = 0.22  # of the height is for what lies below
_MARGIN = 0.07


def draw_over_a_break(
    figure: Figure,
    lines: Sequence[Line],
    form: str,
    *,
    height: float,
    level: tuple[str, float] | None = None,
) -> tuple[Axes, Axes]:
    """Draws lines, in two parts if there is a wide gap between their values.

    Args:
        figure: An empty one.
        lines: What to draw.
        form: How the last value of a line is written.
        height: Of the axes, in inches.
        level: Name and value of a level line.

    Returns:
        The upper axes and the lower ones; one and the same where nothing is left out.
    """
    values = [y.value for line in lines for _, y in line.points]
    values += [] if level is None else [level[1]]
    gap = widest_gap(values)
    if gap is None:
        axes = figure.add_subplot()
        draw_lines(axes, lines, form, height=height, level=level)
        axes.set_ylim(bottom=max(0, axes.get_ylim()[0]))
        return axes, axes
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[1 - _LOWER, _LOWER])
    above = _room(gap[1], max(values))
    below = (0.0, _room(0.0, gap[0])[1])
    draw_lines(top, lines, form, height=height * (1 - _LOWER), level=level, between=above)
    draw_lines(bottom, lines, form, height=height * _LOWER, between=below)
    bottom.locator_params(axis="y", nbins=3)
    top.spines["bottom"].set_visible(False)
    top.tick_params(axis="x", length=0)
    _mark_break(top, 0.0)
    _mark_break(bottom, 1.0)
    return top, bottom


def widest_gap(values: Sequence[float]) -> tuple[float, float] | None:
    """The values around the widest part without any, if that is wide; the lower ones are few.

    Example:
        >>> widest_gap([2.0, 9.0, 60.0, 80.0, 77.0])
        (9.0, 60.0)
    """
    ordered = sorted(values)
    if len(ordered) < 2:
        return None
    low, high = max(pairwise(ordered), key=lambda pair: pair[1] - pair[0])
    few = ordered.index(low) < len(ordered) / 2
    wide = high - low > max(_LEAST, _EMPTY * (ordered[-1] - ordered[0]))
    return (low, high) if wide and few else None


def _room(low: float, high: float) -> tuple[float, float]:
    margin = _MARGIN * max(high - low, 1.0)
    return low - margin, high + margin


def _mark_break(axes: Axes, height: float) -> None:
    mark: dict[str, Any] = {"marker": [(-1, -0.5), (1, 0.5)], "markersize": 9, "linestyle": "none"}
    axes.plot([0], [height], transform=axes.transAxes, color=GREY, clip_on=False, **mark)
