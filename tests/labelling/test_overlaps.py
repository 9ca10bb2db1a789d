"""Choosing among overlapping finds, against the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lacuner.labelling.overlaps import resolve

Find = tuple[int, int, int]


def _resolve(finds: list[Find], overlap: str) -> list[Find]:
    finds = sorted(finds, key=lambda f: (f[0], -f[1]))
    start, end, priority = (
        np.array([find[column] for find in finds], np.int32) for column in range(3)
    )
    return [finds[place] for place in resolve(start, end, priority, overlap)]


def _one_by_one(finds: list[Find], overlap: str) -> list[Find]:
    def rank(find: Find) -> tuple[int, int, int]:
        start, end, priority = find
        first = start if overlap == "leftmost" else start - end
        return (-priority, first, -end if overlap == "leftmost" else start)

    kept: list[Find] = []
    for find in sorted(finds, key=rank):
        if all(find[1] <= other[0] or other[1] <= find[0] for other in kept):
            kept.append(find)
    return sorted(kept)


finds = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 5), st.integers(0, 1)),
    max_size=14,
    unique_by=lambda f: f[:2],
).map(lambda rows: [(start, start + length, priority) for start, length, priority in rows])


@given(finds, st.sampled_from(["leftmost", "longest"]))
def test_resolve_keeps_what_the_definition_keeps(finds: list[Find], overlap: str) -> None:
    assert _resolve(finds, overlap) == _one_by_one(finds, overlap)


def test_leftmost_and_longest_differ_where_a_longer_name_begins_later() -> None:
    finds = [(0, 2, 0), (1, 4, 0)]
    assert _resolve(finds, "leftmost") == [(0, 2, 0)]
    assert _resolve(finds, "longest") == [(1, 4, 0)]


def test_higher_priority_wins_over_length_and_place() -> None:
    assert _resolve([(0, 5, 0), (2, 3, 1)], "leftmost") == [(2, 3, 1)]


def test_all_keeps_everything() -> None:
    assert _resolve([(0, 3, 0), (1, 2, 0)], "all") == [(0, 3, 0), (1, 2, 0)]


def test_long_run_of_overlaps_is_resolved_quickly() -> None:
    finds = [(place, place + 2, 0) for place in range(20_000)]
    assert _resolve(finds, "leftmost") == finds[::2]
