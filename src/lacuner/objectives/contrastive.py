"""Span contrastive learning: spans of one label together, those of different labels apart.

Si et al. 2022, "SCL-RAI"; "eq." below means an equation of that paper.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.span_roles import span_roles
from lacuner.objectives.loss import Loss
from lacuner.objectives.negative_sampling import SampledCrossEntropy

WEIGHT, TEMPERATURE = 0.1, 0.1  # λ and τ of the paper
SCALE = 1.0


def contrastive_loss(spans: Tensor, labels: Tensor, temperature: float = TEMPERATURE) -> Tensor:
    """The mean over anchors a of -1/(N_l - 1) Σ_p log(exp(d_ap/τ) / Σ_q exp(d_aq/τ)) (eq. 7-9).

    d is the cosine, p runs over the other spans of the anchor's label, q over those of all other
    labels; "no entity" is a label, too. A span that is alone with its label is no anchor. Without
    any anchor, or with one label only, the loss is 0.

    Args:
        spans: Representations.  # [spans, features]
        labels: Their labels.  # [spans]
        temperature: τ.
    """
    units = functional.normalize(spans, dim=1)
    likeness = units @ units.T / temperature  # d / τ  # [spans, spans]
    same = labels[:, None] == labels
    mates = same.sum(1) - 1  # N_l - 1
    anchors = (mates > 0) & (~same).any(1)
    if not bool(anchors.any()):
        return spans.sum() * 0.0
    likeness, same = likeness[anchors], same[anchors]
    # The denominator of eq. 9 does not depend on p, so that it leaves the sum over p.
    others = likeness.masked_fill(same, -torch.inf).logsumexp(1)
    itself = likeness.gather(1, anchors.nonzero())[:, 0]
    friends = (likeness * same).sum(1) - itself
    return (others - friends / mates[anchors]).mean()


class ContrastiveCrossEntropy:
    """(1 - λ) cross-entropy + λ contrastive loss (eq. 10), over entities and drawn negatives.

    Args:
        cross_entropy: Draws the negatives and has the first part.
        weight: λ, from 0 to 1.
        temperature: τ.
        scale: What the contrastive loss, a mean over anchors, is multiplied with first.

    Raises:
        UsageError: A weight outside of [0, 1], a temperature of 0 or less.
    """

    def __init__(
        self,
        cross_entropy: SampledCrossEntropy,
        *,
        weight: float = WEIGHT,
        temperature: float = TEMPERATURE,
        scale: float = SCALE,
    ) -> None:
        if not 0 <= weight <= 1 or temperature <= 0:
            raise UsageError(
                f"weight is {weight:g} and temperature {temperature:g}; the weight must be between "
                "0 and 1, and the temperature above 0."
            )
        self.cross_entropy = cross_entropy
        self.weight, self.temperature, self.scale = weight, temperature, scale

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss; its parts are those of the cross-entropy, and the contrast."""
        assert output.spans is not None  # the recipe takes features that have a representation
        roles = span_roles(output, batch)
        drawn = self.cross_entropy.sampler(output, batch, roles.unknown | roles.trusted, rng)
        cross = self.cross_entropy.of(output, batch, roles, drawn)
        chosen = roles.annotated | drawn
        contrast = self.scale * contrastive_loss(
            output.spans[chosen], roles.targets[chosen], self.temperature
        )
        total = (1 - self.weight) * cross.total + self.weight * contrast
        parts = {**cross.parts, "contrast": float(contrast.detach())}
        return Loss(total, parts, cross.counts)
