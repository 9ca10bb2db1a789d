"""Packing keeps every piece, in order, and never mixes documents."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lacuner import Sentence
from lacuner.adaptation.packing import pack
from lacuner.encoders.subwords import Subwords
from tests.language_models import word_piece
from tests.strategies import sentences


@cache
def _subwords() -> Subwords:
    return Subwords(word_piece())


@settings(max_examples=50, deadline=None)
@given(given_=st.lists(sentences(), max_size=8), room=st.integers(1, 12))
def test_pack_keeps_every_piece_in_order(given_: list[Sentence], room: int) -> None:
    subwords = _subwords()
    packed = pack(given_, subwords, room)
    expected = [int(p) for s in given_ for word in subwords.pieces(s.tokens) for p in word]
    assert packed.pieces.tolist() == expected
    lengths = np.diff(packed.bounds)
    assert ((lengths > 0) & (lengths <= room)).all()
    assert len(packed) == len(packed.documents) == len(lengths)


def _sentence(words: str, document: str | None) -> Sentence:
    return Sentence("1", tuple(words.split()), document=document)


def test_pack_fills_rows_with_whole_sentences_of_one_document() -> None:
    given_ = [
        _sentence("The ferry was late", "a"),
        _sentence("Nobody expected rain", "a"),
        _sentence("snow again", "a"),
        _sentence("tram", "b"),
        _sentence("in the harbour of Lisbon in May in June", "b"),
    ]
    packed = pack(given_, _subwords(), 7)
    assert np.diff(packed.bounds).tolist() == [7, 2, 1, 7, 2]
    assert packed.documents.tolist() == [1, 1, 2, 2, 2]


def test_sentences_without_a_document_belong_together() -> None:
    packed = pack([_sentence("tram", None), _sentence("ferry", None)], _subwords(), 7)
    assert np.diff(packed.bounds).tolist() == [2]


def test_row_knows_the_words_of_its_pieces() -> None:
    subwords = _subwords()
    words = ("tram", "Okafora", "late")
    by_word = subwords.pieces(words)
    assert len(by_word[1]) > 1
    pieces, owners = pack([Sentence("1", words)], subwords, 20).row(0)
    assert pieces.tolist() == np.concatenate(by_word).tolist()
    assert owners.tolist() == [n for n, word in enumerate(by_word) for _ in word]


def test_fingerprint_tells_texts_apart() -> None:
    texts = ("tram late", "late tram", "tram late late")
    names = {pack([_sentence(text, None)], _subwords(), 9).fingerprint() for text in texts}
    assert len(names) == 3
