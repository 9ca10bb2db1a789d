"""Soft labels that a model gives the corpus itself, renewed while it learns from them."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from lacuner.errors import UsageError
from lacuner.models import Model
from lacuner.models.batch import Batch, Output
from lacuner.models.batching import Examples
from lacuner.objectives.known_labels import known_classes
from lacuner.objectives.soft_labels import (
    SoftLabels,
    hard_classes,
    sharpened_classes,
    sharpened_types,
    with_known,
)
from lacuner.suggestions import unknown_name
from lacuner.training.corpus_array import Layout
from lacuner.training.predictions import Predictions, write_predictions

TARGETS = ("types", "all", "hard")


def check_targets(targets: str, confidence: float) -> None:
    """Refuses what `SelfLabels` cannot make, before hours of training have led there.

    Raises:
        UsageError: There are no such targets, or no such confidence.
    """
    if targets not in TARGETS:
        raise UsageError(unknown_name("kind of self_training.targets", targets, TARGETS))
    if not 0 <= confidence <= 1:
        raise UsageError(
            f"self_training.confidence is {confidence:g}, but must be between 0 and 1."
        )


class SelfLabels:
    """What a model predicts of its own training corpus, as labels to learn from.

    Labels that somebody vouches for are not overruled by predictions.

    Args:
        model: Teacher and student in one: the student of now is the next teacher.
        examples: What it is trained on.
        targets: `types` sharpens types and keeps "entity or not" as it was at the beginning
            (RoSTER); `all` sharpens all classes (BOND); `hard` takes the likeliest class.
        confidence: Least probability of an entity (`types`) or of a class, below which a place
            teaches nothing new.
        batch_words: Most places for words in a batch, padding included.

    Raises:
        UsageError: There are no such targets, or no such confidence.
    """

    def __init__(
        self, model: Model, examples: Examples, *, targets: str, confidence: float, batch_words: int
    ) -> None:
        check_targets(targets, confidence)
        self._model, self._examples, self._batch_words = model, examples, batch_words
        self._layout = Layout.of(model, examples)
        self._targets, self._confidence = targets, confidence
        self._first: Predictions | None = None
        self._now: Predictions | None = None
        self._frequencies = torch.zeros(0)

    def make(self, path: Path, step: int) -> dict[str, int]:
        """Writes the predictions of the model of now.

        Returns:
            How many entity words, or entities, it expects.
        """
        write_predictions(
            path, self._model, self._examples, self._layout, batch_words=self._batch_words
        )
        found = Predictions([path], self._layout).frequencies()
        return {"expected_entities": round(float(found[1:].sum()))}

    def use(self, path: Path, first: Path) -> None:
        """Takes the predictions of a file from now on.

        Args:
            path: The latest predictions.
            first: Those of the beginning.
        """
        self._first = Predictions([first], self._layout)
        self._now = Predictions([path], self._layout)
        self._frequencies = self._now.frequencies()

    def __call__(self, batch: Batch, output: Output) -> SoftLabels:
        """The soft labels of a batch."""
        assert self._now is not None, "predictions are made before the first step"
        now = self._now.mean(batch, output)
        labels = self._labels(now, batch, output)
        return with_known(labels, *known_classes(self._model, output, batch))

    def _labels(self, now: Tensor, batch: Batch, output: Output) -> SoftLabels:
        frequencies = self._frequencies.to(now.device)
        if self._targets == "hard":
            return hard_classes(now, confidence=self._confidence)
        if self._targets == "all":
            return sharpened_classes(now, frequencies, confidence=self._confidence)
        assert self._first is not None, "the predictions of the beginning are kept"
        first = self._first.mean(batch, output)
        return sharpened_types(first, now, frequencies, confidence=self._confidence)
