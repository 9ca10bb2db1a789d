"""What a tagger takes for entities: runs of words with one tag. The tags are IO.

The words of an entity are right or wrong together, so that a run is as likely as its weakest word,
where the word before and the word after count as well: they must not belong to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lacuner.corpus.sentence import Entity, Sentence, overlap
from lacuner.inference.decode import decode
from lacuner.models.batching import Examples
from lacuner.models.distribution import mean_outputs
from lacuner.models.token_tagger import TokenTagger
from lacuner.refilling.candidates import NEARLY, Candidate, margins_from
from lacuner.refilling.gap_estimate import Floats
from lacuner.refilling.verdicts import Verdict

_MOST = -1e-12  # of logarithms of probabilities


@dataclass(frozen=True)
class _Reading:
    """What a tagger says of a sentence.

    Attributes:
        place: The number of the sentence.
        runs: What it takes for entities, and what it nearly does; none over another.
        chances: The logarithm of the probability of each tag.  # [words, tags]
    """

    place: int
    runs: list[Entity]
    chances: Floats

    def candidate(self, entity: Entity, number: int) -> Candidate:
        """A run of words as a candidate for the label of that number."""
        ends = [word for word in (entity.start - 1, entity.end) if 0 <= word < len(self.chances)]
        inside = self.chances[entity.start : entity.end, 1:]
        beyond = np.log1p(-np.exp(np.minimum(self.chances[ends, 1:], _MOST)))
        by_label = np.concatenate((inside, beyond)).min(0)  # [labels]
        some = np.logaddexp.reduce(by_label)
        certainty = float(np.exp(by_label[number - 1] - some))
        return Candidate(self.place, *entity.key, float(margins_from(some)), certainty)


def find_tagged(
    models: Sequence[TokenTagger], shown: Sequence[Sentence], *, batch_words: int
) -> list[Candidate]:
    """The runs that taggers take, or nearly take, for entities, though no label says so.

    Runs with a word that has a label, or that are known to be no entity, are left out.

    Args:
        models: Taggers, whose mean probabilities count.
        shown: The sentences, with the labels that they learnt from.
        batch_words: Most places for words in a batch, padding included.
    """
    numbers = models[0].label_numbers
    found = [
        reading.candidate(run, numbers[run.label])
        for reading in _read(models, shown, batch_words)
        for run in reading.runs
        if _may_be(run, shown[reading.place]) and not _touches_a_label(run, shown[reading.place])
    ]
    return sorted(found, key=lambda candidate: (candidate.sentence, candidate.start))


def judge_by_tags(
    models: Sequence[TokenTagger], given: Sequence[Sentence], *, batch_words: int
) -> list[Verdict]:
    """What taggers say of all labels of sentences, but for those that are complete.

    Args:
        models: Taggers, whose mean probabilities count.
        given: The sentences.
        batch_words: Most places for words in a batch, padding included.
    """
    numbers = models[0].label_numbers
    verdicts: list[Verdict] = []
    for reading in _read(models, given, batch_words):
        sentence = given[reading.place]
        if sentence.complete:
            continue
        possible = [run for run in reading.runs if _may_be(run, sentence)]
        for entity in sentence.entities:
            rivals = [
                run for run in possible if overlap(run.span, entity.span) and run.key != entity.key
            ]
            verdicts.append(
                Verdict(
                    reading.candidate(entity, numbers[entity.label]),
                    tuple(reading.candidate(run, numbers[run.label]) for run in rivals),
                )
            )
    return sorted(verdicts, key=lambda one: (one.given.sentence, one.given.start, one.given.end))


def _read(
    models: Sequence[TokenTagger], sentences: Sequence[Sentence], batch_words: int
) -> Iterator[_Reading]:
    model = models[0]
    examples = Examples(sentences, model.encoder, model.label_numbers)
    places = [number for number, sentence in enumerate(sentences) if sentence.tokens]
    for numbers, _, output in mean_outputs(models, examples, batch_words=batch_words):
        chances: Floats = torch.log_softmax(output.scores.double(), -1).cpu().numpy()
        sure, more = decode(model, output), decode(model, output, offset=NEARLY)
        for row, (runs, others) in enumerate(zip(sure, more, strict=True)):
            place = places[numbers[row]]
            nearly = [one for one in others if not any(overlap(one.span, run.span) for run in runs)]
            yield _Reading(place, runs + nearly, chances[row, : len(sentences[place].tokens)])


def _may_be(run: Entity, sentence: Sentence) -> bool:
    """Does nobody vouch that it is no entity?"""
    return not (
        sentence.complete
        or run.span in sentence.rejected
        or any(overlap(run.span, words) for words in sentence.outside)
    )


def _touches_a_label(run: Entity, sentence: Sentence) -> bool:
    known = [entity.span for entity in sentence.entities]
    known += [found.span for found in sentence.ambiguous]
    return any(overlap(run.span, span) for span in known)
