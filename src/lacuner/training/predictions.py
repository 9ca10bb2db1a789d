"""Predictions of models on a whole corpus, in half precision on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lacuner.models import Model
from lacuner.models.batch import Batch, Output
from lacuner.models.batching import Examples
from lacuner.models.distribution import TINY, class_count, log_probabilities, outputs
from lacuner.training.corpus_array import Array, Layout, read_array, write_array

_CHUNK = 1 << 16  # rows that are added up at a time


def write_predictions(
    path: Path,
    model: Model,
    examples: Examples,
    layout: Layout,
    *,
    batch_words: int,
    offset: float = 0.0,
) -> None:
    """Writes the probabilities of all classes at all places.  # [places, classes]

    Args:
        path: The file.
        model: Who predicts; its dropout is off meanwhile.
        examples: What it predicts.
        layout: Where the places of each sentence stand.
        batch_words: Most places for words in a batch, padding included.
        offset: Taken off the scores of "no entity".
    """

    def fill(array: Array) -> None:
        said = outputs(model, examples, batch_words=batch_words, offset=offset)
        for numbers, _, output in said:
            chances = log_probabilities(model, output).exp() * output.mask[..., None]
            layout.scatter(array, numbers, chances.to(torch.float16))

    write_array(path, (layout.places, class_count(model)), np.float16, fill)


class Predictions:
    """What models predicted, read batch by batch.

    Args:
        paths: A file for each model.
        layout: Where the places of each sentence stand.
    """

    def __init__(self, paths: Sequence[Path], layout: Layout) -> None:
        self._arrays = [read_array(path) for path in paths]
        self._layout = layout

    def mean(self, batch: Batch, output: Output) -> Tensor:
        """The mean of their probabilities, which sum to 1 at every place (below eq. 6 of RoSTER).

        Returns:
            [batch, words, (widths,) classes]; zeros where there is no place.
        """
        gather = self._layout.gather
        total = torch.stack([gather(a, batch.numbers, output) for a in self._arrays]).sum(0)
        return total / total.sum(-1, keepdim=True).clamp(min=TINY)  # half precision sums to about 1

    def frequencies(self) -> Tensor:
        """The sum of the first model's probabilities over the corpus.  # [classes]"""
        (array, *_) = self._arrays
        total = np.zeros(array.shape[1])
        for begin in range(0, len(array), _CHUNK):
            total += array[begin : begin + _CHUNK].sum(0, dtype=np.float64)
        return torch.from_numpy(total).float()
