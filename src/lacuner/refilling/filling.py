"""A corpus with labels put back: where a model is sure, a label; where it is in doubt, silence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from lacuner.corpus.sentence import Ambiguity, Corpus, Entity
from lacuner.errors import UsageError
from lacuner.refilling.candidates import Candidate, margins_of
from lacuner.refilling.gap_estimate import GapEstimate

SOURCE, DOUBT = "refill", "doubt"


@dataclass(frozen=True)
class FillingSettings:
    """What becomes of a span without a label.

    Attributes:
        sure: It gets a label if it is an entity with at least this probability, ...
        certain: ... and has that label with at least this one.
        doubt: Otherwise nothing is learnt from it if it is an entity with at least this
            probability; below, it is a negative.
    """

    sure: float = 0.8
    certain: float = 0.9
    doubt: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.doubt <= self.sure < 1:
            raise UsageError(
                f"filling.doubt ({self.doubt:g}) and filling.sure ({self.sure:g}) are "
                "probabilities, and the first is not above the second."
            )
        if not 0 <= self.certain <= 1:
            raise UsageError(f"filling.certain is a probability, not {self.certain:g}.")


def fill(
    corpus: Corpus,
    candidates: Sequence[Candidate],
    gaps: GapEstimate,
    settings: FillingSettings,
    round_number: int,
) -> Corpus:
    """The corpus with what candidates add to it.

    Added labels name their round as their source and have a score. Spans in doubt become
    ambiguities with the source `refill:<round>:doubt`.

    Args:
        corpus: The labels that were given.
        candidates: Spans that could be entities, in its sentences.
        gaps: How likely they are.
        settings: What becomes of them.
        round_number: Which round it is, from 1.
    """
    source = f"{SOURCE}:{round_number}"
    chances = gaps.probabilities(margins_of(candidates)).tolist()
    added = defaultdict[int, list[Entity]](list)
    doubtful = defaultdict[int, list[Ambiguity]](list)
    for found, chance in zip(candidates, chances, strict=True):
        taken = corpus.sentences[found.sentence]
        if any(e.start < found.end and found.start < e.end for e in taken.entities):
            continue
        if chance >= settings.sure and found.certainty >= settings.certain:
            score = chance * found.certainty
            label = Entity(found.start, found.end, found.label, source, score)
            added[found.sentence].append(label)
        elif chance >= settings.doubt:
            doubt = Ambiguity(found.start, found.end, (), f"{source}:{DOUBT}")
            doubtful[found.sentence].append(doubt)
    return corpus.with_sentences(
        sentence.with_labels(
            [*sentence.entities, *added[number]], [*sentence.ambiguous, *doubtful[number]]
        )
        if number in added or number in doubtful
        else sentence
        for number, sentence in enumerate(corpus)
    )


def is_added(entity: Entity) -> bool:
    """Was the label put back by a refilling?"""
    return (entity.source or "").startswith(f"{SOURCE}:")


def is_doubt(found: Ambiguity) -> bool:
    """Is it a doubt of a refilling, rather than what somebody knows?"""
    return (found.source or "").startswith(f"{SOURCE}:")
