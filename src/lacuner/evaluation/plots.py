"""Figures for papers and pages: scores by label, learning curves; SVG or PNG.

Needs matplotlib, the extra `plots`. Figures are plain objects: nothing is shown and no global state
is touched. Colours are those of Okabe and Ito, which colour-blind people can tell apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from lacuner.corpus.findings import Findings
from lacuner.errors import MissingExtra, UsageError
from lacuner.evaluation.curves import Curve, Point, thinned
from lacuner.evaluation.label_places import spread
from lacuner.evaluation.scores import Average, Score, Scores
from lacuner.files import written_aside

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".png")
BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, ORANGE, SKY, BLACK = "#CC79A7", "#E69F00", "#56B4E9", "#000000"
LINES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
DASHES = ("-", "--", "-.", ":")
GREY = "#595959"
WIDTH = 6.4  # inches
_STEEP = 50  # a loss that falls to less than this part of its beginning is drawn by powers of ten


def label_figure(scores: Scores, *, title: str = "Exact scores by label") -> Figure:
    """Precision, recall and F1 of every label, of all entities, and the mean of the labels."""
    groups: list[tuple[str, str, Score | Average]] = [
        (label, _entities(score), score) for label, score in scores.by_label.items()
    ]
    groups.append(("all", _entities(scores.total), scores.total))
    if len(scores.by_label) > 1:
        groups.append(("mean", "of labels", scores.macro))
    figure = new_figure(0.8 + 0.68 * len(groups))
    axes = figure.add_subplot()
    places, names = [], []
    for number, (name, detail, score) in enumerate(groups):
        values = (score.precision, score.recall, score.f1)
        for row, (measure, value, colour) in enumerate(
            zip(("precision", "recall", "F1"), values, (SKY, ORANGE, BLUE), strict=True)
        ):
            place = 4 * number + row
            places.append(place)
            names.append(measure)
            axes.barh(place, value, height=0.86, color=colour)
            text = axes.text(value + 0.008, place, f"{value:.3f}", va="center", fontsize=8)
            text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.4})
        axes.text(-0.17, 4 * number + 0.6, name, ha="right", va="center", weight="bold")
        axes.text(
            -0.17, 4 * number + 1.7, detail, ha="right", va="center", fontsize=7.5, color=GREY
        )
    axes.set_yticks(places, names, fontsize=8, color=GREY)
    axes.set_ylim(4 * len(groups) - 1.2, -0.8)
    axes.set_xlim(0, 1.08)
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_xlabel("score (0 to 1)")
    axes.set_title(title, loc="left", weight="bold", fontsize=11)
    quieten(axes, grid="x")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return figure


def curve_figure(curves: Mapping[str, Curve], *, title: str = "Learning curves") -> Figure:
    """Training loss above, dev F1 below, over the steps of training; one line a run.

    Args:
        curves: The curve of each run, by its name.
        title: What stands above.
    """
    figure = new_figure(5.2)
    upper, lower = figure.subplots(2, 1, sharex=True)
    lines = [(name, thinned(curve.loss, most=80), curve.f1) for name, curve in curves.items()]
    upper.set_ylabel("training loss")
    heights = [loss for _, points, _ in lines for _, loss in points]
    # A sum over many spans begins a hundred times higher than it ends.
    steep = bool(heights) and 0 < _STEEP * min(heights) < max(heights)
    upper.set_yscale("log" if steep else "linear")
    _draw_lines(
        upper, {n: loss for n, loss, _ in lines}, bottom=None if steep else 0, measured=False
    )
    _draw_lines(lower, {name: list(f1) for name, _, f1 in lines}, bottom=None, measured=True)
    lower.set_ylabel("F1 on dev (0 to 1)")
    lower.set_xlabel("training steps")
    lower.set_xlim(left=0)
    upper.set_title(title, loc="left", weight="bold", fontsize=11)
    return figure


def check_plot(path: Path) -> None:
    """Refuses a figure that could not be written, before the work that it would show.

    Raises:
        UsageError: The name ends with neither `.svg` nor `.png`, or matplotlib is missing.
    """
    new_figure(1)
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"{path}: a figure is written as {' or '.join(ENDINGS)}.")


def save(
    figure: Figure, path: Path, *, overwrite: bool = False, findings: Findings | None = None
) -> None:
    """Writes a figure as SVG or PNG, by the ending of the name; the same one gives the same file.

    Args:
        figure: What to write.
        path: Where to.
        overwrite: Replace a file that is there.
        findings: Told of characters that no font here has.

    Raises:
        UsageError: The ending is another.
        OutputExists: The file is there and `overwrite` is false.
    """
    import matplotlib

    check_plot(path)
    form = path.suffix.lower().lstrip(".")
    with ExitStack() as stack:
        aside = stack.enter_context(written_aside(path, overwrite=overwrite))
        stack.enter_context(
            matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "lacuner"})
        )
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.filterwarnings("always", message="Glyph .* missing")
        # Text of an SVG stays text, which its reader shows in fonts of their own.
        metadata = {"Date": None} if form == "svg" else {"Software": None}
        figure.savefig(aside, format=form, dpi=160, facecolor="white", metadata=metadata)
    if findings is not None and form == "png" and caught:
        findings.remark(f"{path}: no font here has some of the characters; an SVG keeps them")


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure, in inches.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("Drawing figures", "plots") from None
    return Figure(figsize=(width, height), layout="constrained")


def _draw_lines(
    axes: Axes, lines: Mapping[str, list[Point]], *, bottom: float | None, measured: bool
) -> None:
    """Lines with their names at the end; those of measurements have dots and say their best."""
    ends: list[tuple[float, float, str, str]] = []
    for number, (name, points) in enumerate(lines.items()):
        if not points:
            continue
        colour = LINES[number % len(LINES)]
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=colour,
            linestyle=DASHES[number % len(DASHES)],
            marker="o" if measured else None,
            markersize=3.5,
            linewidth=1.8,
        )
        last = points[-1]
        best = max(y for _, y in points)
        ends.append((*last, f"{name}, best {best:.3f}" if measured else name, colour))
    quieten(axes, grid="y")
    axes.margins(x=0.02)
    axes.set_ylim(bottom=bottom)
    on_page = axes.transData + axes.transAxes.inverted()  # also right where the axis is logarithmic
    heights = spread([float(on_page.transform((x, y))[1]) for x, y, _, _ in ends], 0.075)
    for (x, y, text, colour), height in zip(ends, heights, strict=True):
        axes.annotate(
            text,
            (x, y),
            xytext=(1.015, height),
            textcoords="axes fraction",
            color=colour if colour != ORANGE else "#8F6300",
            fontsize=8.5,
            va="center",
            annotation_clip=False,
        )


def quieten(axes: Axes, *, grid: str) -> None:
    """Removes what carries no information."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="x" if grid == "x" else "y", color="#DDDDDD", linewidth=0.7)
    axes.set_axisbelow(True)


def _entities(score: Score) -> str:
    return f"{score.gold:,} true"
