"""A sentence cut into pieces, laid out in windows, with the way back to its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lacuner.encoders.windows import Longs, even_size, most_central, window_starts
from lacuner.encoders.word_shape import shape_numbers


class Cutter(Protocol):
    """What cuts words into pieces, such as `Subwords`.

    Attributes:
        before: Special pieces before a sentence.
        after: Those after it.
        specials: How many these are.
    """

    @property
    def before(self) -> Longs: ...
    @property
    def after(self) -> Longs: ...
    @property
    def specials(self) -> int: ...
    def pieces(self, words: Sequence[str]) -> list[Longs]:
        """The pieces of each word."""
        ...


@dataclass(frozen=True, slots=True)
class Pieces:
    """A sentence cut into pieces, in windows.

    Attributes:
        windows: The pieces of each window, special ones included.
        window_words: Their words, counted from 1; 0 for special pieces.
        rows: The window of each piece that is pooled.  # [pooled]
        columns: Its place there.  # [pooled]
        words: Its word.  # [pooled]
        shapes: The shapes of the words.  # [words]
    """

    windows: list[Longs]
    window_words: list[Longs]
    rows: Longs
    columns: Longs
    words: Longs
    shapes: Longs


def cut(subwords: Cutter, words: Sequence[str], pooling: str, window: int, overlap: int) -> Pieces:
    """Cuts a sentence.

    Args:
        subwords: Cuts its words.
        words: The sentence; one without words has no window.
        pooling: Which pieces of a word are pooled: its `first`, its `last`, or all for the `mean`.
        window: Most pieces in a window, special ones included.
        overlap: Pieces that neighbouring windows share.
    """
    if not words:
        nothing = np.zeros(0, dtype=np.int64)
        return Pieces([], [], nothing, nothing, nothing, nothing)
    by_word = subwords.pieces(words)
    ends = np.cumsum([len(pieces) for pieces in by_word])  # [words]
    begins = np.concatenate(([0], ends[:-1]))  # [words]
    pieces = np.concatenate(by_word)
    before, after = subwords.before, subwords.after
    no_word = np.zeros_like(before), np.zeros_like(after)
    room = even_size(len(pieces), window - subwords.specials, overlap)
    starts = window_starts(len(pieces), room, overlap)

    owners = np.arange(len(words))
    piece_words = np.repeat(owners, ends - begins)
    if pooling == "mean":
        owners, places = piece_words, np.arange(len(pieces))
    else:
        places = begins if pooling == "first" else ends - 1
    rows = most_central(begins, ends, starts, room)[owners]
    columns = places - starts[rows]
    # Pieces of a word that is too long for its window have their own most central one.
    outside = (columns < 0) | (columns >= room)
    if outside.any():
        rows[outside] = most_central(places[outside], places[outside] + 1, starts, room)
        columns = places - starts[rows]
    return Pieces(
        windows=[np.concatenate((before, pieces[s : s + room], after)) for s in starts],
        window_words=[
            np.concatenate((no_word[0], piece_words[s : s + room] + 1, no_word[1])) for s in starts
        ],
        rows=rows,
        columns=columns + len(before),
        words=owners,
        shapes=shape_numbers(words),
    )
