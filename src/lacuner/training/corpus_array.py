"""Arrays over all words, or all spans, of a corpus: one file each, mapped into memory.

What a training remembers of the whole corpus (predictions, weights) does not live in memory: it is
an npy file without pickle, from which batches take their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lacuner.files import written_aside
from lacuner.models import Model
from lacuner.models.batch import Output
from lacuner.models.batching import Examples
from lacuner.models.token_tagger import TokenTagger

Array = NDArray[Any]


class Layout:
    """Where the places of each sentence stand in one long array.

    The places of a sentence are its words, or its band of spans: words times widths.

    Args:
        lengths: Words of each sentence.
        max_width: Of the widest span; None for words.
    """

    def __init__(self, lengths: Sequence[int], max_width: int | None = None) -> None:
        self._shapes: list[tuple[int, ...]] = [
            (length,) if max_width is None else (length, min(length, max_width))
            for length in lengths
        ]
        counts = [int(np.prod(shape)) for shape in self._shapes]
        self._begins = np.concatenate([[0], np.cumsum(counts)]).astype(int).tolist()

    @classmethod
    def of(cls, model: Model, examples: Examples) -> Layout:
        """That of what a model says of examples."""
        width = None if isinstance(model, TokenTagger) else model.max_width
        return cls(examples.lengths, width)

    @property
    def places(self) -> int:
        """How many there are."""
        return int(self._begins[-1])

    def scatter(self, array: Array, numbers: Sequence[int], values: Tensor) -> None:
        """Writes what is known of a batch.

        Args:
            array: [places, ...].
            numbers: The sentences of the batch.
            values: [batch, words, (widths,) ...].
        """
        for rows, block in self._blocks(numbers, values):
            array[rows] = block

    def add(self, array: Array, numbers: Sequence[int], values: Tensor) -> None:
        """Adds what is known of a batch to what is there; see `scatter`."""
        for rows, block in self._blocks(numbers, values):
            array[rows] += block.astype(array.dtype)

    def rows(self, array: Array, number: int) -> Array:
        """The rows of a sentence.  # [places, ...]"""
        found: Array = np.asarray(array[self._rows(number)])
        return found

    def gather(self, array: Array, numbers: Sequence[int], output: Output) -> Tensor:
        """Reads the rows of a batch, zeros where there is no place.

        Args:
            array: [places, columns].
            numbers: The sentences of the batch.
            output: What a model says of them, for its shape and device.

        Returns:
            [batch, words, (widths,) columns], in single precision.
        """
        found = np.zeros((*output.mask.shape, array.shape[1]), dtype=np.float32)
        for row, number in enumerate(numbers):
            shape = self._shapes[number]
            block = np.asarray(array[self._rows(number)]).reshape(*shape, -1)
            found[row][tuple(slice(size) for size in shape)] = block
        return torch.from_numpy(found).to(output.scores.device)

    def _blocks(self, numbers: Sequence[int], values: Tensor) -> Iterator[tuple[slice, Array]]:
        """What is known of each sentence of a batch, and where it belongs."""
        for row, number in zip(values.detach().cpu().numpy(), numbers, strict=True):
            shape = self._shapes[number]
            block = row[tuple(slice(size) for size in shape)]
            yield self._rows(number), block.reshape(-1, *row.shape[len(shape) :])

    def _rows(self, number: int) -> slice:
        return slice(self._begins[number], self._begins[number + 1])


def write_array(
    path: Path, shape: tuple[int, ...], kind: type[Any], fill: Callable[[Array], None]
) -> None:
    """Makes an array on disk, written aside and renamed.

    Args:
        path: The file; one that is there is replaced.
        shape: Of the array.
        kind: Of its numbers.
        fill: Writes them into the mapped array.
    """
    with written_aside(path, overwrite=True) as aside:
        array = np.lib.format.open_memmap(aside, mode="w+", dtype=kind, shape=shape)
        fill(array)
        array.flush()
        del array


def read_array(path: Path) -> Array:
    """The array of a file, mapped into memory: only what is looked at is read."""
    array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    return array
