"""Which words are removed, and how many when nobody says how many."""

from __future__ import annotations

import numpy as np
import pytest

from lacuner.objectives.removal_share import ENOUGH, GRID, MOST, chosen_share, smallest


def _floats(values: list[float]) -> np.ndarray:
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize(
    ("share", "right"),
    [
        (0.0, []),
        (0.01, [3]),  # the ceiling of 0.05 is 1
        (0.4, [1, 3]),
        (0.41, [1, 3, 0]),  # of equal ones the first
        (1.0, [0, 1, 2, 3, 4]),
    ],
)
def test_smallest_are_the_ceiling_of_a_share(share: float, right: list[int]) -> None:
    chosen = smallest(_floats([2.0, 1.0, 2.0, -1.0, 5.0]), share)
    assert np.flatnonzero(chosen).tolist() == sorted(right)


def test_smallest_is_not_misled_by_rounding() -> None:
    assert smallest(np.arange(30, dtype=np.float32), 0.1).sum() == 3  # 0.1 · 30 > 3 as a float
    assert not smallest(_floats([]), 0.1).any()


def test_grid_is_that_of_the_paper() -> None:
    assert pytest.approx((0.003125, 0.00625, 0.0125, 0.025, 0.05, 0.1, 0.15)) == GRID


def test_chosen_share_of_separate_groups_is_the_share_that_is_missing() -> None:
    rng = np.random.default_rng(0)
    entities = rng.normal(-3, 1, 800)
    outside = rng.normal(4, 1, 9200)
    values = np.concatenate([entities, outside]).astype(np.float32)
    found = chosen_share(values, rng.normal(-3, 1, 300).astype(np.float32))
    assert found is not None
    assert found.share == pytest.approx(0.08, abs=0.01)
    assert found.missing == pytest.approx(0.08, abs=0.015)
    assert found.precision > 0.85  # it is 1; the least of many ratios is a little too small
    assert found.recall > 0.9


def test_expectations_of_mixed_groups_are_about_right() -> None:
    rng = np.random.default_rng(1)
    entities = rng.normal(0, 1, 2000)
    values = np.concatenate([entities, rng.normal(2, 1, 18000)]).astype(np.float32)
    found = chosen_share(values, rng.normal(0, 1, 500).astype(np.float32))
    assert found is not None
    removed = smallest(values, found.share)
    recall, precision = removed[:2000].mean(), removed[:2000].sum() / removed.sum()
    assert found.recall == pytest.approx(recall, abs=0.08)
    assert found.precision == pytest.approx(precision, abs=0.25)
    # No share would have been much better.
    every = [smallest(values, share) for share in np.linspace(0.01, 0.5, 50)]
    best = max(2 * r[:2000].sum() / (r.sum() + 2000) for r in every)
    assert 2 * removed[:2000].sum() / (removed.sum() + 2000) > 0.9 * best


def test_chosen_share_stays_within_bounds() -> None:
    rng = np.random.default_rng(2)
    same = rng.normal(0, 1, 500).astype(np.float32)
    nothing_told = chosen_share(same, same[:100])  # held back words look like all others
    assert nothing_told is not None and nothing_told.share == MOST
    apart = chosen_share(np.ones(100_000, dtype=np.float32), np.zeros(50, dtype=np.float32))
    assert apart is not None and apart.share == pytest.approx(GRID[0])  # nothing is missing


@pytest.mark.parametrize("count", [0, ENOUGH - 1])
def test_too_few_held_back_words_choose_nothing(count: int) -> None:
    assert chosen_share(np.ones(100, dtype=np.float32), np.zeros(count, dtype=np.float32)) is None
    assert chosen_share(_floats([]), np.zeros(99, dtype=np.float32)) is None
