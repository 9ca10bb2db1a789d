"""Hiding a part of what an encoder reads in training, so that it learns contexts, not names.

A model that has learnt by heart which names have a label finds no others. Behind the mask every
name looks alike. (Lample et al. 2016 replace rare words in the same way, to train the vector of
unknown ones.)
"""

from __future__ import annotations

import torch
from torch import Tensor

from lacuner.errors import UsageError


def checked_share(share: float) -> float:
    """The share, if it is one.

    Raises:
        UsageError: It is not.
    """
    if not 0 <= share < 1:
        raise UsageError(f"encoder.hide is {share:g}, but must be at least 0 and below 1.")
    return share


def draw_hidden(there: Tensor, share: float) -> Tensor:
    """Which places to hide, a share of those that are there."""
    return there & (torch.rand(there.shape, device=there.device) < share)
