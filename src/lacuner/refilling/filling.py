"""A corpus with labels put back, and some taken out.

Where a model is sure, a label; where it is in doubt, silence; and no label where a model that has
not learnt from it does not believe it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from lacuner.corpus.sentence import Ambiguity, Corpus, Entity, overlap
from lacuner.errors import UsageError
from lacuner.refilling.candidates import Candidate, margins_of
from lacuner.refilling.gap_estimate import GapEstimate
from lacuner.refilling.verdicts import Verdict, rivals_of

SOURCE, DOUBT = "refill", "doubt"
_MOST_OUT = 0.5  # of the labels of a kind


@dataclass(frozen=True)
class FillingSettings:
    """What becomes of spans.

    Attributes:
        sure: One without a label gets one if it is an entity with at least this probability, ...
        certain: ... and has that label with at least this one.
        doubt: Otherwise it is a doubt if it is an entity with at least this probability.
        wrong: A label that was given is taken out if its probability is below this one. 0 takes
            none out.
    """

    sure: float = 0.8
    certain: float = 0.9
    doubt: float = 0.1
    wrong: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.doubt <= self.sure < 1:
            raise UsageError(
                f"filling.doubt ({self.doubt:g}) and filling.sure ({self.sure:g}) are "
                "probabilities, and the first is not above the second."
            )
        for name in ("certain", "wrong"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"filling.{name} is a probability, not {getattr(self, name):g}.")


def fill(
    corpus: Corpus,
    candidates: Sequence[Candidate],
    gaps: GapEstimate,
    settings: FillingSettings,
    round_number: int,
    verdicts: Sequence[Verdict] = (),
) -> Corpus:
    """The corpus with what candidates add to it, and without labels that verdicts are against.

    Added labels name their round as their source and have a score. Spans in doubt become
    ambiguities with the source `refill:<round>:doubt`; so do labels that are taken out, unless
    something else takes their place. A corpus that hardly misses any stays as it is.

    Args:
        corpus: The labels that were given.
        candidates: Spans that could be entities, in its sentences.
        gaps: How likely they are.
        settings: What becomes of them.
        round_number: Which round it is, from 1.
        verdicts: What is said of labels; those that the corpus does not show tell it nothing.
    """
    if gaps.hardly_any:
        return corpus
    source = f"{SOURCE}:{round_number}"
    entities = [list(sentence.entities) for sentence in corpus]
    doubtful = defaultdict[int, list[Ambiguity]](list)

    def doubt(found: Candidate) -> None:
        ambiguity = Ambiguity(found.start, found.end, (), f"{source}:{DOUBT}")
        doubtful[found.sentence].append(ambiguity)

    out = [
        one
        for one in wrong_labels(verdicts, gaps, settings)
        if any(entity.key == one.given.key for entity in entities[one.given.sentence])
    ]
    for one in out:
        here = entities[one.given.sentence]
        here[:] = [entity for entity in here if entity.key != one.given.key]
    found_ones = [*candidates, *rivals_of(out)]
    chances = gaps.probabilities(margins_of(found_ones)).tolist()
    for found, chance in zip(found_ones, chances, strict=True):
        here = entities[found.sentence]
        if _is_taken(found, here):
            continue
        if chance >= settings.sure and found.certainty >= settings.certain:
            here.append(Entity(*found.key, source, chance * found.certainty))
        elif chance >= settings.doubt:
            doubt(found)
    for one in out:
        if not _is_taken(one.given, entities[one.given.sentence]):
            doubt(one.given)
    return corpus.with_sentences(
        sentence.with_labels(entities[number], [*sentence.ambiguous, *doubtful[number]])
        for number, sentence in enumerate(corpus)
    )


def wrong_labels(
    verdicts: Sequence[Verdict], gaps: GapEstimate, settings: FillingSettings
) -> list[Verdict]:
    """The verdicts against a label.

    There are none where too few labels were held back to tell what a model's word is worth, nor
    where hardly any is missing: such labels were made with care. Nor are there for labels of which
    more than half would be taken out: a model that says so has not learnt them.
    """
    if gaps.missing is None or gaps.hardly_any:
        return []
    out = [one for one in verdicts if one.chance(gaps) * one.given.certainty < settings.wrong]
    judged = Counter(one.given.label for one in verdicts)
    against = Counter(one.given.label for one in out)
    return [one for one in out if against[one.given.label] <= _MOST_OUT * judged[one.given.label]]


def _is_taken(found: Candidate, entities: Sequence[Entity]) -> bool:
    """Has one of its words a label?"""
    return any(overlap(entity.span, found.span) for entity in entities)


def is_added(entity: Entity) -> bool:
    """Was the label put back by a refilling?"""
    return (entity.source or "").startswith(f"{SOURCE}:")


def is_doubt(found: Ambiguity) -> bool:
    """Is it a doubt of a refilling, rather than what somebody knows?"""
    return (found.source or "").startswith(f"{SOURCE}:")
