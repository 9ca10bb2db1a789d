"""Words are cut as the tokeniser itself cuts given words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from lacuner.encoders.subwords import Subwords
from tests.encoders.conftest import TOKENISERS, byte_pairs, word_piece

WORDS = ["the", "The", "Bergen", "bergen", "U.S.", "3.5", "the-harbour", "北京", "é", "</s>"]


@pytest.mark.parametrize("name", TOKENISERS)
def test_pieces_are_those_of_the_tokenisers_own_call(name: str) -> None:
    tokeniser = TOKENISERS[name]()
    subwords = Subwords(tokeniser)
    own = tokeniser(WORDS, is_split_into_words=True)
    inner = [n for pieces in subwords.pieces(WORDS) for n in pieces.tolist()]
    assert [*subwords.before.tolist(), *inner, *subwords.after.tolist()] == own["input_ids"]


@given(words=st.lists(st.text(min_size=1), min_size=1))
@pytest.mark.parametrize("name", TOKENISERS)
def test_pieces_of_any_words_are_those_of_the_tokenisers_own_call(
    name: str, words: list[str]
) -> None:
    tokeniser = TOKENISERS[name]()
    subwords = Subwords(tokeniser)
    own = tokeniser(words, is_split_into_words=True, add_special_tokens=False)
    by_word = [[] for _ in words]  # type: list[list[int]]
    for number, word in zip(own["input_ids"], own.word_ids(), strict=True):
        by_word[word].append(number)
    expected = [numbers or [tokeniser.unk_token_id] for numbers in by_word]
    assert [pieces.tolist() for pieces in subwords.pieces(words)] == expected


def test_space_is_added_where_the_tokeniser_leaves_it_out() -> None:
    without, with_space = byte_pairs(prefix_space=False), byte_pairs(prefix_space=True)
    words = WORDS[:-1]  # the last is a special piece, before which no tokeniser adds a space
    cut, own = Subwords(without).pieces(words), Subwords(with_space).pieces(words)
    assert [a.tolist() for a in cut] == [b.tolist() for b in own]
    assert without.convert_ids_to_tokens(cut[0]) == ["Ġthe"]


@pytest.mark.parametrize("word", [" ", "\u200b", "\x00", "\ud800"])
def test_word_without_pieces_is_unknown(word: str) -> None:
    tokeniser = word_piece()
    (pieces,) = Subwords(tokeniser).pieces([word])
    assert len(pieces) >= 1
    if word != "\ud800":
        assert pieces.tolist() == [tokeniser.unk_token_id]


@pytest.mark.parametrize(("lower", "expected"), [(True, True), (False, False)])
def test_uncased_tokeniser_is_recognised(lower: bool, expected: bool) -> None:
    assert Subwords(word_piece(lower=lower)).is_uncased is expected


def test_truncation_in_the_tokenisers_file_is_not_obeyed(bert: Path) -> None:
    tokeniser = AutoTokenizer.from_pretrained(bert)
    tokeniser.backend_tokenizer.enable_truncation(3)
    tokeniser.backend_tokenizer.enable_padding(length=9)
    (pieces,) = Subwords(tokeniser).pieces(["abcdefg"])
    assert len(pieces) == 7
