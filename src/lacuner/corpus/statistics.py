"""What a corpus holds, counted in one pass, without a model.

The share of sentences with few entities and the bound that follows from it are those of
"Rethinking Negative Sampling for Handling Missing Entity Annotations" (Li et al. 2022).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lacuner.corpus.sentence import Sentence

NEGATIVE_RATE = 0.35  # λ, the paper's share of negatives drawn


@dataclass(frozen=True)
class AmbiguousForm:
    """A surface form that carries several labels in one corpus."""

    form: str
    labels: dict[str, int]


@dataclass
class Statistics:
    """Counts of a corpus; `add` sentences, then read.

    Attributes:
        words: Number of words.
        entities: Entities by label.
        sources: Entities by where their label came from (the part before the first colon).
        sentence_lengths: How many sentences have how many words.
        entity_lengths: How many entities have how many words.
        complete: Sentences whose labels somebody vouches for.
        empty: Sentences without any entity.
        rejected: Spans said to be no entity.
        outside: Words said to be in no entity.
        ambiguous: Spans whose label is not settled.
        nested: Entities that overlap another.
        sparse: Sentences with at most √n entities, n their words (eq. 5).
        forms: Labels of each surface form.
    """

    words: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    sentence_lengths: Counter[int] = field(default_factory=Counter)
    entity_lengths: Counter[int] = field(default_factory=Counter)
    complete: int = 0
    empty: int = 0
    rejected: int = 0
    outside: int = 0
    ambiguous: int = 0
    nested: int = 0
    sparse: int = 0
    forms: dict[str, Counter[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, sentences: Iterable[Sentence]) -> Statistics:
        """Counts all the sentences."""
        statistics = cls()
        for sentence in sentences:
            statistics.add(sentence)
        return statistics

    def add(self, sentence: Sentence) -> None:
        """Counts one more sentence."""
        length = len(sentence)
        self.words += length
        self.sentence_lengths[length] += 1
        self.complete += sentence.complete
        self.empty += not sentence.entities
        self.rejected += len(sentence.rejected)
        self.outside += sum(end - start for start, end in sentence.outside)
        self.ambiguous += len(sentence.ambiguous)
        self.sparse += len(sentence.entities) <= math.sqrt(length)  # eq. 5
        reached = 0
        for entity in sentence.entities:
            self.entities[entity.label] += 1
            self.entity_lengths[entity.end - entity.start] += 1
            self.sources[_origin(entity.source)] += 1
            self.nested += entity.start < reached
            reached = max(reached, entity.end)
            form = sentence.surface(entity.start, entity.end)
            self.forms.setdefault(form, Counter())[entity.label] += 1

    @property
    def sentences(self) -> int:
        """Number of sentences."""
        return self.sentence_lengths.total()

    @property
    def ambiguous_forms(self) -> list[AmbiguousForm]:
        """Surface forms with several labels, the most frequent first."""
        several = [(form, labels) for form, labels in self.forms.items() if len(labels) > 1]
        several.sort(key=lambda item: (-item[1].total(), item[0]))
        return [AmbiguousForm(form, dict(labels.most_common())) for form, labels in several]

    def as_dict(self, negative_rate: float = NEGATIVE_RATE) -> dict[str, Any]:
        """For JSON."""
        return {
            "sentences": self.sentences,
            "words": self.words,
            "entities": self.entities.total(),
            "entities_by_label": dict(sorted(self.entities.items())),
            "entities_by_source": dict(self.sources.most_common()),
            "distinct_forms": len(self.forms),
            "complete_sentences": self.complete,
            "sentences_without_entity": self.empty,
            "rejected_spans": self.rejected,
            "outside_words": self.outside,
            "ambiguous_spans": self.ambiguous,
            "nested_entities": self.nested,
            "sentence_length": summary(self.sentence_lengths),
            "entity_length": summary(self.entity_lengths),
            "entity_lengths": dict(sorted(self.entity_lengths.items())),
            "sparsity": {
                "sentences_with_at_most_sqrt_n": self.sparse,
                "share": self.sparse / self.sentences if self.sentences else 0.0,
                "negative_rate": negative_rate,
                "bound": self.bound_by_length(negative_rate),
            },
            "ambiguous_forms": [
                {"form": found.form, "labels": found.labels} for found in self.ambiguous_forms
            ],
        }

    def bound_by_length(self, negative_rate: float = NEGATIVE_RATE) -> list[dict[str, Any]]:
        """The bound of `missampling_bound` at the quartiles of sentence length."""
        if not self.sentences:
            return []
        lengths = np.repeat(*_values_and_counts(self.sentence_lengths))
        quartiles = np.quantile(lengths, [0.25, 0.5, 0.75, 1.0], method="nearest")
        return [
            {"words": int(n), "at_least": missampling_bound(int(n), negative_rate)}
            for n in sorted(set(quartiles.tolist()))
        ]


def missampling_bound(length: int, negative_rate: float = NEGATIVE_RATE) -> float:
    """Lower bound of the probability that no drawn negative is an unlabelled entity.

    Holds for a sentence of `length` words with at most √length entities, labelled or not, of
    which ⌈λ·length⌉ spans are drawn as negatives. Where the bound says nothing it is 0.

    Example:
        >>> round(missampling_bound(100), 3)
        0.859
    """
    if length < 2:
        return 0.0
    return max(0.0, 1 - 4 * negative_rate * math.sqrt(length) / (length - 1))  # eq. 11


def summary(lengths: Counter[int]) -> dict[str, float]:
    """Mean, median, 95th percentile and largest of counted lengths."""
    if not lengths:
        return {"mean": 0.0, "median": 0, "p95": 0, "max": 0}
    values = np.repeat(*_values_and_counts(lengths))
    return {
        "mean": float(values.mean()),
        "median": float(np.median(values)),
        "p95": float(np.quantile(values, 0.95, method="nearest")),
        "max": int(values.max()),
    }


def _values_and_counts(counted: Counter[int]) -> tuple[list[int], list[int]]:
    values = sorted(counted)
    return values, [counted[value] for value in values]


def _origin(source: str | None) -> str:
    return source.partition(":")[0] if source else "not said"
