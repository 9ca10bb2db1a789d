"""A sentence as a flat lattice: its characters and the words of a lexicon, each a span."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lacuner.encoders.lexicon import Found, word_slots
from lacuner.encoders.windows import Longs, even_size, most_central, window_starts


@dataclass(frozen=True, slots=True)
class LatticeWindow:
    """A stretch of a sentence and the words that lie in it.

    Attributes:
        characters: Their numbers in the vocabulary.  # [characters]
        heads: The first character of each word.  # [words]
        tails: Its last character.  # [words]
        numbers: Its number in the lexicon, counted from 1.  # [words]
    """

    characters: Longs
    heads: Longs
    tails: Longs
    numbers: Longs


@dataclass(frozen=True, slots=True)
class Lattice:
    """A sentence in windows.

    Attributes:
        windows: The windows; a sentence that fits has one.
        rows: For each character, the window that its vector is taken from.  # [characters]
        columns: Its place there.  # [characters]
    """

    windows: list[LatticeWindow]
    rows: Longs
    columns: Longs


def lattice_of(
    characters: Longs, found: Found, *, words: int, window: int, overlap: int
) -> Lattice:
    """The lattice of a sentence.

    Args:
        characters: The numbers of its characters.
        found: The words of the lexicon in it.
        words: A word of the lexicon stays if it is among so many longest ones over any of the
            characters that it covers, anywhere in the sentence, and is left out if nowhere. So
            more than so many may lie over a character.
        window: Most characters in a window.
        overlap: Characters that neighbouring windows share.
    """
    length = len(characters)
    if not length:
        return Lattice([], characters, characters)
    taken = np.isin(found.number + 1, word_slots(found, length, words))
    start, end, number = (column[taken] for column in found)
    size = even_size(length, window, overlap)
    starts = window_starts(length, size, overlap)
    places = np.arange(length)
    rows = most_central(places, places + 1, starts, size)
    return Lattice([_window(characters, start, end, number, s, s + size) for s in starts.tolist()],
                   rows, places - starts[rows])  # fmt: skip


def _window(
    characters: Longs, start: Longs, end: Longs, number: Longs, begin: int, stop: int
) -> LatticeWindow:
    inside = (start >= begin) & (end <= stop)
    return LatticeWindow(
        characters[begin:stop], start[inside] - begin, end[inside] - 1 - begin, number[inside] + 1
    )


@dataclass(frozen=True, slots=True)
class LatticeTable:
    """The windows of a batch, filled up to the longest: characters first, then words.

    Attributes:
        characters: Their numbers, 0 for padding.  # [windows, characters]
        numbers: Those of the words in the lexicon, from 1; 0 for padding.  # [windows, words]
        heads: The first character of each span.  # [windows, characters + words]
        tails: Its last character.  # [windows, characters + words]
        sources: The spans whose vectors are taken, in the flattened windows.  # [taken]
        targets: Their places in the flattened batch.  # [taken]
        shape: Sentences, and characters of the longest.
    """

    characters: Longs
    numbers: Longs
    heads: Longs
    tails: Longs
    sources: Longs
    targets: Longs
    shape: tuple[int, int]

    @classmethod
    def of(cls, items: Sequence[Lattice]) -> LatticeTable:
        """The table of some sentences."""
        windows = [window for item in items for window in item.windows]
        width = max((len(window.characters) for window in windows), default=0)
        words = max((len(window.numbers) for window in windows), default=0)
        characters = np.zeros((len(windows), width), dtype=np.int64)
        numbers = np.zeros((len(windows), words), dtype=np.int64)
        heads = np.zeros((len(windows), width + words), dtype=np.int64)
        tails = np.zeros_like(heads)
        for row, window in enumerate(windows):
            length, count = len(window.characters), len(window.numbers)
            characters[row, :length] = window.characters
            numbers[row, :count] = window.numbers
            heads[row, :length] = tails[row, :length] = np.arange(length)
            heads[row, width : width + count] = window.heads
            tails[row, width : width + count] = window.tails
        longest = max((len(item.rows) for item in items), default=0)
        sources, targets, first = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        for number, item in enumerate(items):
            sources.append((item.rows + first) * (width + words) + item.columns)
            targets.append(np.arange(len(item.rows)) + number * longest)
            first += len(item.windows)
        return cls(
            characters,
            numbers,
            heads,
            tails,
            np.concatenate(sources),
            np.concatenate(targets),
            (len(items), longest),
        )
