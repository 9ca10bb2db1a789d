"""Vocabularies: strings to numbers, with room for padding and for what is unknown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from lacuner.errors import DataError
from lacuner.files import read_bytes

PADDING, UNKNOWN = 0, 1
RESERVED = 2
_DIGIT = re.compile(r"\d")


class Vocabulary:
    """Strings, numbered from 2: 0 is padding, 1 is what is unknown.

    Args:
        entries: The strings, each once.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self.entries = list(entries)
        self._numbers = {entry: number for number, entry in enumerate(self.entries, RESERVED)}

    def __len__(self) -> int:
        """How many numbers there are, the two reserved ones included."""
        return len(self.entries) + RESERVED

    def __contains__(self, entry: str) -> bool:
        return entry in self._numbers

    def number(self, entry: str) -> int:
        """The number of an entry as it is, else `UNKNOWN`."""
        return self._numbers.get(entry, UNKNOWN)

    def number_of_word(self, word: str) -> int:
        """The number of the first of a word's `forms` that is known, else `UNKNOWN`."""
        for form in forms(word):
            number = self._numbers.get(form)
            if number is not None:
                return number
        return UNKNOWN

    def save(self, path: Path) -> None:
        """Writes one JSON string a line."""
        path.write_text("".join(json.dumps(entry) + "\n" for entry in self.entries), "ascii")

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Reads what `save` wrote.

        Raises:
            DataError: The file is not what `save` wrote.
        """
        entries = []
        for number, line in enumerate(read_bytes(path).splitlines(), 1):
            try:  # by json, which knows halves of surrogate pairs
                entry = json.loads(line)
            except ValueError:
                entry = None
            if not isinstance(entry, str):
                raise DataError(path, "this is no word", line=number, right='Right is "word"')
            entries.append(entry)
        return cls(entries)


def forms(word: str) -> Iterator[str]:
    """A word and what may stand for it: lower-cased, with digits as 0, both.

    Example:
        >>> list(forms("Boeing-747"))
        ['Boeing-747', 'boeing-747', 'Boeing-000', 'boeing-000']
    """
    lower = word.lower()
    yield word
    if lower != word:
        yield lower
    zeros = _DIGIT.sub("0", word)
    if zeros != word:
        yield zeros
        if lower != word:
            yield _DIGIT.sub("0", lower)
