"""Generalized cross-entropy: between cross-entropy, which learns noise, and MAE, which is slow.

Meng et al. 2021, "RoSTER" (after Zhang & Sabuncu 2018); "eq." below means its equations.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.targets import tag_targets
from lacuner.models.token_tagger import TokenTagger, two_parts
from lacuner.objectives.loss import Loss

Q = 0.7  # of the paper
WARMUP = 1  # not in the paper, whose encoder is larger
_CROSS_ENTROPY = 1e-7  # so small a q is 0: single precision could not tell them apart

Weights = Callable[[Batch, Output], Tensor]
"""How much the two labels of each word count.  # [batch, words, 2]"""


def generalized_cross_entropy(log_probabilities: Tensor, q: float) -> Tensor:
    """(1 - f^q) / q (eq. 3) from log f; its limit -log f for q = 0, and 1 - f for q = 1.

    The gradient by log f is -f^q: bounded at both ends, where eq. 4 divides by f^(1 - q).

    Args:
        log_probabilities: log f, of the label that is given.  # [...]
        q: From 0 (cross-entropy) to 1 (mean absolute error).

    Returns:
        The loss of each.  # [...]
    """
    if q < _CROSS_ENTROPY:
        return -log_probabilities
    return -torch.expm1(q * log_probabilities) / q  # eq. 3, without the difference of near numbers


class NoiseRobustTagging:
    """Generalized cross-entropy on both parts of a tagger's head (eq. 5).

    Every word learns whether it is in an entity; words of entities learn their label, too. Each
    part is a mean over the words that count for it, as in the paper's public code: labels, of which
    there are fewer, weigh as much as the decision "entity or not". A word without a label counts as
    O, unless its weight says otherwise; words of ambiguous spans are left out. Where somebody
    vouches for the labels there is no noise to be robust to, and cross-entropy takes its place: it
    learns faster, and cannot settle for O everywhere.

    Args:
        model: A tagger with the scheme `io`, for its tags.
        q: From 0 (cross-entropy) to 1 (mean absolute error).
        warmup: Epochs that learn by cross-entropy first. The gradient of a bounded loss vanishes at
            words that a network is wrong about: one that knows nothing yet can end where all words
            are O, and stay there.
        weights: How much the entity part and the label part of each word count; None counts all.

    Raises:
        UsageError: q or warmup is no such number, or the tagger has other tags.
    """

    def __init__(
        self,
        model: TokenTagger,
        *,
        q: float = Q,
        warmup: int = WARMUP,
        weights: Weights | None = None,
    ) -> None:
        if not 0 <= q <= 1 or warmup < 0:
            raise UsageError(
                f"q is {q:g} and warmup {warmup}; q must be between 0 and 1, warmup at least 0."
            )
        if model.tag_set.scheme != "io":
            raise UsageError(
                f"This loss needs the tagging scheme io, not {model.tag_set.scheme}: with others a "
                "label is more than a type."
            )
        self.tag_set = model.tag_set
        self.q, self.warmup = q, warmup
        self.weights = weights

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss; its parts are those of "in an entity or not" and of the label."""
        targets, settled = tag_targets(batch, self.tag_set)
        logs = label_log_probabilities(output.scores, targets)  # [batch, words, 2]
        counted = torch.stack([settled, settled & (targets > 0)], -1).to(logs.dtype)
        if self.weights is not None:
            counted = counted * self.weights(batch, output).to(logs)  # w_i of eq. 5
        losses = generalized_cross_entropy(logs, 0.0 if batch.epoch < self.warmup else self.q)
        losses = torch.where(vouched_words(batch, targets)[..., None], -logs, losses)
        sums, counts = (losses * counted).sum((0, 1)), counted.sum((0, 1))  # eq. 5
        entity, label = (sums / counts.clamp(min=1)).unbind()
        return Loss(
            entity + label, {"entity": float(entity.detach()), "label": float(label.detach())}
        )


def vouched_words(batch: Batch, targets: Tensor) -> Tensor:
    """Words whose labels are surely right: of complete sentences, or known to lie outside.

    Args:
        batch: The sentences.
        targets: The tags that are given; 0 is O.  # [batch, words]

    Returns:
        [batch, words].
    """
    return batch.complete[:, None] | (batch.outside & (targets == 0))


def label_log_probabilities(scores: Tensor, targets: Tensor) -> Tensor:
    """How probable a model finds both parts of the labels that words have.

    Args:
        scores: Of IO tags.  # [batch, words, 1 + labels]
        targets: The tags that are given; 0 is O.  # [batch, words]

    Returns:
        Logarithms of the probability of "in an entity" or of "not", whichever is given, and of the
        label, 0 for O.  # [batch, words, 2]
    """
    entity, labels = two_parts(scores)
    is_entity = targets > 0
    of_entity = functional.logsigmoid(torch.where(is_entity, entity, -entity))
    of_label = labels.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return torch.stack([of_entity, torch.where(is_entity, of_label, 0.0)], -1)
