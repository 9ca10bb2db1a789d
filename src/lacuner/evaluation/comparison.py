"""One sentence beside its gold: what was found, missed and wrong, and how to show it.

The terminal and the HTML report draw the same marks, each in its own way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lacuner.corpus.sentence import Entity, Sentence, Span, overlap
from lacuner.corpus.tagging import without_overlap
from lacuner.evaluation.scores import Pair

Kind = Literal["found", "missed", "wrong"]
SIGNS: dict[Kind, str] = {"found": "+", "missed": "?", "wrong": "!"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The entities of a sentence, sorted by how they compare with gold.

    Attributes:
        found: Given, and true.
        missed: True, and not given.
        wrong: Given, and not true: no entity, another label, or other boundaries.
    """

    found: tuple[Entity, ...]
    missed: tuple[Entity, ...]
    wrong: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a sentence to point at.

    Attributes:
        start: The first word.
        end: The word after the last.
        kind: `found`, `missed` or `wrong`.
        label: The label that was given, or that was missed.
        truth: Of a wrong one, the missed entities it overlaps.
    """

    start: int
    end: int
    kind: Kind
    label: str
    truth: tuple[Entity, ...] = ()

    @property
    def sign(self) -> str:
        """The kind without colour: `+`, `?` or `!`."""
        return SIGNS[self.kind]


def compare(given: Sentence, gold: Sentence) -> Comparison:
    """What of the gold was found and missed, and what else was given."""
    keys = {entity.key for entity in given.entities}
    true = {entity.key for entity in gold.entities}
    return Comparison(
        found=tuple(entity for entity in given.entities if entity.key in true),
        missed=tuple(entity for entity in gold.entities if entity.key not in keys),
        wrong=tuple(entity for entity in given.entities if entity.key not in true),
    )


def marks(given: Sentence, gold: Sentence) -> list[Mark]:
    """What to point at, from left to right, no mark overlapping another.

    Of entities given within one another the longest is shown. A missed one that overlaps what was
    given is not marked itself: the wrong one there tells of it.
    """
    comparison = compare(given, gold)
    found = {entity.key for entity in comparison.found}
    shown = [
        Mark(*entity.span, "found", entity.label)
        if entity.key in found
        else Mark(
            *entity.span,
            "wrong",
            entity.label,
            tuple(true for true in comparison.missed if overlap(true.span, entity.span)),
        )
        for entity in without_overlap(given.entities)[0]
    ]
    alone = [
        entity
        for entity in comparison.missed
        if not any(overlap(entity.span, (mark.start, mark.end)) for mark in shown)
    ]
    shown += [Mark(*entity.span, "missed", entity.label) for entity in without_overlap(alone)[0]]
    return sorted(shown, key=lambda mark: mark.start)


def pieces(sentence: Sentence, shown: Iterable[Mark]) -> Iterator[tuple[str, Mark | None]]:
    """The text of a sentence cut at its marks: `(text, mark or None)`, nothing left out."""
    text, offsets = _laid_out(sentence)
    position = 0
    for mark in shown:
        begin, finish = offsets[mark.start][0], offsets[mark.end - 1][1]
        if begin > position:
            yield text[position:begin], None
        yield text[begin:finish], mark
        position = finish
    if position < len(text):
        yield text[position:], None


def telling(pairs: Iterable[Pair], count: int) -> list[Pair]:
    """The first sentences where something is found and missed, then those with something wrong.

    Args:
        pairs: `(sentence, gold sentence)`.
        count: How many of each kind.
    """
    missed, wrong = [], []
    for given, gold in pairs:
        comparison = compare(given, gold)
        if comparison.wrong:
            wrong.append((given, gold))
        elif comparison.found and comparison.missed:
            missed.append((given, gold))
    return missed[:count] + wrong[:count]


def _laid_out(sentence: Sentence) -> tuple[str, Sequence[Span]]:
    """The text and where each word stands in it, also for a corpus that has words only."""
    if sentence.text is not None and sentence.offsets is not None:
        return sentence.text.rstrip(), sentence.offsets
    if not sentence.tokens:
        return "", ()
    text = sentence.surface(0, len(sentence))
    gap = (len(text) - sum(map(len, sentence.tokens))) // max(len(sentence) - 1, 1)
    offsets, begin = [], 0
    for token in sentence.tokens:
        offsets.append((begin, begin + len(token)))
        begin += len(token) + gap
    return text, offsets
