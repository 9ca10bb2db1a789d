"""Labels with degrees: what self-training makes of a model's own predictions.

Meng et al. 2021, "RoSTER" (eq. 8) sharpens types only and keeps the decision "entity or not"; Liang
et al. 2020, "BOND" sharpens all classes, and learns from confident places alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.models.distribution import TINY


@dataclass(frozen=True)
class SoftLabels:
    """What each place should come to, in two parts, and how much that counts.

    Attributes:
        entity: Probability of being anything but the first class.  # [...]
        types: Distribution of the other classes, if it is.  # [..., classes - 1]
        entity_weight: How much the first part counts.  # [...]
        type_weight: How much the second part counts.  # [...]
    """

    entity: Tensor
    types: Tensor
    entity_weight: Tensor
    type_weight: Tensor


def as_predicted(probabilities: Tensor) -> SoftLabels:
    """The prediction of a teacher itself.

    By the chain rule, KL of whole distributions is that of "entity or not", and that of types as
    often as there is an entity: hence the weight of types.

    Args:
        probabilities: Of all classes.  # [..., classes]
    """
    entity = probabilities[..., 1:].sum(-1).clamp(0, 1)
    types = _normalised(probabilities[..., 1:])
    return SoftLabels(entity, types, torch.ones_like(entity), entity)


def sharpened(probabilities: Tensor, frequencies: Tensor) -> Tensor:
    """p² / g, normalised: sure predictions surer, frequent classes no more frequent (eq. 8).

    Args:
        probabilities: f, of the classes.  # [..., classes]
        frequencies: g, their sums over the corpus.  # [classes]

    Returns:
        Distributions; zeros where there is nothing to sharpen.  # [..., classes]
    """
    # A class that is nowhere predicted has p = g = 0, and gets nothing.
    return _normalised(probabilities.square() / frequencies.clamp(min=TINY))


def sharpened_types(
    first: Tensor, now: Tensor, frequencies: Tensor, *, confidence: float
) -> SoftLabels:
    """Sharp types where the model is sure of an entity; entities as they were at the beginning.

    Args:
        first: What the model predicted when self-training began.  # [..., classes]
        now: What it predicted lately.  # [..., classes]
        frequencies: Sums of the latter over the corpus.  # [classes]
        confidence: Least probability of an entity whose type is learnt.
    """
    entity = first[..., 1:].sum(-1).clamp(0, 1)
    types = sharpened(now[..., 1:], frequencies[1:])  # eq. 8, "excluding the non-entity class"
    sure = now[..., 1:].sum(-1) >= confidence
    return SoftLabels(entity, types, torch.ones_like(entity), sure.to(entity))


def sharpened_classes(now: Tensor, frequencies: Tensor, *, confidence: float) -> SoftLabels:
    """All classes sharpened, at places where the result is sure (BOND).

    Args:
        now: What the teacher predicted.  # [..., classes]
        frequencies: Sums of that over the corpus.  # [classes]
        confidence: Least probability of the likeliest class.
    """
    labels = sharpened(now, frequencies)
    return _where(labels.max(-1)[0] >= confidence, labels)


def hard_classes(now: Tensor, *, confidence: float) -> SoftLabels:
    """The likeliest class alone, at places where it is likely enough (BOND's hard labels).

    Args:
        now: What the teacher predicted.  # [..., classes]
        confidence: Least probability of the likeliest class.
    """
    highest, number = now.max(-1)
    return _where(highest >= confidence, functional.one_hot(number, now.shape[-1]).to(now))


def with_known(labels: SoftLabels, numbers: Tensor, known: Tensor) -> SoftLabels:
    """Soft labels with hard ones in their place, wherever somebody vouches for those.

    Args:
        labels: Soft labels.
        numbers: Classes.  # [...]
        known: Where they are vouched for.  # [...]
    """
    is_entity = (numbers > 0).to(labels.entity)
    types = functional.one_hot((numbers - 1).clamp(min=0), labels.types.shape[-1])
    return SoftLabels(
        torch.where(known, is_entity, labels.entity),
        torch.where(known[..., None], types.to(labels.types), labels.types),
        torch.where(known, 1.0, labels.entity_weight),
        torch.where(known, is_entity, labels.type_weight),
    )


def _where(sure: Tensor, labels: Tensor) -> SoftLabels:
    """Whole distributions as labels of the places that are sure."""
    whole = as_predicted(labels)
    weight = sure.to(labels)
    return SoftLabels(whole.entity, whole.types, weight, weight * whole.type_weight)


def _normalised(values: Tensor) -> Tensor:
    return values / values.sum(-1, keepdim=True).clamp(min=TINY)
