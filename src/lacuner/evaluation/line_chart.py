"""A small line chart as SVG text, for pages: no library, and colours from the page's style.

Lines carry the classes `line-1`, `line-2` …, so that a style sheet colours them for light and dark;
they differ in dashes too, and each has its name beside its end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from lacuner.evaluation.curves import Point
from lacuner.evaluation.label_places import spread

_WIDTH, _HEIGHT = 480, 270
_TOP, _BOTTOM, _LEFT = 34, 40, 40
_LETTER = 8.6  # pixels, the width of a broad one in the largest size of the style sheet
_LINE = 16  # pixels between the names of two lines
_LONGEST_NAME = 18


@dataclass(frozen=True, slots=True)
class Line:
    """A named line of a chart. `number` chooses its colour and dashes, from 1."""

    name: str
    points: Sequence[Point]
    number: int


def line_chart(
    lines: Sequence[Line], *, title: str, x_title: str, y_title: str, markers: bool = False
) -> str:
    """Draws lines over a common axis; both axes begin at 0.

    Args:
        lines: What to draw; lines without points are left out.
        title: What the chart shows, for those who cannot see it.
        x_title: What is counted along the bottom, with its unit.
        y_title: What is measured, with its unit.
        markers: Put a dot on every point.

    Returns:
        An `<svg>` element, or an empty string when there is nothing to draw.
    """
    lines = [line for line in lines if line.points]
    if not lines:
        return ""
    x_ticks = ticks(max(x for line in lines for x, _ in line.points))
    y_ticks = ticks(max(y for line in lines for _, y in line.points))
    names = [_shortened(line.name) for line in lines]
    right = _WIDTH - 12 - _LETTER * max(map(len, names))
    bottom = _HEIGHT - _BOTTOM

    def place(point: Point) -> Point:
        x = _LEFT + (right - _LEFT) * point[0] / x_ticks[-1]
        return x, bottom - (bottom - _TOP) * max(point[1], 0) / y_ticks[-1]

    parts = [
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>'
    ]
    for tick in y_ticks:
        _, y = place((0, tick))
        parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{right:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" class="end">{_number(tick)}</text>')
    for tick in x_ticks:
        x, _ = place((tick, 0))
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" class="middle">{_number(tick)}</text>')
    middle = (_LEFT + right) / 2
    parts.append(
        f'<text x="{middle:.1f}" y="{_HEIGHT - 6}" class="middle title">{escape(x_title)}</text>'
        f'<text x="0" y="14" class="title">{escape(y_title)}</text>'
    )
    ends = [place(line.points[-1]) for line in lines]
    heights = spread([y for _, y in ends], _LINE)
    for line, name, height in zip(lines, names, heights, strict=True):
        places = [place(point) for point in line.points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        parts.append(f'<g class="line-{line.number}"><path class="line" d="M{path}"/>')
        if markers or len(places) == 1:
            parts += [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3">'
                f"<title>{escape(line.name)}: {_exact(point)}</title></circle>"
                for (x, y), point in zip(places, line.points, strict=True)
            ]
        parts.append(f'<text x="{right + 8:.1f}" y="{height + 4:.1f}">{escape(name)}</text></g>')
    return "".join([*parts, "</svg>"])


def ticks(highest: float, count: int = 4) -> list[float]:
    """Round numbers from 0 to at least `highest`, about `count` steps apart.

    Example:
        >>> ticks(870)
        [0.0, 250.0, 500.0, 750.0, 1000.0]
    """
    if not highest > 0:
        return [0, 1]
    rough = highest / count
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= rough * 0.999)
    return [round(step * number, 10) for number in range(math.ceil(highest / step * 0.999) + 1)]


def _number(value: float) -> str:
    return f"{value:,.10g}"


def _exact(point: Point) -> str:
    return f"{point[1]:.3f} at {point[0]:,.0f}"


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
