"""Classes of word shapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacuner.encoders.word_shape import SHAPES, shape_numbers, shape_of


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("rain", "lower"),
        ("all-rounder", "lower"),
        ("e.g.", "lower"),
        ("Bergen", "title"),
        ("O'neill", "title"),
        ("É", "initial"),
        ("J.", "initial"),
        ("NATO", "upper"),
        ("U.S.", "upper"),
        ("AL-AIN", "upper"),
        ("McDonald", "mixed"),
        ("iPhone", "mixed"),
        ("1990s", "letters and digits"),
        ("B2B", "letters and digits"),
        ("1996", "digits"),
        ("3.5", "number"),
        ("1996-08-22", "number"),
        ("北京", "caseless"),
        ("北", "caseless"),
        (",", "punctuation"),
        ("--", "punctuation"),
        ("%", "punctuation"),
        ("€", "punctuation"),
        (" ", "other"),
        ("\u200b", "other"),
    ],
)
def test_shape_of_a_word(word: str, shape: str) -> None:
    assert shape_of(word) == shape


@given(words=st.lists(st.text(min_size=1)))
def test_every_word_has_a_shape_and_zero_is_left_for_padding(words: list[str]) -> None:
    numbers = shape_numbers(words).tolist()
    assert [SHAPES[number - 1] for number in numbers] == [shape_of(word) for word in words]
    assert all(number >= 1 for number in numbers)
