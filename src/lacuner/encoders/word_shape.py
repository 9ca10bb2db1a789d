"""The shape of a word: what an uncased encoder does not see of case, digits and punctuation."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# Numbers count from 1: 0 is padding.
SHAPES = (
    "lower",  # rain
    "title",  # Bergen
    "initial",  # J, J.
    "upper",  # NATO, U.S.
    "mixed",  # McDonald, iPhone
    "letters and digits",  # B2B, 1990s
    "digits",  # 1996
    "number",  # 3.5, 1996-08-22
    "caseless",  # 北京, 'عمان'
    "punctuation",  # , -- %
    "other",  # spaces, control characters
)
_NUMBERS = {shape: number for number, shape in enumerate(SHAPES, 1)}


def shape_of(word: str) -> str:
    """The class of a word, one of `SHAPES`.

    Example:
        >>> [shape_of(word) for word in ("Bergen", "NATO", "iPhone", "3.5", "北京")]
        ['title', 'upper', 'mixed', 'number', 'caseless']
    """
    letters = [char for char in word if char.isalpha()]
    digits = sum(char.isdecimal() for char in word)
    if digits:
        if letters:
            return "letters and digits"
        return "digits" if digits == len(word) else "number"
    if letters:
        return _case_of(letters)
    if all(unicodedata.category(char)[0] in "PS" for char in word):
        return "punctuation"
    return "other"


def _case_of(letters: list[str]) -> str:
    upper = [char.isupper() or char.istitle() for char in letters]
    cased = any(upper) or any(char.islower() for char in letters)
    if not cased:
        return "caseless"
    if not any(upper):
        return "lower"
    if len(letters) == 1:
        return "initial"
    if all(upper):
        return "upper"
    return "title" if upper[0] and not any(upper[1:]) else "mixed"


def shape_numbers(words: Iterable[str]) -> NDArray[np.int64]:
    """The numbers of the words' shapes, from 1; 0 is left for padding."""
    return np.fromiter((_number(word) for word in words), dtype=np.int64)


@lru_cache(maxsize=100_000)
def _number(word: str) -> int:
    return _NUMBERS[shape_of(word)]
