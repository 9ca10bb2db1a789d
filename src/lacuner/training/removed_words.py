"""Words that a training leaves out, kept as a file that people can read, too.

    removed.jsonl      a line for each sentence with such words: id, tokens, entities, removed
                       (place and O-value of each word), and where hidden labels are known, those
    removed.json       how many, of how many, by which share; how well they are hidden entities

The training reads the same file: what is shown is what was left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any

import orjson

from lacuner.corpus.sentence import Entity, Sentence, Span
from lacuner.errors import DataError
from lacuner.files import read_json, read_json_lines, write_json, written_aside

ROWS, SUMMARY = "removed.jsonl", "removed.json"
_RIGHT = "It is as an exploration wrote it; begin anew with --overwrite to have it written again"
_NUMBER = (int, float)
# What a summary says, and of what type each is.
_FACTS: dict[str, Any] = {
    "ell": _NUMBER, "auto": bool, "candidates": int, "removed": int, "sentences": int,
    "expected": (dict, NoneType), "measured": (dict, NoneType),
}  # fmt: skip
_EXPECTED: dict[str, Any] = {"precision": _NUMBER, "recall": _NUMBER}
_MEASURED: dict[str, Any] = {**_EXPECTED, "hidden_words": int}


@dataclass(frozen=True)
class RemovedRow:
    """A sentence and its removed words.

    Attributes:
        sentence: The sentence with the labels that it has.
        words: Places of removed words.
        values: Their O-values.
        hidden: Spans of entities that are known to be missing; None where nobody knows.
    """

    sentence: Sentence
    words: tuple[int, ...]
    values: tuple[float, ...]
    hidden: tuple[Span, ...] | None = None

    @property
    def lowest(self) -> float:
        """The smallest O-value."""
        return min(self.values)

    def is_hidden(self, word: int) -> bool:
        """Is the word part of an entity that is known to be missing?"""
        return any(start <= word < end for start, end in self.hidden or ())

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        row: dict[str, Any] = {
            "id": self.sentence.id,
            "tokens": list(self.sentence.tokens),
            "entities": [list(entity.key) for entity in self.sentence.entities],
            "removed": [[w, v] for w, v in zip(self.words, self.values, strict=True)],
        }
        if self.hidden is not None:
            row["hidden"] = [list(span) for span in self.hidden]
        return row


def write_removed(folder: Path, rows: Sequence[RemovedRow], summary: Mapping[str, Any]) -> None:
    """Writes both files; where `removed.jsonl` is, the summary is, too.

    Args:
        folder: Where to.
        rows: Sentences with removed words.
        summary: What there is to say of all of them.
    """
    write_json(dict(summary), folder / SUMMARY)
    with written_aside(folder / ROWS, overwrite=True) as aside, open(aside, "wb") as file:
        for row in rows:
            file.write(orjson.dumps(row.as_dict()) + b"\n")


def read_removed(folder: Path) -> Iterator[RemovedRow]:
    """The sentences with removed words, in the order of the corpus.

    Raises:
        DataError: There is no such file, or it is damaged.
    """
    path = folder / ROWS
    for line, row in read_json_lines(path):
        try:
            sentence = Sentence(
                row["id"],
                tuple(row["tokens"]),
                tuple(Entity(*entity) for entity in row["entities"]),
            )
            pairs = [_word_and_value(pair, len(sentence)) for pair in row["removed"]]
            words, values = zip(*pairs, strict=True)
            hidden = None
            if "hidden" in row:
                hidden = tuple((int(start), int(end)) for start, end in row["hidden"])
            yield RemovedRow(sentence, words, values, hidden)
        except KeyError as error:
            raise _damaged(path, line, f"it has no {error}") from None
        except (TypeError, ValueError) as error:
            raise _damaged(path, line, str(error).rstrip(".")) from None


def _damaged(path: Path, line: int, why: str) -> DataError:
    return DataError(path, f"the line holds no removed words: {why}", line=line, right=_RIGHT)


def _word_and_value(pair: Any, length: int) -> tuple[int, float]:
    """A removed word of a sentence of that length, and its O-value."""
    word, value = pair
    if type(word) is not int or not 0 <= word < length:
        raise ValueError(f"{word!r} is no place of one of its {length} words")
    if type(value) not in (int, float):
        raise ValueError(f"{value!r} is no O-value")
    return word, float(value)


def read_summary(folder: Path) -> dict[str, Any]:
    """What there is to say of all removed words.

    Raises:
        DataError: There is no such file, or it is damaged.
    """
    path = folder / SUMMARY
    summary = read_json(path)
    if not isinstance(summary, dict):
        raise DataError(path, "it holds no summary of removed words", right=_RIGHT)
    for place, named in (("", _FACTS), ("expected", _EXPECTED), ("measured", _MEASURED)):
        facts = summary.get(place) if place else summary
        if place and facts is None:
            continue
        for name, kinds in named.items():
            found = facts.get(name, "") if isinstance(facts, dict) else ""
            if not isinstance(found, kinds):
                what = f"'{name}' of '{place}'" if place else f"'{name}'"
                raise DataError(path, f"{what} is missing or not what it should be", right=_RIGHT)
    return summary
