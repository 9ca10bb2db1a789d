"""A label, or none, for every span up to some width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lacuner.encoders.contract import Encoder
from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.precision import encoded
from lacuner.models.span_band import SpanBand
from lacuner.models.span_features import SPAN_FEATURES, band_mask
from lacuner.models.word_dropout import DROPOUT
from lacuner.suggestions import unknown_name


class SpanClassifier(SpanBand):
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

    Raises:
        UsageError: Features of an unknown kind, and whatever `SpanBand` refuses.
    """

    kind = "span_classifier"

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
        super().__init__(encoder, labels, max_width=max_width, hidden=hidden, dropout=dropout)
        if features not in SPAN_FEATURES:
            raise UsageError(unknown_name("kind of span features", features, SPAN_FEATURES))
        self.features = features
        self.head = SPAN_FEATURES[features](encoder.width, 1 + len(self.labels), max_width, hidden)

    def forward(self, batch: Batch) -> Output:
        """Scores of all spans.  # [batch, words, widths, 1 + labels]"""
        hidden = encoded(self.encoder, batch.inputs)  # [batch, words, width]
        words = hidden.shape[1]
        widths = min(self.max_width, words)
        scores, spans = self.head(self.dropout(hidden), widths)
        return Output(hidden, scores, band_mask(batch.lengths, words, widths), spans)

    def description(self) -> dict[str, Any]:
        """What `build_model` needs besides encoder and labels to build it again; fit for JSON."""
        return {**super().description(), "features": self.features}
