"""`flat_lattice`: characters and the words of a lexicon in one sequence (FLAT, Li et al. 2020)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from lacuner.corpus.sentence import Sentence
from lacuner.encoders.bilstm import FREEZE_CHOICES
from lacuner.encoders.contract import Inputs
from lacuner.encoders.hiding import checked_share, draw_hidden
from lacuner.encoders.lattice import Lattice, LatticeTable, lattice_of
from lacuner.encoders.lattice_attention import LatticeAttention
from lacuner.encoders.lexicon_vectors import WORDS_A_PLACE, LexiconVectors
from lacuner.encoders.static_vectors import choose_words, fill_vectors, look_up, vectors_for
from lacuner.encoders.vocabulary import PADDING, RESERVED, UNKNOWN, Vocabulary
from lacuner.errors import UsageError

_LOGGER = logging.getLogger("lacuner")
_LIMIT = 300  # characters of a lattice: attention costs the square of characters and words


class LatticeLayer(nn.Module):
    """Attention over the lattice and two linear layers, each added and normalised.

    Args:
        width: Length of the vector of a span.
        heads: Heads of the attention.
        dropout: Of what is added.
    """

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = LatticeAttention(width, heads)
        self.forward_layers = nn.Sequential(
            nn.Linear(width, 3 * width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(3 * width, width)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, spans: Tensor, heads: Tensor, tails: Tensor, there: Tensor) -> Tensor:
        """See `LatticeAttention`.  # [batch, spans, width]"""
        seen = self.attention(spans, heads, tails, there)
        spans = self.norms[0](spans + self.dropout(seen))
        thought: Tensor = self.norms[1](spans + self.dropout(self.forward_layers(spans)))
        return thought


