"""The noise-robust loss of NRCES: cross-entropy on entities, a fading one on everything else.

Kang et al. 2022, "NRCES"; "eq." below means an equation of that paper.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.span_roles import span_roles
from lacuner.objectives.loss import Loss
from lacuner.objectives.negative_sampling import missampling_counts
from lacuner.suggestions import unknown_name

W, KEEP = 2.0, 0.5  # for many missing labels; half of the negatives, as in the paper
FIRST = 1  # the epoch that is under way counts
TERMS = ("ce", "cs", "ce+cs")
POSITIVES, NEGATIVES = "ce", "cs"  # eq. 9
SIGNS = ("minus", "printed")
SIGN = "minus"


class NoiseRobustCrossEntropy:
    """Annotated entities learn by L_ce, a random part of all other spans by L_cs (eq. 9).

    L_cs = β L_ce + (1 - β) L_sigmoid (eq. 7) with β = exp(-e / w) in epoch e (eq. 8). The paper
    prints L_sigmoid = σ(z_O) (eq. 6), which pushes the score of "no entity" down; with a minus,
    it is the bounded pull towards "no entity" that the paper's text argues for, and whose gradient
    vanishes for spans that the model is sure are entities.

    Args:
        w: How many epochs, about, negatives learn by cross-entropy: small for many missing labels.
        first: The number e of the first epoch: 1, or 0, where the whole first epoch is plain
            cross-entropy.
        sign: `minus` or `printed`.
        keep: Share of the unlabelled spans that is used in a step.
        positives: What entities learn by, `ce`, `cs` or their sum `ce+cs`.
        negatives: What unlabelled spans learn by.
        trust: Negatives that somebody vouches for all count, by plain cross-entropy.

    Raises:
        UsageError: A value that none of these can have.
    """

    def __init__(
        self,
        *,
        w: float = W,
        first: int = FIRST,
        sign: str = SIGN,
        keep: float = KEEP,
        positives: str = POSITIVES,
        negatives: str = NEGATIVES,
        trust: bool = True,
    ) -> None:
        for what in (positives, negatives):
            if what not in TERMS:
                raise UsageError(unknown_name("term of the loss", what, TERMS))
        if sign not in SIGNS:
            raise UsageError(unknown_name("sign", sign, SIGNS))
        if w <= 0 or first < 0 or not 0 <= keep <= 1:
            raise UsageError(
                f"w is {w:g}, first {first} and keep {keep:g}; w must be above 0, first at least "
                "0, and keep between 0 and 1."
            )
        self.w, self.first, self.sign, self.keep, self.trust = w, first, sign, keep, trust
        self.positives, self.negatives = positives, negatives

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss; its parts are those of entities and of negatives."""
        roles = span_roles(output, batch)
        trusted = roles.trusted if self.trust else torch.zeros_like(roles.trusted)
        others = roles.unknown | (roles.trusted & ~trusted)
        luck = torch.rand(others.shape, generator=rng).to(others.device)
        kept = others & (luck < self.keep)
        beta = math.exp(-(batch.epoch + self.first) / self.w)  # eq. 8

        def loss(spans: Tensor, terms: str) -> Tensor:
            return self._terms(output.scores[spans], roles.targets[spans], terms, beta).sum()

        sentences = max(1, len(batch))
        entities = loss(roles.annotated, self.positives) / sentences
        negatives = (loss(kept, self.negatives) + loss(trusted, "ce")) / sentences
        return Loss(
            entities + negatives,  # eq. 9
            {"entities": float(entities.detach()), "negatives": float(negatives.detach())},
            missampling_counts(output, batch, kept),
        )

    def _terms(self, scores: Tensor, targets: Tensor, terms: str, beta: float) -> Tensor:
        """The loss of each span.

        Args:
            scores: Logits.  # [spans, labels]
            targets: Their labels.  # [spans]
            terms: One of `TERMS`.
            beta: The weight of cross-entropy within L_cs.
        """
        cross = functional.cross_entropy(scores, targets, reduction="none")  # eq. 4
        if terms == "ce":
            return cross
        sigmoid = torch.sigmoid(scores.gather(1, targets[:, None])[:, 0])  # eq. 6
        if self.sign == "minus":
            sigmoid = 1 - sigmoid  # the same gradient as -σ, and a loss that ends at 0
        mixed = beta * cross + (1 - beta) * sigmoid  # eq. 7
        return cross + mixed if terms == "ce+cs" else mixed
