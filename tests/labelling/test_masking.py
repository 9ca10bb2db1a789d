"""Gaps on purpose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacuner import Corpus, Entity, Sentence
from lacuner.errors import UsageError
from lacuner.labelling.masking import mask


def _repeated(count: int) -> Corpus:
    tokens = ("Ghent", "and", "Osaka", "and", "Holt")
    entities = (Entity(0, 1, "LOC"), Entity(2, 3, "LOC"), Entity(4, 5, "PER"))
    return Corpus(tuple(Sentence(str(n), tokens, entities, complete=True) for n in range(count)))


@given(st.floats(0, 1), st.integers(0, 2**32), st.sampled_from(["mention", "name"]))
def test_mask_parts_make_the_whole_and_invent_nothing(rate: float, seed: int, unit: str) -> None:
    corpus = _repeated(5)
    masked = mask(corpus, rate, np.random.default_rng(seed), unit=unit)
    for whole, left, hidden in zip(corpus, masked.corpus, masked.hidden, strict=True):
        assert sorted(left.entities + hidden.entities, key=lambda e: e.start) == list(
            whole.entities
        )
        assert not left.complete


def test_mask_hides_about_the_rate() -> None:
    masked = mask(_repeated(2000), 0.3, np.random.default_rng(0))
    assert masked.hidden.entity_count / 6000 == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize(("rate", "left"), [(0.0, 15), (1.0, 0)])
def test_mask_hides_nothing_or_all_at_the_ends(rate: float, left: int) -> None:
    assert mask(_repeated(5), rate, np.random.default_rng(0)).corpus.entity_count == left


def test_mask_takes_another_rate_for_a_label() -> None:
    masked = mask(_repeated(50), 0.0, np.random.default_rng(0), rates={"PER": 1.0})
    assert {e.label for s in masked.hidden for e in s.entities} == {"PER"}
    assert masked.corpus.entity_count == 100


def test_mask_by_name_hides_all_mentions_or_none() -> None:
    for seed in range(20):
        masked = mask(_repeated(10), 0.5, np.random.default_rng(seed), unit="name")
        assert len({s.entities for s in masked.corpus}) == 1


def test_mask_is_the_same_for_the_same_seed() -> None:
    first, again = (mask(_repeated(50), 0.5, np.random.default_rng(7)) for _ in range(2))
    assert first == again


def test_mask_gives_no_hidden_label_away() -> None:
    sentence = replace(_repeated(1).sentences[0], complete=False, outside=((1, 2), (3, 4)))
    masked = mask(Corpus((sentence,)), 1.0, np.random.default_rng(0))
    assert masked.corpus.sentences[0].outside == ()


def test_mask_refuses_what_makes_no_sense() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match=r"between 0 and 1; 1\.5 is not"):
        mask(_repeated(1), 1.5, rng)
    with pytest.raises(UsageError, match=r"no label 'PRE'\. Did you mean PER"):
        mask(_repeated(1), 0.5, rng, rates={"PRE": 0.5})
    with pytest.raises(UsageError, match="Did you mean mention"):
        mask(_repeated(1), 0.5, rng, unit="mentions")
