"""Gaps on purpose: hide known entities, so that a method can be measured on what it cannot see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lacuner.corpus.sentence import Corpus, Entity, Sentence
from lacuner.errors import UsageError
from lacuner.suggestions import unknown_name

UNITS = ("mention", "name")


@dataclass(frozen=True)
class Masked:
    """A corpus with gaps, and what was taken out of it.

    Attributes:
        corpus: The sentences with the entities that are left, none marked complete.
        hidden: The same sentences with the hidden entities only, for measuring.
    """

    corpus: Corpus
    hidden: Corpus


def mask(
    corpus: Corpus,
    rate: float,
    rng: np.random.Generator,
    *,
    rates: Mapping[str, float] | None = None,
    unit: str = "mention",
) -> Masked:
    """Hides each entity with a probability.

    Args:
        corpus: A corpus with gold labels.
        rate: The probability, between 0 and 1.
        rng: Where the randomness comes from.
        rates: Other probabilities for some labels, such as `{"PER": 0.9}`.
        unit: `mention` draws for each entity; `name` draws once for each surface form, so that
            all mentions of a name vanish together, as with a name that no dictionary knows.

    Raises:
        UsageError: A rate that is no probability, a label or unit that does not exist.
    """
    rates = dict(rates or {})
    for value in (rate, *rates.values()):
        if not 0 <= value <= 1:
            raise UsageError(f"A rate is between 0 and 1; {value:g} is not.")
    for label in rates:
        if label not in corpus.labels:
            raise UsageError(unknown_name("label", label, corpus.labels))
    if unit not in UNITS:
        raise UsageError(unknown_name("unit", unit, UNITS))

    drawn: dict[str, float] = {}

    def is_hidden(sentence: Sentence, entity: Entity) -> bool:
        if unit == "mention":
            number = rng.random()
        else:
            name = sentence.surface(*entity.span)
            if name not in drawn:
                drawn[name] = rng.random()
            number = drawn[name]
        return number < rates.get(entity.label, rate)

    left: list[Sentence] = []
    hidden: list[Sentence] = []
    for sentence in corpus:
        gone = {entity for entity in sentence.entities if is_hidden(sentence, entity)}
        kept = tuple(entity for entity in sentence.entities if entity not in gone)
        # What is known to be outside would give the hidden ones away.
        bare = replace(sentence, complete=False, outside=())
        left.append(replace(bare, entities=kept))
        hidden.append(
            replace(
                bare, entities=tuple(e for e in sentence.entities if e in gone),
                rejected=(), ambiguous=(),
            )
        )  # fmt: skip
    return Masked(corpus.with_sentences(left), corpus.with_sentences(hidden))
