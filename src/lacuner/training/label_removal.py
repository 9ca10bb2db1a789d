"""Noisy labels are removed while a tagger trains: the pass over the corpus, and its weights."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lacuner.models.batch import Batch, Output
from lacuner.models.batching import Examples, batches_by_size
from lacuner.models.distribution import outputs
from lacuner.models.targets import tag_targets
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.generalized_cross_entropy import label_log_probabilities, vouched_words
from lacuner.objectives.label_removal import (
    RARE,
    THRESHOLD,
    Booleans,
    WordLabels,
    believed_labels,
    drawn_words,
)
from lacuner.training.corpus_array import Array, Layout, read_array, write_array

_SENTENCES = 64  # whose labels are looked at together


class LabelRemoval:
    """Which labels of a corpus a tagger still believes: weights of 0 and 1.

    Args:
        model: The tagger, with the scheme `io`.
        examples: What it is trained on.
        dropped: Share of the words without a label that it never sees.
        threshold: Labels with at most this probability are removed; 0 removes none.
        rare: A type of which more than this share would be removed keeps all its words.
        seed: Draws the words that are dropped.
        batch_words: Most places for words in a batch, padding included.
    """

    def __init__(
        self,
        model: TokenTagger,
        examples: Examples,
        *,
        dropped: float,
        threshold: float = THRESHOLD,
        rare: float = RARE,
        seed: int,
        batch_words: int,
    ) -> None:
        self._model, self._examples, self._batch_words = model, examples, batch_words
        self._layout = Layout(examples.lengths)
        self._dropped, self._seed = dropped, seed
        self._threshold, self._rare = threshold, rare
        self._weights: Array | None = None

    def make(self, path: Path, step: int) -> dict[str, int]:
        """Writes the weights of all words for a model of now; at step 0 all labels are believed.

        Returns:
            How many words were dropped, and how many labels were removed of each part.
        """
        labels = self._labels
        drawn = drawn_words(labels, self._dropped, np.random.default_rng(self._seed))
        believed: Booleans = np.ones((len(drawn), 2), dtype=bool)
        if step:
            believed = believed_labels(
                labels, self._agreement(), threshold=self._threshold, rare=self._rare
            )

        def fill(array: Array) -> None:
            array[:] = believed & np.stack([drawn, np.ones_like(drawn)], 1)

        write_array(path, believed.shape, np.bool_, fill)
        is_entity = labels.targets > 0
        return {
            "dropped_words": int(np.sum(~drawn)),
            "removed_outside": int(np.sum(drawn & ~believed[:, 0])),
            "removed_types": int(np.sum(is_entity & ~believed[:, 1])),
        }

    def use(self, path: Path) -> None:
        """Takes the weights of a file from now on."""
        self._weights = read_array(path)

    def weights(self, batch: Batch, output: Output) -> Tensor:
        """The weights of both parts of the words of a batch.  # [batch, words, 2]"""
        assert self._weights is not None, "weights are made before the first step"
        return self._layout.gather(self._weights, batch.numbers, output)

    @cached_property
    def _labels(self) -> WordLabels:
        """The labels of all words."""
        targets = np.zeros(self._layout.places, dtype=np.int64)
        trusted: Booleans = np.zeros(self._layout.places, dtype=bool)
        for numbers in batches_by_size(
            self._examples.lengths, _SENTENCES, max_words=self._batch_words
        ):
            batch = self._examples.batch(numbers)
            given, _ = tag_targets(batch, self._model.tag_set)
            self._layout.scatter(targets, numbers, given)
            self._layout.scatter(trusted, numbers, vouched_words(batch, given))
        return WordLabels(targets, trusted)

    def _agreement(self) -> NDArray[np.float32]:
        """How probable the model finds both parts of the label of each word.  # [words, 2]"""
        agreement = np.zeros((self._layout.places, 2), dtype=np.float32)
        for numbers, batch, output in outputs(
            self._model, self._examples, batch_words=self._batch_words
        ):
            given, _ = tag_targets(batch, self._model.tag_set)
            agreed = label_log_probabilities(output.scores, given).exp().float()
            self._layout.scatter(agreement, numbers, agreed)
        return agreement
