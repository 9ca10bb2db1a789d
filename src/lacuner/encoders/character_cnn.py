"""The spelling of words: a convolution over their characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lacuner.encoders.vocabulary import PADDING, Vocabulary

_LONGEST = 64  # of a longer word, such as a web address, the two ends are read


class CharacterCNN(nn.Module):
    """A vector of a word's spelling: the strongest answers of filters over three characters.

    Args:
        characters: The known characters.
        width: Length of a character's vector.
        filters: Length of the vector of a spelling.
    """

    def __init__(self, characters: Vocabulary, *, width: int, filters: int) -> None:
        super().__init__()
        self.characters = characters
        self.embedding = nn.Embedding(len(characters), width, padding_idx=PADDING)
        self.convolution = nn.Conv1d(width, filters, kernel_size=3, padding=1)

    def spell(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of the characters of each word.  # [words, characters]"""
        ends = [_ends(word) for word in words]
        spellings = np.full((len(ends), max(map(len, ends), default=1)), PADDING, dtype=np.int64)
        for row, word in enumerate(ends):
            spellings[row, : len(word)] = [self.characters.number(char) for char in word]
        return spellings

    def forward(self, spellings: Tensor) -> Tensor:
        """From [words, characters] to [words, filters]; padding has no say."""
        answers = self.convolution(self.embedding(spellings).transpose(1, 2))
        padding = (spellings == PADDING)[:, None, :]
        return torch.relu(answers.masked_fill(padding, float("-inf")).amax(dim=2))


def _ends(word: str) -> str:
    return word if len(word) <= _LONGEST else word[: _LONGEST // 2] + word[-_LONGEST // 2 :]
