"""Exact-match precision, recall and F1 of entities: over all, by label, or by anything else.

The figures are those of `seqeval` (its default mode) and of `conlleval` on the same entities. Both
let a stray inside tag begin an entity, which is what reading tags with `repair` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lacuner.corpus.sentence import Entity, Sentence

Pair = tuple[Sentence, Sentence]
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Score:
    """Counts, and what follows from them.

    Attributes:
        right: Entities that are in both.
        found: Entities that were given or predicted.
        gold: Entities that are true.
    """

    right: int
    found: int
    gold: int

    @property
    def precision(self) -> float:
        """Share of the found that are right; 0 when nothing was found."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Share of the true that were found; 0 when nothing is true."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.right / (self.found + self.gold) if self.right else 0.0

    def __add__(self, other: Score) -> Score:
        return Score(self.right + other.right, self.found + other.found, self.gold + other.gold)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "right": self.right,
            "found": self.found,
            "gold": self.gold,
        }


@dataclass(frozen=True, slots=True)
class Average:
    """The plain mean of several scores, each counting the same however many entities it has."""

    precision: float
    recall: float
    f1: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True, slots=True)
class Scores:
    """The score over all entities (micro), and for each label that was found or is true."""

    total: Score
    by_label: dict[str, Score] = field(default_factory=dict)

    @property
    def macro(self) -> Average:
        """The mean over the labels, as `seqeval` computes it: F1 is the mean of the F1s."""
        count = max(len(self.by_label), 1)
        scores = self.by_label.values()
        return Average(
            sum(score.precision for score in scores) / count,
            sum(score.recall for score in scores) / count,
            sum(score.f1 for score in scores) / count,
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "micro": self.total.as_dict(),
            "macro": self.macro.as_dict(),
            "by_label": {label: score.as_dict() for label, score in self.by_label.items()},
        }


def score_entities(pairs: Iterable[Pair]) -> Scores:
    """Scores sentences against gold: an entity is right when span and label are.

    Args:
        pairs: `(sentence, gold sentence)`, see `lacuner.corpus.alignment.aligned`.
    """
    by_label = score_by(pairs, lambda sentence, entity: entity.label)
    return Scores(sum_of(by_label.values()), dict(sorted(by_label.items())))


def score_by(pairs: Iterable[Pair], key: Callable[[Sentence, Entity], Key]) -> dict[Key, Score]:
    """Exact scores of groups of entities, in the order in which the groups are met.

    Args:
        pairs: `(sentence, gold sentence)`.
        key: The group of an entity; it must follow from words, span and label, so that an entity
            that is right falls into the same group as its gold.

    Example:
        >>> sentence = Sentence("1", ("Ada", "Lovelace"), (Entity(0, 2, "PER"),))
        >>> score_by([(sentence, sentence)], lambda _, entity: entity.end - entity.start)
        {2: Score(right=1, found=1, gold=1)}
    """
    right: Counter[Key] = Counter()
    found: Counter[Key] = Counter()
    gold: Counter[Key] = Counter()
    for sentence, gold_sentence in pairs:
        true = {entity.key for entity in gold_sentence.entities}
        gold.update(key(gold_sentence, entity) for entity in gold_sentence.entities)
        for entity in sentence.entities:
            group = key(sentence, entity)
            found[group] += 1
            right[group] += entity.key in true
    groups = dict.fromkeys((*gold, *found))
    return {group: Score(right[group], found[group], gold[group]) for group in groups}


def sum_of(scores: Iterable[Score]) -> Score:
    """The score of all the groups together."""
    return sum(scores, start=Score(0, 0, 0))
