"""Two-step learning, step 1: O-values of a whole corpus, and the words that they remove.

IJSWIS 20(1), 2024. Words that somebody vouches for are never removed: those of complete sentences,
words known to be outside, and words of spans that were rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lacuner.corpus.sentence import Sentence
from lacuner.models.batch import Batch, Output
from lacuner.models.batching import Examples
from lacuner.models.distribution import outputs
from lacuner.models.targets import tag_targets, words_of
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.generalized_cross_entropy import vouched_words
from lacuner.objectives.removal_share import GRID, Booleans, Values, smallest
from lacuner.training.corpus_array import Layout
from lacuner.training.removed_words import RemovedRow


@dataclass(frozen=True)
class OutsideWords:
    """All words of a corpus, sentence after sentence.

    Attributes:
        values: O-values.  # [words]
        outside: Words that are tagged O.  # [words]
        doubtful: Those of them that nobody vouches for: m of the paper.  # [words]
        held_back: Words of entities that the tagger was shown as O on purpose.  # [words]
    """

    values: Values
    outside: Booleans
    doubtful: Booleans
    held_back: Booleans

    def removed(self, share: float) -> Booleans:
        """The doubtful words with the smallest O-values, ⌈l·m⌉ of them.  # [words]"""
        chosen = np.zeros_like(self.doubtful)
        chosen[self.doubtful] = smallest(self.values[self.doubtful], share)
        return chosen


def outside_words(
    model: TokenTagger, examples: Examples, shown: Sequence[Sentence], *, batch_words: int
) -> OutsideWords:
    """What a tagger thinks of all words that are tagged O.

    Args:
        model: The tagger, of any head; its dropout is off meanwhile.
        examples: The sentences with all their labels.
        shown: The same sentences as the tagger was trained on them.
        batch_words: Most places for words in a batch, padding included.
    """
    layout = Layout(examples.lengths)
    values = np.zeros(layout.places, dtype=np.float32)
    outside, doubtful, held_back = (np.zeros(layout.places, dtype=bool) for _ in range(3))
    for numbers, batch, output in outputs(model, examples, batch_words=batch_words):
        targets, settled = tag_targets(batch, model.tag_set)
        is_outside = settled & (targets == 0)
        layout.scatter(values, numbers, output.scores[..., 0].float())
        layout.scatter(outside, numbers, is_outside)
        layout.scatter(doubtful, numbers, is_outside & ~_vouched(batch, targets))
        seen = Batch.of([shown[number] for number in numbers], {}, model.label_numbers)
        seen_targets, seen_settled = tag_targets(seen, model.tag_set)
        spies = (targets.cpu() > 0) & (seen_targets == 0) & seen_settled
        layout.scatter(held_back, numbers, spies)
    return OutsideWords(values, outside, doubtful, held_back)


def _vouched(batch: Batch, targets: Tensor) -> Tensor:
    """Words without a label that are surely in no entity.  # [batch, words]"""
    vouched = vouched_words(batch, targets)
    row, offset = words_of(batch.rejected)
    vouched[batch.rejected[row, 0], batch.rejected[row, 1] + offset] = True
    return vouched


class RemovedWords:
    """Which words of a batch a training leaves out.

    Args:
        rows: Sentences with removed words.
        sentences: What is trained on, in the order of their numbers.
    """

    def __init__(self, rows: Iterable[RemovedRow], sentences: Sequence[Sentence]) -> None:
        words = {row.sentence.id: list(row.words) for row in rows}
        self._words = [words.get(sentence.id, []) for sentence in sentences]

    def __call__(self, batch: Batch, output: Output) -> Tensor:
        """[batch, words]"""
        removed = torch.zeros(output.mask.shape, dtype=torch.bool)
        for row, number in enumerate(batch.numbers):
            removed[row, self._words[number]] = True
        return removed.to(output.mask.device)


def removed_rows(
    words: OutsideWords,
    removed: Booleans,
    sentences: Sequence[Sentence],
    hidden: Sequence[Sentence] | None,
) -> list[RemovedRow]:
    """The sentences that have removed words.

    Args:
        words: All words.
        removed: Which of them are removed.  # [words]
        sentences: The sentences.
        hidden: The same with the entities that are missing in them, where they are known.
    """
    rows, begin = [], 0
    for number, sentence in enumerate(sentences):
        end = begin + len(sentence)
        places = np.flatnonzero(removed[begin:end])
        if len(places):
            spans = None if hidden is None else tuple(e.span for e in hidden[number].entities)
            values = words.values[begin:end][places].tolist()
            rows.append(RemovedRow(sentence, tuple(places.tolist()), tuple(values), spans))
        begin = end
    return rows


def emptied_sentences(
    words: OutsideWords, removed: Booleans, sentences: Sequence[Sentence]
) -> list[Sentence]:
    """Sentences of which every word that is tagged O was removed."""
    emptied, begin = [], 0
    for sentence in sentences:
        end = begin + len(sentence)
        outside = words.outside[begin:end]
        if outside.any() and removed[begin:end][outside].all():
            emptied.append(sentence)
        begin = end
    return emptied


def measured(words: OutsideWords, removed: Booleans, hidden: Sequence[Sentence]) -> dict[str, Any]:
    """How well removed words are those of hidden entities, and how any share would have done.

    Args:
        words: All words.
        removed: Which of them are removed.  # [words]
        hidden: The sentences with the entities that are missing in them.
    """
    missing = np.concatenate([_covered(sentence) for sentence in hidden]) & words.doubtful
    return {
        "hidden_words": int(missing.sum()),
        **_precision_and_recall(removed, missing),
        "grid": [
            {"ell": share, **_precision_and_recall(words.removed(share), missing)} for share in GRID
        ],
    }


def _covered(sentence: Sentence) -> Booleans:
    covered = np.zeros(len(sentence), dtype=bool)
    for entity in sentence.entities:
        covered[entity.start : entity.end] = True
    return covered


def _precision_and_recall(removed: Booleans, missing: Booleans) -> dict[str, float]:
    found = float((removed & missing).sum())
    return {
        "precision": found / max(1, int(removed.sum())),
        "recall": found / max(1, int(missing.sum())),
    }
