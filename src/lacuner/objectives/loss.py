"""The fourth contract: an objective turns a model's output into a loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from lacuner.models.batch import Batch, Output


@dataclass(frozen=True)
class Loss:
    """What is minimised, and the parts of it that people want to see.

    Attributes:
        total: A scalar with a gradient.
        parts: Numbers to log.
        counts: Numbers that the loop adds up over an epoch, such as how many negatives were drawn.
    """

    total: Tensor
    parts: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


class Objective(Protocol):
    """Computes the loss of a batch. Randomness comes from the generator that is passed."""

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss: ...
