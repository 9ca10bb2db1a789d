"""What a model says of labels that it has not learnt from, and what it would say instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lacuner.corpus.sentence import Sentence, overlap
from lacuner.inference.decode import decode
from lacuner.models.batching import Examples
from lacuner.models.distribution import mean_outputs
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.span_roles import span_roles
from lacuner.refilling.candidates import (
    REACH,
    Candidate,
    candidate_of,
    log_chances,
    margins_of,
)
from lacuner.refilling.gap_estimate import GapEstimate


@dataclass(frozen=True)
class Verdict:
    """What a model says of a label.

    Attributes:
        given: The label, with its margin and certainty.
        rivals: What the model would take instead: spans with a word of it, or another label.
    """

    given: Candidate
    rivals: tuple[Candidate, ...] = ()

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Verdict:
        """What `dataclasses.asdict` made of it."""
        return cls(Candidate(**row["given"]), tuple(Candidate(**rival) for rival in row["rivals"]))

    @property
    def elsewhere(self) -> list[Candidate]:
        """The rivals that are other spans, and not the same one with another label."""
        return [rival for rival in self.rivals if rival.span != self.given.span]

    def chance(self, gaps: GapEstimate) -> float:
        """How likely its span is an entity; it, its rivals and "no entity" exclude each other."""
        against = np.logaddexp.reduce([0.0, *(margins_of(self.elsewhere) + gaps.offset)])
        return float(gaps.probabilities(np.array(self.given.margin - against)))

    def of_sentence(self, number: int) -> Verdict:
        """The same, with another number for the sentence."""
        rivals = tuple(replace(rival, sentence=number) for rival in self.rivals)
        return Verdict(replace(self.given, sentence=number), rivals)


def rivals_of(verdicts: Sequence[Verdict]) -> list[Candidate]:
    """What would be taken in other places instead, each once: two labels may have the same rival.

    Another label of the same span is none: where a model and the label agree that there is an
    entity, and not which, the label is right more often.
    """
    return list(dict.fromkeys(rival for one in verdicts for rival in one.elsewhere))


def judge_labels(
    models: Sequence[SpanClassifier], given: Sequence[Sentence], *, batch_words: int
) -> list[Verdict]:
    """What models say of all labels of sentences, but for those that are complete.

    Labels of more words than they look at get no verdict.

    Args:
        models: Have not learnt from these sentences; their mean probabilities count.
        given: The sentences.
        batch_words: Most places for words in a batch, padding included.
    """
    model = models[0]
    examples = Examples(given, model.encoder, model.label_numbers)
    places = [number for number, sentence in enumerate(given) if sentence.tokens]
    verdicts: list[Verdict] = []
    for numbers, batch, output in mean_outputs(models, examples, batch_words=batch_words):
        roles, chances = span_roles(output, batch), log_chances(output)
        possible = replace(output, mask=roles.annotated | roles.unknown)
        for row, free in enumerate(decode(model, possible, offset=REACH)):
            place = places[numbers[row]]
            if given[place].complete:
                continue
            for entity in given[place].entities:
                if entity.end - entity.start > chances.shape[2]:
                    continue
                number = model.label_numbers[entity.label]
                rivals = (
                    candidate_of(place, other, chances[row], model.label_numbers[other.label])
                    for other in free
                    if overlap(other.span, entity.span)
                    if other.key != entity.key
                )
                own = candidate_of(place, entity, chances[row], number)
                verdicts.append(Verdict(own, tuple(rivals)))
    return sorted(verdicts, key=lambda one: (one.given.sentence, one.given.start, one.given.end))
