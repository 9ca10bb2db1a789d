"""A label, or none, for every span up to some width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

from lacuner.encoders.contract import Encoder
from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.label_numbers import number_labels
from lacuner.models.span_features import SPAN_FEATURES, band_mask
from lacuner.models.word_dropout import DROPOUT, word_dropout
from lacuner.suggestions import unknown_name


class SpanClassifier(nn.Module):
    """Scores every span of at most `max_width` words.

    The band of a batch is as wide as its longest sentence allows, so that short sentences cost
    less. Spans of the same words get the same scores whatever the batch.

    Args:
        encoder: Words to vectors.
        labels: The labels, in the order of their numbers from 1; 0 is "no entity".
        max_width: How many words an entity has at most; longer ones cannot be found.
        features: How a span is described: `endpoints`, `interaction` or `biaffine`.
        hidden: Size of the layer before the scores.
        dropout: Share of the words' vectors that is set to zero in training.

    Attributes:
        encoder: As given.
        labels: As given.
        label_numbers: The number of each label.
        max_width: As given.

    Raises:
        UsageError: No label, a label given twice, a size below 1, features of an unknown kind,
            dropout outside of [0, 1).
    """

    def __init__(
        self,
        encoder: Encoder,
        labels: Sequence[str],
        *,
        max_width: int = 10,
        features: str = "endpoints",
        hidden: int = 256,
        dropout: float = DROPOUT,
    ) -> None:
        super().__init__()
        if features not in SPAN_FEATURES:
            raise UsageError(unknown_name("kind of span features", features, SPAN_FEATURES))
        if max_width < 1 or hidden < 1:
            raise UsageError(f"max_width ({max_width}) and hidden ({hidden}) must be at least 1.")
        self.encoder: Encoder = encoder
        self.labels = tuple(labels)
        self.label_numbers = number_labels(self.labels)
        self.max_width = max_width
        self.features = features
        self.hidden = hidden
        self.dropout = word_dropout(dropout)
        self.head = SPAN_FEATURES[features](encoder.width, 1 + len(self.labels), max_width, hidden)

    def forward(self, batch: Batch) -> Output:
        """Scores of all spans.  # [batch, words, widths, 1 + labels]"""
        hidden = self.encoder(batch.inputs)  # [batch, words, width]
        words = hidden.shape[1]
        widths = min(self.max_width, words)
        scores, spans = self.head(self.dropout(hidden), widths)
        return Output(hidden, scores, band_mask(batch.lengths, words, widths), spans)

    def description(self) -> dict[str, Any]:
        """What `build_model` needs besides encoder and labels to build it again; fit for JSON."""
        return {
            "kind": "span_classifier",
            "max_width": self.max_width,
            "features": self.features,
            "hidden": self.hidden,
            "dropout": self.dropout.p,
        }
