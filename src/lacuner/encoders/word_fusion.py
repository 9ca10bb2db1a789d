"""`word_fusion`: the output of a transformer beside the lexicon's words, and a BiLSTM over both.

The BERT+Word of Liu et al. 2021 (LEBERT), without its tagging layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from lacuner.corpus.sentence import Sentence
from lacuner.encoders.contract import Inputs
from lacuner.encoders.lexicon_reader import LexiconEncoder, LexiconPieces, LexiconReader
from lacuner.encoders.two_way_lstm import read_both_ways
from lacuner.encoders.word_attention import WordAttention
from lacuner.errors import UsageError


class WordFusionEncoder(LexiconEncoder):
    """Words to vectors by a transformer, a lexicon, and a BiLSTM over both.

    Args:
        reader: The transformer and the lexicon.
        hidden: Width of the LSTM, each way.
        dropout: Before and after it.

    Raises:
        UsageError: An LSTM without width.
    """

    def __init__(self, reader: LexiconReader, *, hidden: int, dropout: float) -> None:
        super().__init__(reader)
        if hidden < 1:
            raise UsageError(f"'hidden' of word_fusion is 1 or more, not {hidden}.")
        widths = reader.transformer.width, reader.lexicon.width
        self.attention = WordAttention(*widths)
        self.lstm = nn.LSTM(sum(widths), hidden, bidirectional=True, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.width = 2 * hidden

    @classmethod
    def build(
        cls,
        sentences: Iterable[Sentence],
        *,
        hidden: int = 256,
        dropout: float = 0.5,
        **arguments: Any,
    ) -> Self:
        """An encoder for a training corpus.

        Args:
            sentences: The training corpus.
            hidden: Width of the LSTM, each way.
            dropout: Before and after it.
            arguments: Those of `LexiconReader.build`.

        Raises:
            UsageError: An argument that does not fit, or a transformer that cuts characters.
            DataError: The lexicon is not right.
        """
        reader = LexiconReader.build(sentences, **arguments)
        return cls(reader, hidden=hidden, dropout=dropout)

    @classmethod
    def load(cls, description: dict[str, Any], folder: Path) -> Self:
        """The encoder that `save` wrote, with weights that are still to be loaded."""
        reader = LexiconReader.load(description, folder)
        return cls(reader, hidden=description["hidden"], dropout=description["dropout"])

    def save(self, folder: Path) -> dict[str, Any]:
        """Writes transformer and lexicon without weights; returns the description for `load`."""
        return {
            "kind": "word_fusion",
            "hidden": self.lstm.hidden_size,
            "dropout": self.dropout.p,
            **self.reader.save(folder),
        }

    def collate(self, items: Sequence[LexiconPieces]) -> Inputs:
        """The tensors of a batch.

        Returns:
            Those of the transformer and of the lexicon's vectors, and `word_slots`, the words of
            the lexicon over each word [batch, words, slots].
        """
        return self._collated(items, [item.slots for item in items], "word_slots")

    def forward(self, inputs: Inputs) -> Tensor:
        """The vectors of the words; those of padding are zero.  # [batch, words, width]"""
        read: Tensor = self.reader.transformer(inputs)  # [batch, words, transformer's width]
        is_word = inputs["shapes"] > 0  # [batch, words]
        if not is_word.any():
            return read.new_zeros(*is_word.shape, self.width)
        said = self.attention(read, self.reader.lexicon(inputs), inputs["word_slots"])
        features = self.dropout(torch.cat((read, said.to(read.dtype)), dim=-1))
        hidden = read_both_ways(self.lstm, features, is_word)
        vectors: Tensor = self.dropout(hidden) * is_word[..., None]
        return vectors
