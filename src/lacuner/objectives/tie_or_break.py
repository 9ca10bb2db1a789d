"""Ties, breaks and types where they are known: the loss of AutoNER (Shang et al. 2018).

Gaps beside an unknown word are skipped. A chunk with several possible types learns that it is one
of them: minus the logarithm of their joint probability. Its gradient is that of the paper's
cross-entropy with the model's own distribution over the possible types as the (fixed) target.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from lacuner.errors import LacunerError
from lacuner.models.batch import Batch, Output
from lacuner.models.chunk_targets import chunk_targets, scores_of_chunks
from lacuner.objectives.loss import Loss


class TieOrBreakLoss:
    """Cross-entropy of known gaps, and of the types of known chunks; sums, by sentence.

    Chunks wider than the band are left out.
    """

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss; its parts are those of gaps and of types."""
        if output.gaps is None:
            raise LacunerError("Ties and breaks need a model that scores gaps.")
        told = chunk_targets(batch, output.scores.shape[-1] - 1)
        gaps = functional.binary_cross_entropy_with_logits(
            output.gaps[told.known], told.breaks[told.known].to(output.gaps), reduction="sum"
        )
        fits, scores = scores_of_chunks(output, told.chunks)
        agreeing = scores.masked_fill(~told.types[fits], -torch.inf)
        types = (torch.logsumexp(scores, 1) - torch.logsumexp(agreeing, 1)).sum()
        gaps, types = gaps / len(batch), types / len(batch)
        return Loss(gaps + types, {"gaps": float(gaps.detach()), "types": float(types.detach())})
