"""An axis is broken where one line collapses, and only there."""

from __future__ import annotations

import pytest

from lacuner.evaluation.plots import new_figure
from lacuner.experiments.broken_axis import draw_over_a_break, widest_gap
from lacuner.experiments.line_panels import Line
from lacuner.experiments.tables import Mean

pytest.importorskip("matplotlib")


def _line(name: str, *values: float) -> Line:
    return Line(name, [(float(x), Mean(y, None, 1)) for x, y in enumerate(values)], 0)


def test_two_parts_name_the_lines_that_end_in_them() -> None:
    lines = [_line("good", 80, 70), _line("fair", 78, 66), _line("lost", 60, 2)]
    top, bottom = draw_over_a_break(new_figure(4), lines, "{:.0f}", height=3, level=("all", 85.0))
    assert top is not bottom
    assert {text.get_text() for text in top.texts} == {"good: 70", "fair: 66", "all: 85"}
    assert {text.get_text() for text in bottom.texts} == {"lost: 2"}
    assert bottom.get_ylim()[0] == 0 and bottom.get_ylim()[1] < 60 < top.get_ylim()[1]


def test_the_lower_part_has_room_above_its_highest_value() -> None:
    lines = [_line("good", 90, 88), _line("lost", 82, 44)]
    _, bottom = draw_over_a_break(new_figure(4), lines, "{:.0f}", height=3)
    assert bottom.get_ylim()[1] > 46


def test_one_part_where_lines_are_near_each_other() -> None:
    lines = [_line("good", 80, 70), _line("fair", 60, 50)]
    top, bottom = draw_over_a_break(new_figure(4), lines, "{:.0f}", height=3)
    assert top is bottom


@pytest.mark.parametrize(
    "values", [[], [5.0], [1.0, 2.0, 9.0], [80.0, 60.0], [2.0, 3.0, 4.0, 80.0]]
)
def test_no_gap_in_few_values_narrow_ranges_or_where_most_are_low(values: list[float]) -> None:
    assert widest_gap(values) is None
