"""Spans that are drawn to be no entity, with tags of their own: negative sampling for taggers.

Two-step learning (IJSWIS 20(1), 2024), step 2: of the spans of words tagged O, ⌈γ·s⌉ of a sentence
of s words get the type NON. Drawn spans do not overlap, or there would be no tags for them.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lacuner.corpus.tag_set import TagSet
from lacuner.errors import UsageError
from lacuner.models.targets import places_of, words_of


class NonEntities:
    """Draws spans anew whenever it is asked.

    Args:
        tag_set: The tags; its last label is the type of what is drawn.
        rate: γ, from 0 to 1.
        max_width: Words of the widest span; None draws spans of any width.

    Raises:
        UsageError: No such rate or width.
    """

    def __init__(self, tag_set: TagSet, *, rate: float, max_width: int | None = None) -> None:
        check_sampling(rate, max_width)
        self._tag_set, self._rate, self._max_width = tag_set, rate, max_width

    def __call__(
        self, targets: Tensor, free: Tensor, lengths: Tensor, rng: torch.Generator
    ) -> tuple[Tensor, int]:
        """Tags with those of drawn spans among them.

        Args:
            targets: Tags.  # [batch, words]
            free: Words that may be in a drawn span.  # [batch, words]
            lengths: Words of each sentence.  # [batch]
            rng: Where the draw comes from.

        Returns:
            Tags [batch, words], and how many spans were drawn.
        """
        if not self._rate:
            return targets, 0
        seed = int(torch.randint(2**62, (1,), generator=rng))
        draw = np.random.default_rng(seed)
        spans = [
            (row, start, end)
            for row, (words, length) in enumerate(
                zip(free.cpu().numpy(), lengths.tolist(), strict=True)
            )
            for start, end in drawn_spans(
                words, math.ceil(round(self._rate * length, 6)), draw, self._max_width
            )
        ]
        rows = torch.tensor(spans, dtype=torch.long, device=targets.device).reshape(-1, 3)
        row, offset = words_of(rows)
        sentence, start, end = rows[row].unbind(1)
        places = self._tag_set.places
        first = 1 + (len(self._tag_set.labels) - 1) * places
        targets = targets.clone()
        targets[sentence, start + offset] = first + places_of(offset, end - start, self._tag_set)
        return targets, len(spans)


def check_sampling(rate: float, max_width: int | None) -> None:
    """Refuses what cannot be drawn.

    Raises:
        UsageError: No such rate or width.
    """
    if not 0 <= rate <= 1:
        raise UsageError(f"sampling.gamma is {rate:g}, but must be between 0 and 1.")
    if max_width is not None and max_width < 1:
        raise UsageError(f"sampling.max_width is {max_width}, but must be at least 1 word.")


def drawn_spans(
    free: NDArray[np.bool_], count: int, rng: np.random.Generator, max_width: int | None = None
) -> list[tuple[int, int]]:
    """Spans of free words, one after another, each with equal chance among those still possible.

    Args:
        free: Words that may be in a span.  # [words]
        count: How many to draw; fewer are where no more fit.
        rng: Where the draw comes from.
        max_width: Words of the widest; None draws any.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], free.astype(np.int8), [0]])))
    runs = [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]
    drawn: list[tuple[int, int]] = []
    while runs and len(drawn) < count:
        ways = [_spans_by_width(end - start, max_width) for start, end in runs]
        up_to = np.cumsum([way.sum() for way in ways])  # spans of this run and those before
        number = int(rng.integers(up_to[-1]))
        chosen = int(np.searchsorted(up_to, number, side="right"))
        (start, end), way = runs.pop(chosen), ways[chosen]
        number -= int(up_to[chosen] - way.sum())
        shorter = int(np.searchsorted(way.cumsum(), number, side="right"))  # widths before its own
        begin = start + number - int(way[:shorter].sum())
        drawn.append((begin, begin + shorter + 1))
        runs += [run for run in ((start, begin), (begin + shorter + 1, end)) if run[0] < run[1]]
    return drawn


def _spans_by_width(words: int, max_width: int | None) -> NDArray[np.int64]:
    """How many spans of 1, 2, … words a run has.  # [widths]"""
    return words - np.arange(min(words, max_width or words))
