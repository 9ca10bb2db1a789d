"""Learning from predictions: a student comes close to soft labels, of a teacher or its own.

One mechanism for ensembles and self-training, for words and spans, and for all heads: the first
class is "no entity", the others are types. Meng et al. 2021, "RoSTER"; "eq." means its equations.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.models import Model
from lacuner.models.batch import Batch, Output
from lacuner.models.batching import Examples
from lacuner.models.distribution import log_probabilities
from lacuner.models.token_tagger import two_parts
from lacuner.objectives.loss import Loss
from lacuner.objectives.soft_labels import SoftLabels

LabelSource = Callable[[Batch, Output], SoftLabels]
"""The soft labels of a batch, in the shape of a model's output."""


def divergences(labels: SoftLabels, logs: Tensor) -> tuple[Tensor, Tensor]:
    """Kullback-Leibler divergence of both parts, from the labels to a prediction; no weights yet.

    Args:
        labels: Soft labels.
        logs: Predicted log-probabilities of the classes.  # [..., classes]

    Returns:
        That of "entity or not" and that of types; both are 0 where the prediction is the label.
        # [...], [...]
    """
    logit, types = two_parts(logs)
    entity = functional.binary_cross_entropy_with_logits(logit, labels.entity, reduction="none")
    entity = entity + torch.special.xlogy(labels.entity, labels.entity)
    entity = entity + torch.special.xlogy(1 - labels.entity, 1 - labels.entity)
    kind = torch.special.xlogy(labels.types, labels.types) - labels.types * types
    return entity, kind.sum(-1)


class Distillation:
    """Soft labels, on the sentences and, where there is one, on an augmented view of them.

    On the second view only types are learnt, where it and the first agree on the type: where they
    do not, a replaced word may have changed it.

    Args:
        model: The student.
        labels: Where soft labels come from.
        augmented: The same sentences with other words, number by number; None does without.
    """

    def __init__(
        self, model: Model, labels: LabelSource, *, augmented: Examples | None = None
    ) -> None:
        self.model, self.labels, self.augmented = model, labels, augmented

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss; its parts are those of "entity or not", of types, and of the second view."""
        labels = self.labels(batch, output)
        logs = log_probabilities(self.model, output)
        entity, types = divergences(labels, logs)
        sentences = max(1, len(batch))
        entity = (entity * labels.entity_weight)[output.mask].sum() / sentences
        kind = (types * labels.type_weight)[output.mask].sum() / sentences  # eq. 6, eq. 9
        total = entity + kind
        parts = {"entity": float(entity.detach()), "types": float(kind.detach())}
        if self.augmented is not None:
            second = self._second_view(labels, logs, batch, output.mask) / sentences
            total = total + second
            parts["augmented"] = float(second.detach())
        return Loss(total, parts)

    def _second_view(self, labels: SoftLabels, logs: Tensor, batch: Batch, mask: Tensor) -> Tensor:
        """KL of types on the other words (eq. 9, second sum)."""
        assert self.augmented is not None
        twin = self.augmented.batch(batch.numbers, epoch=batch.epoch).to(logs.device)
        other = log_probabilities(self.model, self.model(twin))
        _, types = divergences(labels, other)
        agree = logs[..., 1:].argmax(-1) == other[..., 1:].argmax(-1)
        losses: Tensor = (types * labels.type_weight * agree)[mask]
        return losses.sum()
