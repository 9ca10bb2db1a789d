"""Candidate phrases: which stretches of words may be names, by their parts of speech.

The first step of distant labels as RoSTER makes them (Meng et al. 2021, section 2.1, after BOND):
"potential entities are determined via POS tagging and hand-crafted rules"; a knowledge base then
says of which type they are. The paper does not print its rules. Ours use universal parts of speech
and capitals, and no words of one language:

- A run of proper nouns is one piece: "New York Times". It is matched as a whole, never in part.
  It ends where capitals begin or end.
- A noun or an adjective with a capital is a piece of its own: "German", "Olympics".
- Pieces that stand side by side, or are linked by at most two small words or marks, make longer
  candidates besides: "Bank of England", "Marks & Spencer", "Côte d'Ivoire".
- A number may stand in a candidate, but not first: "Boeing 747".

What is no candidate stays unknown: that a tagger sees no name in a word proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from lacuner.corpus.sentence import Sentence, Span

PhraseFinder = Callable[[Sequence[Sentence]], list[set[Span]]]
"""Finds the candidates of each of some sentences, as spans of its words."""

_PROPER, _NUMBER = "PROPN", "NUM"
_CAPITALISED = {"NOUN", "ADJ"}
_SMALL_WORDS = {"ADP", "DET", "CCONJ", "PART"}
_MARKS = frozenset("-\u2013\u2014'’.&/·+!")  # dashes and the like
_MOST_LINKS = 2
_LONGEST = 8  # pieces of one candidate


class Tagged(NamedTuple):
    """A word and its universal part of speech."""

    text: str
    part: str


class _Piece(NamedTuple):
    start: int
    end: int
    is_number: bool


def candidate_phrases(words: Sequence[Tagged]) -> set[Span]:
    """The stretches of words that may be names.

    Example:
        >>> tagged = zip("the Bank of England".split(), "DET PROPN ADP PROPN".split())
        >>> sorted(candidate_phrases([Tagged(*pair) for pair in tagged]))
        [(1, 2), (1, 4), (3, 4)]
    """
    pieces = _pieces(words)
    found: set[Span] = set()
    for number, first in enumerate(pieces):
        if first.is_number:
            continue
        end = first.start
        for piece in pieces[number : number + _LONGEST]:
            if piece is not first and not _is_linked(words[end : piece.start]):
                break
            end = piece.end
            found.add((first.start, end))
    return found


def _pieces(words: Sequence[Tagged]) -> list[_Piece]:
    pieces: list[_Piece] = []
    before = ""
    for place, word in enumerate(words):
        kind = _kind(word)
        if kind == before and kind.startswith(_PROPER):
            pieces[-1] = pieces[-1]._replace(end=place + 1)
        elif kind:
            pieces.append(_Piece(place, place + 1, kind == _NUMBER))
        before = kind
    return pieces


def _kind(word: Tagged) -> str:
    """What a word is as a piece of a candidate; empty if it is none."""
    capital = word.text[:1].isupper()
    if word.part == _PROPER and any(character.isalpha() for character in word.text):
        # "Sohail c Croft" is no run of three: where capitals end, so does the run.
        return _PROPER if capital else f"{_PROPER} without capital"
    if word.part in (_PROPER, _NUMBER):
        return _NUMBER
    return word.part if capital and word.part in _CAPITALISED else ""


def _is_linked(between: Sequence[Tagged]) -> bool:
    return len(between) <= _MOST_LINKS and all(
        word.part in _SMALL_WORDS or word.text in _MARKS for word in between
    )
