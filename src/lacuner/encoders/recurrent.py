"""A BiLSTM over the words of any encoder, as published models have it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from lacuner.corpus.sentence import Sentence
from lacuner.encoders import load_encoder
from lacuner.encoders.contract import Encoder, Inputs
from lacuner.encoders.two_way_lstm import read_both_ways
from lacuner.errors import UsageError

_LENGTHS = "recurrent_lengths"  # a name that no encoder below has


class RecurrentEncoder(nn.Module):
    """The words of an encoder, read both ways once more.

    Args:
        encoder: Words to vectors.
        layers: How many LSTMs lie above one another.
        hidden: Their width, each way.
        dropout: Before the first, between them and behind the last.

    Attributes:
        encoder: As given.
        width: Twice the hidden width.

    Raises:
        UsageError: A size below 1, or dropout outside of [0, 1).
    """

    def __init__(self, encoder: Encoder, *, layers: int, hidden: int, dropout: float) -> None:
        super().__init__()
        if layers < 1 or hidden < 1 or not 0 <= dropout < 1:
            raise UsageError(
                f"A BiLSTM of {layers} layers of {hidden} with a dropout of {dropout:g} cannot be: "
                "layers and width are at least 1, dropout is at least 0 and below 1."
            )
        self.encoder: Encoder = encoder
        self.width = 2 * hidden
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(
            encoder.width,
            hidden,
            num_layers=layers,
            bidirectional=True,
            batch_first=True,
            dropout=dropout if layers > 1 else 0.0,
        )

    @classmethod
    def load(cls, description: dict[str, Any], folder: Path) -> Self:
        """The encoder that `save` wrote, with weights that are still to be loaded."""
        arguments = dict(description)
        return cls(load_encoder(arguments.pop("encoder"), folder), **arguments)

    def save(self, folder: Path) -> dict[str, Any]:
        """Writes the encoder below; returns the description for `load`."""
        return {
            "kind": "recurrent",
            "encoder": self.encoder.save(folder),
            "layers": self.lstm.num_layers,
            "hidden": self.lstm.hidden_size,
            "dropout": self.dropout.p,
        }

    def pretrained_parameters(self) -> list[nn.Parameter]:
        """Those of the encoder below."""
        return self.encoder.pretrained_parameters()

    def tokenise(self, sentences: Sequence[Sentence]) -> list[tuple[int, Any]]:
        """The number of words of each sentence, and what the encoder below makes of it."""
        items = self.encoder.tokenise(sentences)
        return [(len(sentence), item) for sentence, item in zip(sentences, items, strict=True)]

    def size(self, item: tuple[int, Any]) -> int:
        """As the encoder below has it."""
        return self.encoder.size(item[1])

    def collate(self, items: Sequence[tuple[int, Any]]) -> Inputs:
        """The tensors of the encoder below, and the lengths of the sentences."""
        below = self.encoder.collate([item for _, item in items])
        return {**below, _LENGTHS: torch.tensor([length for length, _ in items])}

    def forward(self, inputs: Inputs) -> Tensor:
        """The vectors of the words; those of padding are zero.  # [batch, words, width]"""
        given = dict(inputs)
        lengths = given.pop(_LENGTHS)
        read = self.encoder(given)  # [batch, words, width below]
        places = torch.arange(read.shape[1], device=read.device)
        is_word = places[None, :] < lengths[:, None]  # [batch, words]
        if not is_word.any():
            return read.new_zeros(*is_word.shape, self.width)
        states = read_both_ways(self.lstm, self.dropout(read), is_word)
        vectors: Tensor = self.dropout(states) * is_word[..., None]
        return vectors
