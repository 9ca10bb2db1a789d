"""Windows cover everything, overlap enough, and give each place its best one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lacuner.encoders.windows import even_size, most_central, window_starts


@st.composite
def _plans(draw: st.DrawFn) -> tuple[int, int, int]:
    size = draw(st.integers(1, 30))
    return draw(st.integers(1, 200)), size, draw(st.integers(0, size - 1))


@given(plan=_plans())
def test_windows_cover_every_place_and_overlap(plan: tuple[int, int, int]) -> None:
    length, size, overlap = plan
    starts = window_starts(length, size, overlap).tolist()
    assert starts[0] == 0
    assert starts[-1] == max(length - size, 0)
    assert all(b - a <= size - overlap and b > a for a, b in pairwise(starts))


@given(plan=_plans())
def test_even_windows_are_as_many_and_waste_less_than_a_place_each(
    plan: tuple[int, int, int],
) -> None:
    length, size, overlap = plan
    count = len(window_starts(length, size, overlap))
    even = even_size(length, size, overlap)
    assert even <= size
    assert len(window_starts(length, even, overlap)) == count
    if count > 1:
        assert even > overlap
    assert count * even < length + (count - 1) * overlap + count


@given(plan=_plans(), data=st.data())
def test_most_central_window_is_the_best_of_all(
    plan: tuple[int, int, int], data: st.DataObject
) -> None:
    length, size, overlap = plan
    starts = window_starts(length, size, overlap)
    begin = data.draw(st.integers(0, length - 1))
    end = data.draw(st.integers(begin + 1, length))
    chosen = most_central(np.array([begin]), np.array([end]), starts, size)[0]
    off_centre = np.abs((begin + end) - (2 * starts + size))
    assert off_centre[chosen] == off_centre.min()
    if end - begin == 1:
        assert starts[chosen] <= begin < starts[chosen] + size
