"""Angle-based scores: k - 1 numbers a word, compared with k directions of equal rank.

Zhang & Liu 2014. A plain head may add any constant to all scores of a word and decide the same, so
that one score of one word says little beside the same score of another. Here the scores of a word
always sum to zero, and the score of a tag can be compared between words.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def simplex(count: int) -> Tensor:
    """The corners of a centred simplex: unit vectors, equal angles, summing to zero.

    Args:
        count: k, how many, at least 2.

    Returns:
        W_1 … W_k.  # [count, count - 1]
    """
    width = count - 1
    corners = torch.empty(count, width, dtype=torch.double)
    corners[0] = width**-0.5  # W_1 = (k-1)^(-1/2) · 1
    # W_j = -(1 + √k) / (k-1)^(3/2) · 1 + √(k / (k-1)) · e_{j-1}
    corners[1:] = -(1 + math.sqrt(count)) / width**1.5
    corners[1:] += math.sqrt(count / width) * torch.eye(width, dtype=torch.double)
    return corners.float()


class AngleHead(nn.Module):
    """Scores of tags by the angle to a corner of the simplex.

    Args:
        width: Length of a word's vector.
        tags: k, how many tags there are.
    """

    def __init__(self, width: int, tags: int) -> None:
        super().__init__()
        self.direction = nn.Linear(width, tags - 1)
        self._corners: Tensor
        # Known from the number of tags, so not kept with the weights.
        self.register_buffer("_corners", simplex(tags), persistent=False)

    def forward(self, words: Tensor) -> Tensor:
        """The decision vector (hᵀW_1, …, hᵀW_k), which sums to zero.  # [batch, words, tags]"""
        directions: Tensor = self.direction(words)  # h: [batch, words, tags - 1]
        return directions @ self._corners.T
