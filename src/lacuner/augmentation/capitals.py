"""Which words are written with a capital: what a model that knows lower case only cannot say.

Without it such a model would put "And" where "Somerset" stood. `lacuner adapt` hears it from the
text and keeps it beside the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from lacuner.augmentation.piece_forms import capitalisation
from lacuner.corpus.sentence import Sentence
from lacuner.errors import DataError
from lacuner.files import read_json, write_json

_PLACE = Path("adaptation", "capitals.json")
_LEAST = 2  # how often a word must be seen with a capital
_CAPITAL = ("title", "upper")


class CapitalsHeard:
    """Listens to sentences, and tells which words usually have a capital in them.

    First words and headlines say nothing of it, and single letters (I, a middle initial) are no
    names.
    """

    def __init__(self) -> None:
        self._capital: Counter[str] = Counter()
        self._lower: Counter[str] = Counter()

    def hear(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences, listened to on their way."""
        for sentence in sentences:
            if any(word.islower() for word in sentence.tokens):
                for word in sentence.tokens[1:]:
                    counts = self._lower if word.islower() else self._capital
                    if word.isalpha() and len(word) > 1:
                        counts[word.lower()] += 1
            yield sentence

    def words(self) -> list[str]:
        """The words, in lower case."""
        return sorted(
            word
            for word, count in self._capital.items()
            if count >= _LEAST and count > self._lower[word]
        )


def write_capitals(words: Iterable[str], folder: Path) -> None:
    """Keeps the words beside the model of a folder."""
    write_json(list(words), folder / _PLACE)


def read_capitals(folder: Path) -> frozenset[str]:
    """The words that are kept beside the model of a folder; none where nothing is.

    Raises:
        DataError: The file is damaged.
    """
    path = folder / _PLACE
    if not path.is_file():
        return frozenset()
    words = read_json(path)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise DataError(path, "this is no list of words")
    return frozenset(words)


def suits(guess: str, word: str, capitals: frozenset[str]) -> bool:
    """Whether a guess in lower case may take the case of a word: both have a capital, or none.

    Example:
        >>> suits("oslo", "Ghent", frozenset({"oslo"})), suits("and", "Ghent", frozenset({"oslo"}))
        (True, False)
    """
    return (guess in capitals) == (capitalisation(word) in _CAPITAL)
