"""`lexicon_bert`: a transformer that sees the words of a lexicon after one of its layers (LEBERT).

Liu et al. 2021, "Lexicon Enhanced Chinese Sequence Labeling Using BERT Adapter".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from torch import Tensor, nn

from lacuner.corpus.sentence import Sentence
from lacuner.encoders.contract import Inputs
from lacuner.encoders.freezing import layers_of
from lacuner.encoders.lexicon_reader import LexiconEncoder, LexiconPieces, LexiconReader
from lacuner.encoders.word_attention import WordAttention
from lacuner.errors import UsageError


class LexiconAdapter(nn.Module):
    """Adds to the vector of a place what the lexicon's words there say (LEBERT, section 3.2).

    Args:
        width: Length of the vector of a place.
        word_width: Length of the vector of a word.
        dropout: Of the sum.
    """

    def __init__(self, width: int, word_width: int, dropout: float) -> None:
        super().__init__()
        self.transform = nn.Sequential(
            nn.Linear(word_width, width), nn.Tanh(), nn.Linear(width, width)
        )
        self.attention = WordAttention(width, width)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(width)

    def forward(self, places: Tensor, words: Tensor, slots: Tensor) -> Tensor:
        """The vectors of places, adapted.

        Args:
            places: # [..., width]
            words: The vectors of words.  # [words, word width]
            slots: The words of each place, 0 for none.  # [..., slots]

        Returns:
            # [..., width]
        """
        transformed = self.transform(words)  # eq. 3  # [words, width]
        said = self.attention(places, transformed, slots)  # eqs. 4, 5  # [..., width]
        adapted: Tensor = self.norm(self.dropout(places + said))  # eq. 6
        return adapted


class LexiconBertEncoder(LexiconEncoder):
    """Words to vectors by a transformer with a lexicon adapter after one of its layers.

    Args:
        reader: The transformer and the lexicon.
        layer: After which layer the words come in, from 1.
        dropout: Of the adapter.

    Raises:
        UsageError: There is no such layer.
    """

    def __init__(self, reader: LexiconReader, *, layer: int, dropout: float) -> None:
        super().__init__(reader)
        transformer = reader.transformer
        layers = layers_of(transformer.model)
        if layers is None:
            raise UsageError(
                f"The layers of '{transformer.name}' ({type(transformer.model).__name__}) are not "
                "one module each, so nothing can be put after one of them. Choose another encoder."
            )
        if not 1 <= layer <= len(layers):
            raise UsageError(
                f"There is no layer {layer}: '{transformer.name}' has {len(layers)}, counted "
                "from 1."
            )
        self.layer = layer
        hidden = transformer.model.config.hidden_size
        self.adapter = LexiconAdapter(hidden, reader.lexicon.width, dropout)
        self.width = transformer.width

    @classmethod
    def build(
        cls,
        sentences: Iterable[Sentence],
        *,
        layer: int = 1,
        dropout: float = 0.1,
        **arguments: Any,
    ) -> Self:
        """An encoder for a training corpus.

        Args:
            sentences: The training corpus.
            layer: After which layer the words come in, from 1.
            dropout: Of the adapter.
            arguments: Those of `LexiconReader.build`.

        Raises:
            UsageError: An argument that does not fit, or a transformer that cuts characters.
            DataError: The lexicon is not right.
        """
        reader = LexiconReader.build(sentences, **arguments)
        return cls(reader, layer=layer, dropout=dropout)

    @classmethod
    def load(cls, description: dict[str, Any], folder: Path) -> Self:
        """The encoder that `save` wrote, with weights that are still to be loaded."""
        reader = LexiconReader.load(description, folder)
        return cls(reader, layer=description["layer"], dropout=description["dropout"])

    def save(self, folder: Path) -> dict[str, Any]:
        """Writes transformer and lexicon without weights; returns the description for `load`."""
        return {
            "kind": "lexicon_bert",
            "layer": self.layer,
            "dropout": self.adapter.dropout.p,
            **self.reader.save(folder),
        }

    def collate(self, items: Sequence[LexiconPieces]) -> Inputs:
        """The tensors of a batch.

        Returns:
            Those of the transformer and of the lexicon's vectors, and `piece_slots`, the words
            over each piece [windows, pieces, slots].
        """
        by_window = []
        for item in items:
            slots = np.concatenate((np.zeros((1, self.reader.words), np.int64), item.slots))
            by_window += [slots[row] for row in item.pieces.window_words]
        return self._collated(items, by_window, "piece_slots")

    def forward(self, inputs: Inputs) -> Tensor:
        """The vectors of the words; those of padding are zero.  # [batch, words, width]"""
        words = self.reader.lexicon(inputs)  # [distinct, word width]

        def adapt(layer: nn.Module, given: Any, output: Any) -> Any:
            hidden = output[0] if isinstance(output, tuple) else output
            adapted = self.adapter(hidden, words, inputs["piece_slots"])
            return (adapted, *output[1:]) if isinstance(output, tuple) else adapted

        layers = layers_of(self.reader.transformer.model)
        assert layers is not None  # seen by __init__
        with layers[self.layer - 1].register_forward_hook(adapt):
            vectors: Tensor = self.reader.transformer(inputs)
        return vectors
