"""What all models share that score spans of at most so many words: a band, never an n×n table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from torch import nn

from lacuner.encoders.contract import Encoder
from lacuner.errors import UsageError
from lacuner.models.label_numbers import number_labels
from lacuner.models.word_dropout import DROPOUT, word_dropout


class SpanBand(nn.Module):
    """An encoder, labels, and how wide spans are; the heads are those of each model.

    Args:
        encoder: Words to vectors.
        labels: The labels, in the order of their numbers from 1; 0 is "no entity".
        max_width: How many words an entity has at most; longer ones cannot be found.
        hidden: Size of the layers before the scores.
        dropout: Share of the words' vectors that is set to zero in training.

    Attributes:
        kind: The model's name in `MODELS`.
        encoder: As given.
        labels: As given.
        label_numbers: The number of each label.
        max_width: As given.

    Raises:
        UsageError: No label, a label given twice, a size below 1, dropout outside of [0, 1).
    """

    kind: ClassVar[str]

    def __init__(
        self,
        encoder: Encoder,
        labels: Sequence[str],
        *,
        max_width: int = 10,
        hidden: int = 256,
        dropout: float = DROPOUT,
    ) -> None:
        super().__init__()
        if max_width < 1 or hidden < 1:
            raise UsageError(f"max_width ({max_width}) and hidden ({hidden}) must be at least 1.")
        self.encoder: Encoder = encoder
        self.labels = tuple(labels)
        self.label_numbers = number_labels(self.labels)
        self.max_width = max_width
        self.hidden = hidden
        self.dropout = word_dropout(dropout)

    def description(self) -> dict[str, Any]:
        """What `build_model` needs besides encoder and labels to build it again; fit for JSON."""
        return {
            "kind": self.kind,
            "max_width": self.max_width,
            "hidden": self.hidden,
            "dropout": self.dropout.p,
        }
