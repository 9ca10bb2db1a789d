"""Is one system better than another, or was it luck? A paired bootstrap over sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacuner.corpus.alignment import NotAligned, aligned
from lacuner.corpus.sentence import Corpus
from lacuner.errors import UsageError
from lacuner.evaluation.scores import Pair

RESAMPLES = 10_000
_CHUNK = 1_000  # resamples in memory at once


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better the first system's F1 is, and how sure that is.

    Attributes:
        first: F1 of the first system.
        second: F1 of the second system.
        low: Lower end of the interval of the difference.
        high: Upper end.
        p_value: How often chance alone would make a difference as large, in either direction.
        confidence: The share of resamples within the interval.
        resamples: How many were drawn.
    """

    first: float
    second: float
    low: float
    high: float
    p_value: float
    confidence: float
    resamples: int

    @property
    def value(self) -> float:
        """F1 of the first less F1 of the second."""
        return self.first - self.second

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "first_f1": self.first,
            "second_f1": self.second,
            "difference": self.value,
            "low": self.low,
            "high": self.high,
            "p_value": self.p_value,
            "confidence": self.confidence,
            "resamples": self.resamples,
        }


def compare_systems(
    first: Corpus,
    second: Corpus,
    gold: Corpus,
    rng: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Difference:
    """The difference of two systems' exact micro F1, tested by a paired bootstrap.

    Args:
        first: Predictions of the one system.
        second: Predictions of the other, on the same sentences.
        gold: The true labels.
        rng: Draws the resamples.
        resamples: How many to draw.
        confidence: The share of resamples that the interval holds.

    Raises:
        NotAligned: The sentences are not the same.
        UsageError: No resamples, or a confidence outside 0 to 1.
    """
    ours, theirs = aligned(first, gold), aligned(second, gold)
    other = {gold_sentence.id: (sentence, gold_sentence) for sentence, gold_sentence in theirs}
    if {gold_sentence.id for _, gold_sentence in ours} != other.keys():
        raise NotAligned(
            f"The two systems do not label the same sentences of the gold: {len(ours):,} and "
            f"{len(theirs):,} of {len(gold):,}. A paired comparison needs the same."
        )
    matched = [other[gold_sentence.id] for _, gold_sentence in ours]
    return paired_bootstrap(
        sentence_counts(ours),
        sentence_counts(matched),
        rng,
        resamples=resamples,
        confidence=confidence,
    )


def sentence_counts(pairs: Iterable[Pair]) -> NDArray[np.int64]:
    """Right, found and gold entities of each sentence.  # [sentences, 3]"""
    rows = []
    for sentence, gold_sentence in pairs:
        found = {entity.key for entity in sentence.entities}
        gold = {entity.key for entity in gold_sentence.entities}
        rows.append((len(found & gold), len(found), len(gold)))
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def paired_bootstrap(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Difference:
    """Draws sentences with replacement, the same ones for both systems, and compares F1.

    The interval is that of percentiles. The p-value is the share of resamples whose difference
    strays from the observed one at least as far as that is from zero (two-sided; after
    Berg-Kirkpatrick, Burkett and Klein 2012), the observed sample counting as one of them.

    Args:
        first: Counts of the one system, see `sentence_counts`.  # [sentences, 3]
        second: Counts of the other, of the same sentences in the same order.  # [sentences, 3]
        rng: Draws the resamples.
        resamples: How many to draw.
        confidence: The share of resamples that the interval holds.

    Raises:
        UsageError: No resamples, or a confidence outside 0 to 1.
    """
    if resamples < 1 or not 0 < confidence < 1:
        raise UsageError(
            f"{resamples:,} resamples and a confidence of {confidence:g} say nothing. "
            "Right is at least one resample and a confidence between 0 and 1."
        )
    counts = np.hstack([first, second])  # [sentences, 6]
    observed = counts.sum(axis=0, keepdims=True)  # [1, 6]
    first_f1, second_f1 = float(_f1(observed[:, :3])[0]), float(_f1(observed[:, 3:])[0])
    drawn = _resampled(counts, rng, resamples)  # [resamples, 6]
    differences = _f1(drawn[:, :3]) - _f1(drawn[:, 3:])
    value = first_f1 - second_f1
    # Sums of the same size may differ by rounding; such a tie counts as far enough.
    as_far = np.abs(differences - value) >= abs(value) - 1e-12
    tail = (1 - confidence) / 2
    low, high = np.quantile(differences, [tail, 1 - tail])
    return Difference(
        first=first_f1,
        second=second_f1,
        low=float(low),
        high=float(high),
        p_value=float((1 + as_far.sum()) / (1 + resamples)),
        confidence=confidence,
        resamples=resamples,
    )


def _resampled(
    counts: NDArray[np.int64], rng: np.random.Generator, resamples: int
) -> NDArray[np.int64]:
    """Summed counts of each resample.  # [resamples, 6]

    Sentences with the same counts are interchangeable, so it is enough to draw how often each
    distinct row occurs: some hundred rows in place of thousands of sentences.
    """
    if not len(counts):
        return np.zeros((resamples, counts.shape[1]), dtype=np.int64)
    rows, times = np.unique(counts, axis=0, return_counts=True)
    chunks = []
    for begin in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - begin)
        drawn = rng.multinomial(len(counts), times / len(counts), size=size)  # [size, rows]
        chunks.append(drawn @ rows)
    return np.concatenate(chunks)


def _f1(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """F1 of rows of right, found and gold; 0 where nothing is right.  # [rows]"""
    right, both = counts[:, 0], counts[:, 1] + counts[:, 2]
    f1: NDArray[np.float64] = np.zeros(len(counts))
    np.divide(2 * right, both, out=f1, where=both > 0)
    return f1
