"""Attention of a place of a sentence over the lexicon's words there."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class WordAttention(nn.Module):
    """Bilinear attention: a = softmax(h W Vᵀ), z = Σ a v (LEBERT, eqs. 4 and 5).

    Args:
        width: Length of the vector of a place.
        word_width: Length of the vector of a word.
    """

    def __init__(self, width: int, word_width: int) -> None:
        super().__init__()
        self.bilinear = nn.Linear(width, word_width, bias=False)

    def forward(self, places: Tensor, words: Tensor, slots: Tensor) -> Tensor:
        """The words of each place as one vector; zero where there is none.

        Args:
            places: The vectors of places.  # [..., width]
            words: The vectors of words.  # [words, word width]
            slots: The words of each place, 0 for none.  # [..., slots]

        Returns:
            # [..., word width]
        """
        there = slots > 0
        chosen = words[slots]  # [..., slots, word width]
        queries = self.bilinear(places)[..., None, :]  # [..., 1, word width]
        scores = (queries * chosen).sum(-1)  # [..., slots]
        scores = scores.masked_fill(~there, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1) * there  # LEBERT, eq. 4; nothing where all slots are empty
        said: Tensor = (weights[..., None] * chosen).sum(-2)  # LEBERT, eq. 5
        return said
