"""Beginnings, ends and matches, each a yes or no for every label (Li et al. 2020, section 3.4)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.errors import LacunerError, UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.targets import in_band, span_targets, words_of
from lacuner.objectives.loss import Loss

WEIGHTS = (1.0, 1.0, 1.0)


class PointerCrossEntropy:
    """L = alpha L_start + beta L_end + gamma L_match; sums, by sentence.

    A missing label means "no answer". Ambiguous spans, the words in them, and entities wider than
    the band (these in L_match alone) are left out.

    Args:
        start: Weight of L_start (alpha).
        end: Weight of L_end (beta).
        match: Weight of L_match (gamma).

    Raises:
        UsageError: A negative weight.
    """

    def __init__(
        self, *, start: float = WEIGHTS[0], end: float = WEIGHTS[1], match: float = WEIGHTS[2]
    ) -> None:
        if min(start, end, match) < 0:
            raise UsageError(f"A weight of the loss is negative: {start:g}, {end:g}, {match:g}.")
        self.start, self.end, self.match = start, end, match

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss; its parts are those of beginnings, ends and matches, with their weights."""
        pointers = output.pointers
        if pointers is None:
            raise LacunerError("Beginnings and ends need a model that points at them.")
        sentence, start, end, label = batch.entities.unbind(1)
        starts, ends = torch.zeros_like(pointers.starts), torch.zeros_like(pointers.ends)
        starts[sentence, start, label - 1] = 1
        ends[sentence, end - 1, label - 1] = 1
        matches = torch.zeros_like(pointers.matches)
        sentence, start, width, label = in_band(batch.entities, matches.shape[2]).unbind(1)
        matches[sentence, start, width, label - 1] = 1
        _, settled_spans = span_targets(output, batch)
        words = _settled_words(batch)
        parts = {
            "start": self.start * _cross_entropy(pointers.starts, starts, words),
            "end": self.end * _cross_entropy(pointers.ends, ends, words),
            "match": self.match * _cross_entropy(pointers.matches, matches, settled_spans),
        }
        sentences = max(1, len(batch))
        total = torch.stack(list(parts.values())).sum() / sentences  # eq. 7 of Li et al.
        return Loss(total, {name: float(part.detach()) / sentences for name, part in parts.items()})


def _settled_words(batch: Batch) -> Tensor:
    """Words that no ambiguous span covers.  # [batch, words]"""
    row, offset = words_of(batch.ambiguous)
    words = batch.words.clone()
    words[batch.ambiguous[row, 0], batch.ambiguous[row, 1] + offset] = False
    return words


def _cross_entropy(scores: Tensor, targets: Tensor, settled: Tensor) -> Tensor:
    """The sum over what is settled and all labels."""
    return functional.binary_cross_entropy_with_logits(
        scores[settled], targets[settled], reduction="sum"
    )
