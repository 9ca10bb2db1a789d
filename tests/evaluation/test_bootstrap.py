"""The paired bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lacuner import Corpus
from lacuner.corpus.alignment import NotAligned, aligned
from lacuner.errors import UsageError
from lacuner.evaluation.bootstrap import compare_systems, paired_bootstrap, sentence_counts
from lacuner.evaluation.scores import Score, score_entities
from lacuner.labelling.masking import mask


def _rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def _counts(rng: np.random.Generator, size: int, skill: float) -> NDArray[np.int64]:
    gold = rng.integers(0, 4, size)
    found = rng.binomial(gold, 0.9)
    return np.stack([rng.binomial(found, skill), found, gold], axis=1)


def _by_loops(
    first: NDArray[np.int64], second: NDArray[np.int64], resamples: int
) -> NDArray[np.float64]:
    """Differences of F1, sentence by sentence, as a textbook would draw them."""
    rng, size = _rng(1), len(first)
    differences = []
    for _ in range(resamples):
        drawn = rng.integers(0, size, size)
        one, two = (Score(*map(int, counts[drawn].sum(axis=0))) for counts in (first, second))
        differences.append(one.f1 - two.f1)
    return np.array(differences)


def test_sentence_counts_add_up_to_the_scores(small_corpus: Corpus) -> None:
    masked = mask(small_corpus, 0.5, _rng()).corpus
    pairs = aligned(masked, small_corpus)
    total = Score(*map(int, sentence_counts(pairs).sum(axis=0)))
    assert total == score_entities(pairs).total
    assert sentence_counts([]).shape == (0, 3)


def test_bootstrap_draws_from_the_same_distribution_as_plain_loops() -> None:
    first, second = _counts(_rng(3), 150, 0.8), _counts(_rng(3), 150, 0.7)
    found = paired_bootstrap(first, second, _rng(), resamples=20_000)
    plain = _by_loops(first, second, 4_000)
    spread = plain.std()
    low, high = np.quantile(plain, [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.15 * spread)
    assert found.high == pytest.approx(high, abs=0.15 * spread)
    as_far = (np.abs(plain - found.value) >= abs(found.value)).mean()
    assert found.p_value == pytest.approx(as_far, abs=0.03)


def test_bootstrap_of_equal_systems_finds_no_difference() -> None:
    counts = _counts(_rng(5), 100, 0.8)
    found = paired_bootstrap(counts, counts, _rng())
    assert (found.value, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_bootstrap_sees_a_large_difference_and_its_direction() -> None:
    good, poor = _counts(_rng(5), 300, 0.95), _counts(_rng(5), 300, 0.5)
    better, worse = paired_bootstrap(good, poor, _rng()), paired_bootstrap(poor, good, _rng())
    assert better.low > 0.2 and better.p_value < 0.001
    assert worse.high < -0.2 and worse.p_value < 0.001
    assert better.low <= better.value <= better.high


def test_bootstrap_rarely_cries_wolf() -> None:
    """Two systems of one skill differ at 5 % in about one case of twenty."""
    rng = _rng(7)
    alarms = 0
    for _ in range(200):
        gold = rng.integers(0, 4, 120)
        one, two = (np.stack([rng.binomial(gold, 0.8), gold, gold], axis=1) for _ in range(2))
        alarms += paired_bootstrap(one, two, rng, resamples=400).p_value < 0.05
    assert 1 <= alarms <= 24


def test_bootstrap_is_decided_by_its_seed() -> None:
    first, second = _counts(_rng(1), 80, 0.8), _counts(_rng(2), 80, 0.8)
    again = [paired_bootstrap(first, second, _rng(seed), resamples=500) for seed in (4, 4, 5)]
    assert again[0] == again[1] != again[2]


def test_bootstrap_of_nothing_is_zero() -> None:
    nothing = sentence_counts([])
    assert paired_bootstrap(nothing, nothing, _rng(), resamples=10).p_value == 1


@pytest.mark.parametrize("options", [{"resamples": 0}, {"confidence": 1.0}, {"confidence": 0.0}])
def test_bootstrap_refuses_options_that_say_nothing(options: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="say nothing"):
        paired_bootstrap(sentence_counts([]), sentence_counts([]), _rng(), **options)  # type: ignore[arg-type]


def test_compare_systems_pairs_sentences_whatever_their_order(small_corpus: Corpus) -> None:
    masked = mask(small_corpus, 0.5, _rng()).corpus
    backwards = Corpus(masked.sentences[::-1])
    found = compare_systems(masked, backwards, small_corpus, _rng(), resamples=50)
    assert found.low == found.high == 0
    assert found.first == score_entities(aligned(masked, small_corpus)).total.f1


def test_compare_systems_refuses_other_sentences(small_corpus: Corpus) -> None:
    front, back = Corpus(small_corpus.sentences[:9]), Corpus(small_corpus.sentences[9:])
    with pytest.raises(NotAligned, match="do not label the same sentences"):
        compare_systems(front, back, small_corpus, _rng())