class FlatLatticeEncoder(nn.Module):
    """Characters to vectors by attention over characters and words.

    A sentence longer than the window is read in windows that overlap; a character takes its
    vector from the window in whose middle it stands. Nothing is cut off.

    Args:
        vocabulary: The characters (or words); those after the first `trainable` numbers stay as
            they are.
        lexicon: The words.
        trainable: How many numbers of the vocabulary are trained.
        character_width: Length of a character's vector.
        words: A word of the lexicon stays if it is among so many longest ones over any character;
            over another one there may be more, see `lattice_of`.
        window: Most characters in a lattice.
        layers: How many layers there are.
        heads: Heads of the attention.
        head_width: Width of each; even with all heads together.
        dropout: Of what goes into the layers, and in them.
        pretrained: Whether vectors of a file are among the trained ones.
        hide: Share of the characters that training takes for unknown ones, and of the words that
            it leaves out.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        lexicon: LexiconVectors,
        *,
        trainable: int,
        character_width: int,
        words: int,
        window: int,
        layers: int,
        heads: int,
        head_width: int,
        dropout: float,
        pretrained: bool,
        hide: float = 0.0,
    ) -> None:
        super().__init__()
        self.hide = checked_share(hide)
        for name, value in (("words", words), ("window", window), ("layers", layers),
                            ("heads", heads), ("head_width", head_width)):  # fmt: skip
            if value < 1:
                raise UsageError(f"'{name}' of a lattice is 1 or more, not {value}.")
        self.width = heads * head_width
        if self.width % 2:
            raise UsageError(f"{heads} heads of {head_width} are {self.width}: right is even.")
        self.vocabulary, self.lexicon = vocabulary, lexicon
        self.words, self.window, self.pretrained = words, window, pretrained
        self.trained = nn.Embedding(trainable, character_width, padding_idx=PADDING)
        self.kept = nn.Embedding(len(vocabulary) - trainable, character_width)
        self.kept.weight.requires_grad_(False)
        self.from_characters = nn.Linear(character_width, self.width)
        self.from_words = nn.Linear(lexicon.width, self.width)
        self.layers = nn.ModuleList(LatticeLayer(self.width, heads, dropout) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)
        self._told = False
        self._description = {
            "kind": "flat_lattice", "trainable": trainable, "character_width": character_width,
            "words": words, "window": window, "layers": layers, "heads": heads,
            "head_width": head_width, "dropout": dropout, "pretrained": pretrained,
        }  # fmt: skip

    @classmethod
    def build(
        cls,
        sentences: Iterable[Sentence],
        *,
        lexicon: str | Path,
        vectors: str | Path | None = None,
        most_frequent: int = 100_000,
        freeze: str | int = "none",
        character_width: int = 100,
        words: int = WORDS_A_PLACE,
        case: str = "ignore",
        most_words: int | None = None,
        window: int | None = None,
        layers: int = 1,
        heads: int = 8,
        head_width: int = 20,
        dropout: float = 0.3,
        hide: float = 0.0,
    ) -> Self:
        """An encoder for a training corpus.

        Args:
            sentences: The training corpus.
            lexicon: A file of word vectors, see `vector_rows`.
            vectors: A file of vectors of characters (or words); None learns them.
            most_frequent: How many of its entries to keep that the corpus does not hold.
            freeze: `embeddings` leaves the vectors of that file as they are; `none` trains them.
            character_width: Length of learned vectors of characters; a file has its own.
            words: A word of the lexicon stays if it is among so many longest ones over any
                character; over another one there may be more, see `lattice_of`.
            case: `ignore`, or `exact` if case counts in the lexicon.
            most_words: Take so many of the first words of the lexicon; None takes all.
            window: Most characters in a lattice; None takes 300.
            layers: How many layers there are.
            heads: Heads of the attention.
            head_width: Width of each.
            dropout: Of what goes into the layers, and in them.
            hide: Share of characters and words that training does not see.

        Raises:
            UsageError: An argument that does not fit.
            DataError: A file is not right.
        """
        if freeze not in FREEZE_CHOICES:
            raise UsageError(f"A lattice cannot freeze '{freeze}'. Right are none and embeddings.")
        sentences = list(sentences)
        counts = Counter(word for sentence in sentences for word in sentence.tokens)
        found = vectors_for(counts, vectors, most_frequent)
        trained, kept = choose_words(counts, found, train_found=freeze == "none")
        encoder = cls(
            Vocabulary([*trained, *kept]),
            LexiconVectors.build(sentences, lexicon, case=case, most_words=most_words),
            trainable=RESERVED + len(trained),
            character_width=character_width if found is None else found.matrix.shape[1],
            words=words,
            window=_LIMIT if window is None else window,
            layers=layers,
            heads=heads,
            head_width=head_width,
            dropout=dropout,
            pretrained=found is not None and freeze == "none",
            hide=hide,
        )
        fill_vectors(encoder.trained, encoder.kept, encoder.vocabulary, found)
        return encoder

    @classmethod
    def load(cls, description: dict[str, Any], folder: Path) -> Self:
        """The encoder that `save` wrote, with weights that are still to be loaded."""
        vocabulary = Vocabulary.load(folder / "words.jsonl")
        return cls(vocabulary, LexiconVectors.load(folder), **description)

    def save(self, folder: Path) -> dict[str, Any]:
        """Writes the vocabulary and the lexicon; returns the description for `load`."""
        self.vocabulary.save(folder / "words.jsonl")
        self.lexicon.save(folder)
        return dict(self._description)

    def pretrained_parameters(self) -> list[nn.Parameter]:
        """The vectors of the lexicon, and those of characters that come from a file."""
        characters = self.trained.parameters() if self.pretrained else ()
        return [*self.lexicon.parameters(), *characters]

    def tokenise(self, sentences: Sequence[Sentence]) -> list[Lattice]:
        """The lattice of each sentence; says once that some are longer than the window."""
        self._tell([sentence for sentence in sentences if len(sentence) > self.window])
        number = self.vocabulary.number_of_word
        return [
            lattice_of(
                np.array([number(word) for word in sentence.tokens], dtype=np.int64),
                found,
                words=self.words,
                window=self.window,
                overlap=self.window // 10,
            )
            for sentence, found in zip(sentences, self.lexicon.lexicon.find(sentences), strict=True)
        ]

    def _tell(self, long: Sequence[Sentence]) -> None:
        if long and not self._told:
            self._told = True
            _LOGGER.warning(
                "%d sentences are longer than a lattice of %d, the first is '%s' with %d: they are "
                "read in windows that overlap, and nothing is left out. encoder.window can be "
                "larger, at the cost of its square.",
                len(long), self.window, long[0].id, len(long[0]),
            )  # fmt: skip

    def size(self, item: Lattice) -> int:
        """Its characters and words."""
        return sum(len(window.characters) + len(window.numbers) for window in item.windows)

    def collate(self, items: Sequence[Lattice]) -> Inputs:
        """The tensors of a batch.

        Returns:
            Those of the lexicon's vectors and of `LatticeTable`; `numbers` are rows of the former,
            and `places` has the shape of the batch [batch, words].
        """
        table = LatticeTable.of(items)
        inputs, numbers = self.lexicon.collate(table.numbers)
        names = ("characters", "heads", "tails", "sources", "targets")
        return {
            **inputs,
            **{name: torch.from_numpy(getattr(table, name)) for name in names},
            "numbers": torch.from_numpy(numbers),
            "places": torch.zeros(table.shape, dtype=torch.bool),
        }

    def forward(self, inputs: Inputs) -> Tensor:
        """The vectors of the words; those of padding are zero.  # [batch, words, width]"""
        batch, longest = inputs["places"].shape
        characters, numbers = inputs["characters"], inputs["numbers"]
        if not len(characters):
            return torch.zeros(batch, longest, self.width, device=characters.device)
        if self.training and self.hide:
            seen = characters != PADDING
            characters = characters.masked_fill(draw_hidden(seen, self.hide), UNKNOWN)
            numbers = numbers.masked_fill(draw_hidden(numbers > 0, self.hide), 0)
        spans = torch.cat(
            (
                self.from_characters(look_up(characters, self.trained, self.kept)),
                self.from_words(self.lexicon(inputs))[numbers],
            ),
            dim=1,
        )  # [windows, spans, width]
        there = torch.cat((characters != PADDING, numbers > 0), dim=1)
        spans = self.dropout(spans)
        for layer in self.layers:
            spans = layer(spans, inputs["heads"], inputs["tails"], there)
        taken: Tensor = spans.flatten(0, 1).index_select(0, inputs["sources"])
        vectors = taken.new_zeros(batch * longest, self.width)
        return vectors.index_copy(0, inputs["targets"], taken).view(batch, longest, -1)
