"""Chunks and their types: the model of AutoNER (Shang et al. 2018).

Between neighbouring words there is a tie or a break; the words between two breaks are a chunk; a
chunk has a label, or none. Where an entity ends and what it is are learnt apart, so that one can be
known without the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lacuner.encoders.contract import Encoder
from lacuner.models.batch import Batch, Output
from lacuner.models.precision import encoded
from lacuner.models.span_band import SpanBand
from lacuner.models.span_features import EndpointHead, band_mask
from lacuner.models.word_dropout import DROPOUT


class GapHead(nn.Module):
    """The score of a break between neighbouring words, from both of them.

    Args:
        width: Length of a word's vector.
        hidden: Size of the hidden layer.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.left = nn.Linear(width, hidden)
        self.right = nn.Linear(width, hidden, bias=False)
        self.classify = nn.Linear(hidden, 1)

    def forward(self, words: Tensor) -> Tensor:
        """Scores of breaks.  # [batch, words, width] -> [batch, words - 1]"""
        pairs = torch.relu(self.left(words[:, :-1]) + self.right(words[:, 1:]))
        scores: Tensor = self.classify(pairs)
        return scores[:, :, 0]


class TieOrBreak(SpanBand):
    """Scores every gap between words, and every span of at most `max_width` words as a chunk.

    Args:
        encoder: Words to vectors.
        labels: The labels, in the order of their numbers from 1; 0 is "no entity".
        max_width: How many words an entity has at most; longer chunks get no label.
        hidden: Size of the layers before the scores.
        dropout: Share of the words' vectors that is set to zero in training.
    """

    kind = "tie_or_break"

    def __init__(
        self,
        encoder: Encoder,
        labels: Sequence[str],
        *,
        max_width: int = 10,
        hidden: int = 256,
        dropout: float = DROPOUT,
    ) -> None:
        super().__init__(encoder, labels, max_width=max_width, hidden=hidden, dropout=dropout)
        self.gaps = GapHead(encoder.width, hidden)
        self.types = EndpointHead(encoder.width, 1 + len(self.labels), self.max_width, self.hidden)

    def forward(self, batch: Batch) -> Output:
        """Scores of breaks [batch, words - 1] and of types [batch, words, widths, 1 + labels]."""
        hidden = encoded(self.encoder, batch.inputs)  # [batch, words, width]
        dropped = self.dropout(hidden)
        words = hidden.shape[1]
        widths = min(self.max_width, words)
        types, spans = self.types(dropped, widths)
        mask = band_mask(batch.lengths, words, widths)
        return Output(hidden, types, mask, spans, gaps=self.gaps(dropped))
