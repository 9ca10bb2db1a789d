"""Where answers begin, where they end, and which beginning belongs to which end (Li et al. 2020).

One question a label; see `lacuner.encoders.question_reader`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from lacuner.encoders.contract import Encoder
from lacuner.models.batch import Batch, Output, Pointers
from lacuner.models.precision import encoded
from lacuner.models.span_band import SpanBand
from lacuner.models.span_features import band_mask, ends_along_band, sum_along_band
from lacuner.models.word_dropout import DROPOUT

_RARE = -3.0  # few words and spans are answers, so that "no" is where a new head begins


class MatchHead(nn.Module):
    """How well a beginning and an end fit: two layers over the vectors of both.

    Args:
        width: Length of a word's vector.
        hidden: Size of the hidden layer.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.start = nn.Linear(width, hidden)
        self.end = nn.Linear(width, hidden, bias=False)
        self.classify = nn.Linear(hidden, 1)

    def forward(self, words: Tensor, widths: int) -> Tensor:
        """Scores of spans.  # [rows, words, width] -> [rows, words, widths]"""
        pairs = functional.gelu(sum_along_band(self.start(words), self.end(words), widths))
        scores: Tensor = self.classify(pairs)
        return scores[..., 0]


class QuestionPointers(SpanBand):
    """Scores, for every label's question, all beginnings, all ends, and all pairs of them.

    A span is an answer if its first word is a beginning, its last word an end, and both match. So
    its score is the least of the three, that of "no entity" is 0, and decoding is that of spans.

    Args:
        encoder: Words to vectors, once for the question of every label.
        labels: The labels, in the order of their questions, numbered from 1.
        max_width: How many words an entity has at most; longer ones cannot be found.
        hidden: Size of the layer before the scores of pairs.
        dropout: Share of the words' vectors that is set to zero in training.
    """

    kind = "question_pointers"

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
        self.start = nn.Linear(encoder.width, 1)
        self.end = nn.Linear(encoder.width, 1)
        self.match = MatchHead(encoder.width, hidden)
        for pointer in (self.start, self.end, self.match.classify):
            nn.init.constant_(pointer.bias, _RARE)

    def forward(self, batch: Batch) -> Output:
        """Scores of all spans [batch, words, widths, 1 + labels], and the pointers behind them."""
        hidden = encoded(self.encoder, batch.inputs)  # [batch, labels, words, width]
        words = hidden.shape[2]
        widths = min(self.max_width, words)
        asked = self.dropout(hidden.flatten(0, 1))  # [batch * labels, words, width]

        def by_label(scores: Tensor) -> Tensor:
            return scores.reshape(-1, hidden.shape[1], *scores.shape[1:]).movedim(1, -1)

        pointers = Pointers(
            by_label(self.start(asked)[..., 0]),  # [batch, words, labels]
            by_label(self.end(asked)[..., 0]),  # [batch, words, labels]
            by_label(self.match(asked, widths)),  # [batch, words, widths, labels]
        )
        ends = torch.stack(ends_along_band(pointers.ends, widths), 2)
        least = torch.minimum(
            torch.minimum(pointers.starts[:, :, None], ends), pointers.matches
        )  # [batch, words, widths, labels]
        mask = band_mask(batch.lengths, words, widths)
        return Output(hidden.mean(1), functional.pad(least, (1, 0)), mask, pointers=pointers)
