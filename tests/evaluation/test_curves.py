"""Learning curves, and the small chart that shows them."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacuner.evaluation.curves import Curve, thinned
from lacuner.evaluation.label_places import spread
from lacuner.evaluation.line_chart import Line, line_chart, ticks


def test_curve_takes_what_rows_have_and_drops_what_is_no_number() -> None:
    rows: list[dict[str, Any]] = [
        {"step": 1, "loss": 2},
        {"step": 2, "loss": float("nan")},
        {"step": 3, "loss": 1.0, "dev": 0.5},
        {"event": "saved"},
        {"step": 4, "dev": None},
    ]
    assert Curve.of(rows) == Curve(loss=((1, 2), (3, 1)), f1=((3, 0.5),))
    assert Curve.of([{"step": 1, "f": 0.1}], f1="f").f1 == ((1, 0.1),)


def test_thinned_keeps_the_mean() -> None:
    points = [(float(x), float(x % 7)) for x in range(700)]
    few = thinned(points, most=50)
    assert len(few) == 50
    assert sum(y for _, y in few) / 50 == pytest.approx(3)
    assert thinned(points[:50], most=50) == points[:50]


@given(st.lists(st.floats(-100, 100), max_size=8), st.floats(0.1, 20))
def test_spread_keeps_distance_and_order(places: list[float], gap: float) -> None:
    moved = spread(places, gap)
    order = sorted(range(len(places)), key=places.__getitem__)
    for below, above in pairwise(order):
        assert moved[above] - moved[below] >= gap - 1e-6
    assert sum(moved) == pytest.approx(sum(places), abs=1e-6)


def test_spread_leaves_alone_what_does_not_collide() -> None:
    assert spread([9.0, 1.0, 1.5], gap=1.0) == pytest.approx([9.0, 0.75, 1.75])


@given(st.floats(1e-6, 1e9))
def test_ticks_reach_the_highest_with_few_round_steps(highest: float) -> None:
    found = ticks(highest)
    assert found[0] == 0
    assert 3 <= len(found) <= 6
    assert found[-1] >= highest * 0.99
    assert found[-2] < highest


def test_ticks_of_nothing_are_an_axis() -> None:
    assert ticks(0) == [0, 1]


def test_line_chart_is_well_formed_and_escaped() -> None:
    lines = [
        Line("<b>&", [(0, 0.5), (10, 0.8)], 1),
        Line("empty", [], 2),
        Line("a name that is far too long to print", [(5, 0.25)], 3),
    ]
    chart = line_chart(lines, title='"F1"', x_title="steps", y_title="F1", markers=True)
    root = ElementTree.fromstring(chart)
    texts = [element.text or "" for element in root.iter("text")]
    assert "<b>&" in texts and "a name that is fa…" in texts and "empty" not in texts
    assert len(list(root.iter("circle"))) == 3
    assert [g.get("class") for g in root.iter("g")] == ["line-1", "line-3"]


def test_line_chart_draws_to_scale() -> None:
    chart = line_chart([Line("x", [(0, 0), (50, 0.5), (100, 1)], 1)], title="t", x_title="",
                       y_title="")  # fmt: skip
    path = re.search(r'class="line" d="M([^"]+)"', chart)
    assert path
    (x0, y0), (x1, y1), (x2, y2) = (
        tuple(map(float, place.split())) for place in path[1].split("L")
    )
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2) and x2 > x1
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2) and y2 < y1


def test_line_chart_of_nothing_is_nothing() -> None:
    assert line_chart([Line("x", [], 1)], title="t", x_title="", y_title="") == ""
