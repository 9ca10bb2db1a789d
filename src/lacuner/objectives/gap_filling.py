"""Cross-entropy of what stood in the gaps: masked language modelling (Devlin et al. 2019)."""

from __future__ import annotations

import torch
from torch.nn import functional

from lacuner.models.batch import Batch, Output
from lacuner.objectives.loss import Loss


class GapCrossEntropy:
    """The mean over gaps of -log p(what stood there).

    Needs a model that scores the vocabulary for each gap, and a batch whose inputs have `targets`.
    """

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss of a batch, and the share of gaps whose best guess is right."""
        targets = batch.inputs["targets"]  # [gaps]
        right = output.scores.argmax(-1) == targets
        return Loss(
            functional.cross_entropy(output.scores.float(), targets),
            parts={"accuracy": float(right.float().mean())},
        )
