"""Exact-match precision, recall and F1 of entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from lacuner.corpus.sentence import Sentence


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
class Scores:
    """The score over all entities, and for each label."""

    total: Score
    by_label: dict[str, Score] = field(default_factory=dict)


def score_entities(pairs: Iterable[tuple[Sentence, Sentence]]) -> Scores:
    """Scores sentences against gold: an entity is right when span and label are.

    Args:
        pairs: `(sentence, gold sentence)`, see `lacuner.corpus.alignment.aligned`.
    """
    right: Counter[str] = Counter()
    found: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    for sentence, gold_sentence in pairs:
        given = {entity.key for entity in sentence.entities}
        true = {entity.key for entity in gold_sentence.entities}
        found.update(label for _, _, label in given)
        gold.update(label for _, _, label in true)
        right.update(label for _, _, label in given & true)
    by_label = {
        label: Score(right[label], found[label], gold[label]) for label in sorted({*found, *gold})
    }
    return Scores(Score(right.total(), found.total(), gold.total()), by_label)
