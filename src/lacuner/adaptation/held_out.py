"""Text that is kept from training, and how well its gaps are filled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from lacuner.adaptation.gaps import GapExamples
from lacuner.adaptation.packing import PackedText
from lacuner.encoders.windows import Longs
from lacuner.errors import UsageError
from lacuner.models.batching import batches_by_size
from lacuner.models.gap_filler import GapFiller

_MOST_ROWS = 200  # enough for a deviation of less than a point, and quickly read
_LARGEST_PERPLEXITY = 1e6


@dataclass(frozen=True)
class GapScore:
    """How well gaps were filled.

    Attributes:
        accuracy: Share of them whose best guess is right.
        loss: Mean of -log p(what stood there).
    """

    accuracy: float
    loss: float

    @property
    def perplexity(self) -> float:
        """Among how many pieces, all equally likely, the model might as well have guessed."""
        return min(math.exp(min(self.loss, 50.0)), _LARGEST_PERPLEXITY)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "accuracy": self.accuracy,
            "held_out_loss": self.loss,
            "perplexity": self.perplexity,
        }


def hold_out(text: PackedText, share: float, rng: np.random.Generator) -> tuple[Longs, Longs]:
    """Divides the rows of a text into those to train on and those to keep from it.

    Whole documents are kept, so that no row is measured whose neighbour was learnt; where the
    documents are too large for that, single rows are.

    Raises:
        UsageError: There is only one row.
    """
    if not 0 < share < 1:
        raise UsageError(f"The share of text to hold out is between 0 and 1, not {share}.")
    if len(text) < 2:
        raise UsageError(
            f"The text is too short: its {len(text.pieces)} pieces fit a single row, and one "
            "must be kept to measure on. Take more text, or a smaller length."
        )
    wanted = min(max(1, round(share * len(text))), _MOST_ROWS, len(text) - 1)
    sizes = np.bincount(text.documents)
    kept = np.zeros(len(sizes), dtype=bool)
    left = wanted
    for document in rng.permutation(np.flatnonzero(sizes)):
        if sizes[document] <= left:
            kept[document] = True
            left -= sizes[document]
    is_kept = kept[text.documents]
    if left == wanted:
        is_kept = np.isin(np.arange(len(text)), rng.permutation(len(text))[:wanted])
    return np.flatnonzero(~is_kept), np.flatnonzero(is_kept)


@torch.inference_mode()
def measure(model: GapFiller, examples: GapExamples, *, batch_pieces: int) -> GapScore:
    """Fills the gaps of examples, the same ones every time. Dropout is off meanwhile."""
    device = next(model.parameters()).device
    was_training = model.training
    model.eval()
    right = total = 0
    loss = 0.0
    for numbers in batches_by_size(examples.lengths, len(examples), max_words=batch_pieces):
        batch = examples.batch(numbers).to(device)
        targets = batch.inputs["targets"]  # [gaps]
        scores = model(batch).scores.float()  # [gaps, vocabulary]
        right += int((scores.argmax(-1) == targets).sum())
        loss += float(functional.cross_entropy(scores, targets, reduction="sum"))
        total += len(targets)
    model.train(was_training)
    return GapScore(right / total, loss / total)
