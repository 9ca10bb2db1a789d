"""Spans without a label that a model could take for entities, none over another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from lacuner.corpus.sentence import Entity, Sentence, Span
from lacuner.inference.decode import decode
from lacuner.models.batch import Batch, Output
from lacuner.models.batching import Examples
from lacuner.models.distribution import mean_outputs
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.span_roles import span_roles, spans_with_a, words_within
from lacuner.refilling.gap_estimate import Floats

REACH = 16.0  # margins down to -16 are looked at: what a model has learnt by heart lies low


@dataclass(frozen=True)
class Candidate:
    """A span that could be an entity.

    Attributes:
        sentence: The number of its sentence.
        start: Its first word.
        end: The word after its last.
        label: A label that it could have.
        margin: ln P(any label) - ln P(no entity).
        certainty: The probability of its label, given that it has one.
    """

    sentence: int
    start: int
    end: int
    label: str
    margin: float
    certainty: float

    @property
    def span(self) -> Span:
        """Its place."""
        return self.start, self.end

    @property
    def key(self) -> tuple[int, int, str]:
        """That of an entity with its place and label."""
        return self.start, self.end, self.label


def find_candidates(
    models: Sequence[SpanClassifier], shown: Sequence[Sentence], *, batch_words: int
) -> list[Candidate]:
    """The spans of sentences that could be entities, though no label says so.

    Words that have a label, and spans that are known to be no entity, are left out.

    Args:
        models: Whose mean probabilities count.
        shown: The sentences, with the labels that they learnt from.
        batch_words: Most places for words in a batch, padding included.
    """
    model = models[0]
    examples = Examples(shown, model.encoder, model.label_numbers)
    places = [number for number, sentence in enumerate(shown) if sentence.tokens]
    found: list[Candidate] = []
    for numbers, batch, output in mean_outputs(models, examples, batch_words=batch_words):
        open_spans = replace(output, mask=output.mask & _is_open(output, batch))
        chances = log_chances(output)
        for row, entities in enumerate(decode(model, open_spans, offset=REACH)):
            place = places[numbers[row]]
            for entity in entities:
                number = model.label_numbers[entity.label]
                found.append(candidate_of(place, entity, chances[row], number))
    return sorted(found, key=lambda candidate: (candidate.sentence, candidate.start))


def log_chances(output: Output) -> Floats:
    """The logarithm of the probability of each class.  # [batch, words, widths, classes]"""
    chances: Floats = torch.log_softmax(output.scores.double(), -1).cpu().numpy()
    return chances


def candidate_of(sentence: int, entity: Entity, chances: Floats, number: int) -> Candidate:
    """A span with a label as a candidate.

    Args:
        sentence: The number of its sentence.
        entity: The span and the label.
        chances: Those of the sentence.  # [words, widths, classes]
        number: That of the label.
    """
    classes = chances[entity.start, entity.end - entity.start - 1]
    some = np.logaddexp.reduce(classes[1:])
    certainty = np.exp(classes[number] - some)
    return Candidate(sentence, *entity.key, float(some - classes[0]), float(certainty))


def margins_of(candidates: Sequence[Candidate]) -> Floats:
    """The margins of candidates.  # [candidates]"""
    return np.array([candidate.margin for candidate in candidates], dtype=np.float64)


def _is_open(output: Output, batch: Batch) -> Tensor:
    """Spans of which the labels say nothing, and that touch none.  # [batch, words, widths]"""
    known = torch.cat((batch.entities[:, :3], batch.ambiguous[:, :3]))
    touching = spans_with_a(words_within(known, batch.outside), output.mask.shape[2])
    return span_roles(output, batch).unknown & ~touching
