"""A lexicon: words with vectors, found in sentences by the engine of the dictionaries.

Words and vectors stay on disk and are mapped into memory; each sentence is matched once.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lacuner.corpus.sentence import Sentence
from lacuner.encoders.windows import Longs
from lacuner.errors import DataError
from lacuner.matching.array_folder import map_arrays
from lacuner.matching.matcher import Matcher
from lacuner.matching.string_table import StringTable

# Raise it when the arrays, or the way in which words are cut or folded, change.
VERSION = 1
NORMAL_FORM = "NFKC"  # letters of full width, as Chinese text has them, are letters
_WORDS_IN_CHUNK = 1 << 16
_REMEMBERED_WORDS = 2_000_000  # of sentences whose finds are at hand

Tokens = tuple[str, ...]


class Found(NamedTuple):
    """Words of the lexicon in a sentence, sorted by start, longer ones first.

    Attributes:
        start: The first word of the sentence that each covers.
        end: The one after the last.
        number: Its number in the lexicon.
    """

    start: Longs
    end: Longs
    number: Longs


class Lexicon:
    """Words with vectors, as of `open_lexicon`.

    Args:
        folder: Where its arrays lie.
        arrays: The arrays, see `lexicon_compiling`.
        units: What its words are made of: `words` or `characters`.
        ignore_case: Whether case does not count.

    Attributes:
        units: As given.
        words: The words, by number.
        vectors: Their vectors, each of length 1, on disk.  # [words, width]
    """

    def __init__(
        self, folder: Path, arrays: dict[str, NDArray[Any]], *, units: str, ignore_case: bool
    ) -> None:
        self.folder, self.units = folder, units
        self.words = StringTable(arrays["words-text"], arrays["words-ends"])
        self.vectors = arrays["vectors"]
        self._number_of_form = arrays["number_of_form"]
        self._matcher = Matcher(
            arrays["edges"],
            arrays["form_of_state"],
            StringTable(arrays["vocabulary-text"], arrays["vocabulary-ends"]),
            units=units,
            normal_form=NORMAL_FORM,
            ignore_case=ignore_case,
        )
        self._known: dict[Tokens, Found] = {}
        self._remembered = 0

    @classmethod
    def load(cls, folder: Path) -> Self:
        """The lexicon of a folder that `save` or `open_lexicon` wrote.

        Raises:
            DataError: The folder is gone or damaged.
        """
        arrays, description = map_arrays(folder)
        try:
            if description["version"] != VERSION:
                raise DataError(folder, f"its lexicon has the form {description['version']}, which "
                                "another release of Lacuner wrote")  # fmt: skip
            return cls(
                folder, arrays, units=description["units"], ignore_case=description["ignore_case"]
            )
        except (KeyError, ValueError, TypeError) as error:
            raise DataError(folder, f"its lexicon is damaged: {error}") from None

    def save(self, folder: Path) -> None:
        """Puts the files of the lexicon into a folder that does not exist yet.

        They are never written again, so where the file system can, both folders share them.
        """
        folder.mkdir(parents=True)
        for path in sorted(self.folder.iterdir()):
            try:
                os.link(path, folder / path.name)
            except OSError:
                shutil.copyfile(path, folder / path.name)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def width(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    def find(self, sentences: Sequence[Sentence]) -> list[Found]:
        """The words of the lexicon in each sentence; a sentence is matched once and remembered."""
        new = [s.tokens for s in sentences if s.tokens not in self._known]
        new = list(dict.fromkeys(new))
        count = sum(map(len, new))
        at_hand = self._known
        if self._remembered + count > _REMEMBERED_WORDS:
            wanted = {s.tokens for s in sentences}
            at_hand = {tokens: at_hand[tokens] for tokens in wanted & at_hand.keys()}
            self._known, self._remembered = {}, 0
        for chunk in _chunks(new):
            at_hand.update(zip(chunk, self._match(chunk), strict=True))
        if at_hand is self._known:
            self._remembered += count
        return [at_hand[sentence.tokens] for sentence in sentences]

    def _match(self, chunk: Sequence[Tokens]) -> Iterator[Found]:
        tokens = [token for sentence in chunk for token in (*sentence, "")]
        begins = np.cumsum([0, *(len(sentence) + 1 for sentence in chunk)])
        places = self._matcher.find(tokens)
        start, end = places.start.astype(np.int64), places.end.astype(np.int64)
        order = np.lexsort((-end, start))
        start, end = start[order], end[order]
        number = self._number_of_form[places.form[order]].astype(np.int64)
        borders = np.searchsorted(start, begins)
        for sentence, (low, high) in enumerate(pairwise(borders)):
            first = begins[sentence]
            yield Found(start[low:high] - first, end[low:high] - first, number[low:high])


def _chunks(sentences: Iterable[Tokens]) -> Iterator[list[Tokens]]:
    chunk: list[Tokens] = []
    words = 0
    for tokens in sentences:
        chunk.append(tokens)
        words += len(tokens)
        if words >= _WORDS_IN_CHUNK:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk


def word_slots(found: Found, length: int, most: int) -> Longs:
    """The words over each place of a sentence, the longest first, then the leftmost.

    Args:
        found: The words of the lexicon in it.
        length: How many places it has.
        most: Words that a place may have; the rest are left out.

    Returns:
        Their numbers, counted from 1; 0 is no word.  # [length, most]
    """
    lengths = found.end - found.start
    order = np.lexsort((found.start, -lengths))
    lengths = lengths[order]
    inside = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    places = np.repeat(found.start[order], lengths) + inside
    numbers = np.repeat(found.number[order], lengths)
    by_place = np.argsort(places, kind="stable")
    places, numbers = places[by_place], numbers[by_place]
    rank = np.arange(len(places)) - np.searchsorted(places, places)
    kept = rank < most
    slots = np.zeros((length, most), dtype=np.int64)
    slots[places[kept], rank[kept]] = numbers[kept] + 1
    return slots
