"""Labels that were held back tell how many are missing: against simulated truth."""

from __future__ import annotations

import numpy as np
import pytest

from lacuner.refilling.gap_estimate import GapEstimate, estimate_gaps


def _corpus(
    missing: int, held: int, others: int, offset: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Margins of spans whose log-odds of being an entity are margin + offset, as the model has it.

    Spans are drawn until there are enough of each kind.
    """
    rng = np.random.default_rng(seed)
    margins = rng.normal(-offset, 4, 40 * (missing + held + others))
    is_entity = rng.random(len(margins)) < 1 / (1 + np.exp(-(margins + offset)))
    entities = margins[is_entity][: missing + held]
    none = margins[~is_entity][: missing + held]  # as many: that is what the odds say
    is_held = np.zeros(len(entities) + len(none), dtype=bool)
    is_held[rng.permutation(len(entities))[:held]] = True
    return np.concatenate([entities, none]), is_held, is_entity


@pytest.mark.parametrize("offset", [-2.0, 3.0])
@pytest.mark.parametrize(("missing", "held"), [(4000, 100), (1000, 300), (100, 300), (0, 200)])
def test_estimate_is_near_the_truth(missing: int, held: int, offset: float) -> None:
    found, inside = [], 0
    for seed in range(5):
        margins, is_held, _ = _corpus(missing, held, 0, offset, seed)
        estimate = estimate_gaps(margins, is_held, held, np.random.default_rng(seed))
        assert estimate.missing is not None
        assert estimate.low is not None and estimate.high is not None
        found.append(estimate.missing)
        inside += estimate.low - 1 <= missing <= estimate.high + 1
        assert estimate.offset == pytest.approx(offset, abs=1.5)
    assert np.mean(found) == pytest.approx(missing, rel=0.12, abs=0.12 * held)
    assert inside >= 4


def test_probabilities_are_those_of_the_shifted_margins() -> None:
    estimate = GapEstimate(2.0, 10.0, 5.0, 15.0, 20)
    assert estimate.probabilities(np.array([-2.0, 98.0, -102.0])) == pytest.approx([0.5, 1.0, 0.0])


def test_labels_that_never_come_back_count_as_missed_and_not_as_found() -> None:
    margins, is_held, _ = _corpus(1000, 200, 0, 1.0, 0)
    seen = margins > -2  # the model cannot reach the others, whether they were held back or not
    all_held = int(is_held.sum())
    whole = estimate_gaps(margins, is_held, all_held, np.random.default_rng(0))
    part = estimate_gaps(margins[seen], is_held[seen], all_held, np.random.default_rng(0))
    assert whole.missing is not None and part.missing is not None
    assert part.missing == pytest.approx(whole.missing, rel=0.15)


def test_labels_that_no_model_finds_move_little() -> None:
    margins, is_held, _ = _corpus(600, 40, 0, 0.0, 0)
    strays = np.full(2, -13.0)
    whole = estimate_gaps(margins, is_held, 42, np.random.default_rng(0))
    noisy = estimate_gaps(
        np.concatenate([margins, strays, np.linspace(-14, -4, 600)]),
        np.concatenate([is_held, np.ones(2, dtype=bool), np.zeros(600, dtype=bool)]),
        42,
        np.random.default_rng(0),
    )
    assert noisy.offset == pytest.approx(whole.offset, abs=1)
    assert noisy.missing == pytest.approx(whole.missing, rel=0.2)


def test_nothing_found_and_nothing_held_are_no_error() -> None:
    nothing = estimate_gaps(np.zeros(0), np.zeros(0, dtype=bool), 12, np.random.default_rng(0))
    assert nothing.missing is not None and np.isfinite(nothing.missing)
    unknown = GapEstimate.unknown(3)
    assert unknown.missing is None and unknown.offset == 0.0


def test_names_that_are_held_back_as_one_make_the_interval_wider() -> None:
    """It holds the truth where each name stands ten times; one that draws mentions does not."""
    inside = {"mentions": 0, "names": 0}
    for seed in range(12):
        margins, is_held, _ = _corpus(400, 40, 0, 0.0, seed)
        margins, is_held = np.repeat(margins, 10), np.repeat(is_held, 10)
        numbers = np.repeat(np.arange(len(margins) // 10), 10)
        for kind, names in (("mentions", None), ("names", numbers)):
            rng = np.random.default_rng(seed)
            found = estimate_gaps(margins, is_held, 400, rng, names=names)
            assert found.low is not None and found.high is not None
            inside[kind] += found.low <= 4000 <= found.high
    assert inside["names"] >= 10 and inside["mentions"] < inside["names"]


def test_several_looks_at_one_corpus_count_as_one() -> None:
    margins, is_held, _ = _corpus(1000, 200, 0, 1.0, 0)
    held = 200
    once = estimate_gaps(margins, is_held, held, np.random.default_rng(0))
    twice = estimate_gaps(
        np.tile(margins, 2), np.tile(is_held, 2), 2 * held, np.random.default_rng(0), looks=2
    )
    assert twice.held_back == 2 * once.held_back
    assert twice.offset == once.offset
    for name in ("missing", "low", "high"):
        assert getattr(twice, name) == pytest.approx(getattr(once, name))
