"""A partial CRF that is told how many words belong to entities (Effland & Collins 2021).

What the labels leave open, a share settles: over a batch, the expected share of words in entities
must lie near a number that people know roughly. So nobody has to vouch for negatives.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.objectives.loss import Loss
from lacuner.objectives.partial_crf import PartialCrfLikelihood

RATIO, MARGIN, WEIGHT = 0.15, 0.05, 10.0  # rho, gamma and lambda of the paper's experiments


class ExpectedEntityRatio:
    """The partial likelihood plus a hinge on the expected share of words in entities.

    Args:
        likelihood: The likelihood of the labels.
        ratio: The share that is expected (rho).
        margin: How far off it may be without a cost (gamma).
        weight: What a distance of 1 beyond the margin costs (lambda).

    Raises:
        UsageError: A ratio outside of (0, 1), or a negative margin or weight.
    """

    def __init__(
        self,
        likelihood: PartialCrfLikelihood,
        *,
        ratio: float = RATIO,
        margin: float = MARGIN,
        weight: float = WEIGHT,
    ) -> None:
        if not 0 < ratio < 1:
            raise UsageError(
                f"The ratio is {ratio}, but as a share of words it must lie between 0 and 1."
            )
        if margin < 0 or weight < 0:
            raise UsageError(f"margin ({margin}) and weight ({weight}) must not be negative.")
        self.likelihood = likelihood
        self.ratio, self.margin, self.weight = ratio, margin, weight

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss; its parts are those of the likelihood, the share that was found, the hinge."""
        told = self.likelihood(output, batch, rng)
        found = self.expected_ratio(output)
        hinge = ((found - self.ratio).abs() - self.margin).clamp(
            min=0
        )  # Effland & Collins, the loss L_u
        parts = {**told.parts, "ratio": float(found.detach()), "hinge": float(hinge.detach())}
        return Loss(told.total + self.weight * hinge, parts)

    def expected_ratio(self, output: Output) -> Tensor:
        """The expected share of words in entities, over the whole batch."""
        marginals = self.likelihood.crf.marginals(output.scores, output.mask)
        words = output.mask.sum()
        return (words - marginals[:, :, 0].sum()) / words  # tag 0 is O
