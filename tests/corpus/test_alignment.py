"""Labels and gold side by side."""

from __future__ import annotations

import pytest

from lacuner import Corpus, Sentence
from lacuner.corpus.alignment import NotAligned, aligned


def _corpus(*rows: tuple[str, str]) -> Corpus:
    return Corpus(tuple(Sentence(name, tuple(text.split())) for name, text in rows))


def test_aligned_pairs_by_id_whatever_the_order() -> None:
    gold = _corpus(("1", "a b"), ("2", "c"), ("3", "d"))
    pairs = aligned(_corpus(("3", "d"), ("1", "a b")), gold)
    assert [(s.id, g.id) for s, g in pairs] == [("3", "3"), ("1", "1")]


def test_aligned_pairs_by_order_where_ids_differ() -> None:
    pairs = aligned(_corpus(("x", "a"), ("y", "b")), _corpus(("1", "a"), ("2", "b")))
    assert [(s.id, g.id) for s, g in pairs] == [("x", "1"), ("y", "2")]


def test_aligned_says_which_sentence_differs() -> None:
    with pytest.raises(NotAligned, match=r"Sentence 2 differs: 'b' .* 'c'"):
        aligned(_corpus(("1", "a"), ("2", "b")), _corpus(("1", "a"), ("2", "c")))


def test_aligned_says_how_many_sentences_there_are() -> None:
    with pytest.raises(NotAligned, match="1 sentences and the gold 2"):
        aligned(_corpus(("x", "a")), _corpus(("1", "a"), ("2", "c")))
