"""Counts of a corpus."""

from __future__ import annotations

import math

import pytest

from lacuner import Corpus, Entity, Sentence
from lacuner.corpus.statistics import Statistics, missampling_bound


def test_statistics_count_the_small_corpus(small_corpus: Corpus) -> None:
    counts = Statistics.of(small_corpus).as_dict()
    assert counts["sentences"] == 20
    assert counts["words"] == sum(len(s) for s in small_corpus)
    assert counts["entities"] == small_corpus.entity_count == 29
    assert counts["entities_by_label"] == {"LOC": 11, "ORG": 6, "PER": 9, "PRODUCT": 3}
    assert counts["sentences_without_entity"] == 4
    assert counts["entity_length"]["max"] == 3
    assert counts["ambiguous_forms"] == [{"form": "Bergen", "labels": {"LOC": 1, "ORG": 1}}]


def test_statistics_count_what_is_special() -> None:
    entities = (Entity(0, 3, "ORG", "a.txt:x"), Entity(1, 2, "LOC", "a.txt:y"), Entity(3, 4, "PER"))
    sentence = Sentence("1", tuple("abcdefg"), entities, rejected=((4, 5),), outside=((5, 7),))
    statistics = Statistics.of([sentence])
    assert statistics.nested == 1
    assert statistics.rejected == 1
    assert statistics.outside == 2
    assert statistics.sources == {"a.txt": 2, "not said": 1}
    assert statistics.sparse == 0  # three entities are more than √7


def test_statistics_of_nothing_do_not_fail() -> None:
    counts = Statistics.of([]).as_dict()
    assert counts["sentences"] == counts["sparsity"]["share"] == 0


@pytest.mark.parametrize("length", [2, 5, 20, 100, 1000])
@pytest.mark.parametrize("rate", [0.1, 0.35, 1.0])
def test_missampling_bound_holds_against_the_exact_probability(length: int, rate: float) -> None:
    spans = length * (length + 1) // 2
    draws = math.ceil(rate * length)
    unlabelled = math.isqrt(length)  # the most that eq. 5 allows
    exact = math.prod(1 - unlabelled / (spans - i) for i in range(draws))  # eq. 6, nothing labelled
    # The last step of eq. 10 asks for at least one whole draw.
    if rate * length >= 1:
        assert missampling_bound(length, rate) <= exact


def test_missampling_bound_says_nothing_for_one_word() -> None:
    assert missampling_bound(1) == 0
