"""Dropout on the vectors of words, the same for all models."""

from __future__ import annotations

from torch import nn

from lacuner.errors import UsageError

DROPOUT = 0.1  # the default of models and recipes


def word_dropout(share: float) -> nn.Dropout:
    """Sets a share of the words' vectors to zero in training.

    Raises:
        UsageError: The share is outside of [0, 1).
    """
    if not 0 <= share < 1:
        raise UsageError(f"dropout is {share}, but must be at least 0 and below 1.")
    return nn.Dropout(share)
