"""The BiLSTM encoder: word vectors, a character CNN, and a BiLSTM over both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from lacuner.corpus.sentence import Sentence
from lacuner.encoders.character_cnn import CharacterCNN
from lacuner.encoders.contract import Inputs
from lacuner.encoders.hiding import checked_share, draw_hidden
from lacuner.encoders.static_vectors import (
    SEEN_TWICE,
    are_characters,
    choose_words,
    fill_vectors,
    look_up,
    vectors_for,
)
from lacuner.encoders.two_way_lstm import read_both_ways
from lacuner.encoders.vocabulary import PADDING, RESERVED, UNKNOWN, Vocabulary
from lacuner.errors import UsageError

FREEZE_CHOICES = ("none", "embeddings")


class BiLSTMEncoder(nn.Module):
    """Words to vectors without a pretrained network.

    The vocabulary begins with the words whose vectors are trained; those of a file that the
    corpus does not hold follow, and stay as they are. Where words are characters, as in Chinese
    corpora, this is a BiLSTM over character vectors.

    Args:
        vocabulary: The words; those after the first `trainable` numbers stay as they are.
        characters: The characters; None leaves out the character CNN.
        trainable: How many numbers of the vocabulary are trained.
        word_width: Length of a word's vector.
        character_width: Length of a character's vector.
        filters: Length of the vector of a spelling.
        hidden: Width of the LSTM, each way.
        layers: Layers of the LSTM.
        dropout: Before, between and after them.
        pretrained: Whether vectors of a file are among the trained ones.
        hide: Share of the words that training takes for unknown ones, without a spelling.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        characters: Vocabulary | None,
        *,
        trainable: int,
        word_width: int,
        character_width: int = 30,
        filters: int = 50,
        hidden: int = 128,
        layers: int = 1,
        dropout: float = 0.33,
        pretrained: bool = False,
        hide: float = 0.0,
    ) -> None:
        super().__init__()
        self.hide = checked_share(hide)
        self.vocabulary, self.pretrained = vocabulary, pretrained
        self.trained = nn.Embedding(trainable, word_width, padding_idx=PADDING)
        self.kept = nn.Embedding(len(vocabulary) - trainable, word_width)
        self.kept.weight.requires_grad_(False)
        self.spelling = (
            CharacterCNN(characters, width=character_width, filters=filters)
            if characters is not None
            else None
        )
        self.lstm = nn.LSTM(
            word_width + (filters if characters is not None else 0),
            hidden,
            num_layers=layers,
            dropout=dropout if layers > 1 else 0.0,
            bidirectional=True,
            batch_first=True,
        )
        self.dropout = nn.Dropout(dropout)
        self.width = 2 * hidden
        self._description = {
            "kind": "bilstm",
            "trainable": trainable,
            "word_width": word_width,
            "character_width": character_width,
            "filters": filters,
            "hidden": hidden,
            "layers": layers,
            "dropout": dropout,
            "pretrained": pretrained,
        }

    @classmethod
    def build(
        cls,
        sentences: Iterable[Sentence],
        *,
        vectors: str | Path | None = None,
        most_frequent: int = 100_000,
        freeze: str | int = "none",
        word_width: int = 100,
        character_width: int = 30,
        filters: int | None = None,
        hidden: int = 128,
        layers: int = 1,
        dropout: float = 0.33,
        hide: float = 0.0,
    ) -> Self:
        """An encoder for the words of a corpus.

        Args:
            sentences: The training corpus.
            vectors: A file of word vectors (see `read_word_vectors`); None learns all of them.
            most_frequent: How many words of the file to keep that the corpus does not hold, for
                texts to come.
            freeze: `embeddings` leaves the vectors of the file as they are; `none` trains those
                of the corpus's words. What no file has is always learned.
            word_width: Length of learned word vectors; those of a file have their own.
            character_width: Length of a character's vector.
            filters: Length of the vector of a spelling, 0 for none; None takes 50, or 0 when the
                words are characters.
            hidden: Width of the LSTM, each way.
            layers: Layers of the LSTM.
            dropout: Before, between and after them.
            hide: Share of the words that training takes for unknown ones.

        Raises:
            UsageError: An argument that does not fit.
            DataError: The file of vectors is not right.
        """
        if freeze not in FREEZE_CHOICES:
            raise UsageError(f"A BiLSTM cannot freeze '{freeze}'. Right are none and embeddings.")
        counts = Counter(word for sentence in sentences for word in sentence.tokens)
        found = vectors_for(counts, vectors, most_frequent)
        trained, kept = choose_words(counts, found, train_found=freeze == "none")
        if filters is None:
            filters = 0 if are_characters(counts) else 50
        encoder = cls(
            Vocabulary([*trained, *kept]),
            _characters(counts) if filters else None,
            trainable=RESERVED + len(trained),
            word_width=word_width if found is None else found.matrix.shape[1],
            character_width=character_width,
            filters=filters,
            hidden=hidden,
            layers=layers,
            dropout=dropout,
            pretrained=found is not None and freeze == "none",
            hide=hide,
        )
        fill_vectors(encoder.trained, encoder.kept, encoder.vocabulary, found)
        return encoder

    @classmethod
    def load(cls, description: dict[str, Any], folder: Path) -> Self:
        """The encoder that `save` wrote, with weights that are still to be loaded."""
        filters = description["filters"]
        characters = Vocabulary.load(folder / "characters.jsonl") if filters else None
        return cls(Vocabulary.load(folder / "words.jsonl"), characters, **description)

    def save(self, folder: Path) -> dict[str, Any]:
        """Writes the vocabularies; returns the description for `load`."""
        self.vocabulary.save(folder / "words.jsonl")
        if self.spelling is not None:
            self.spelling.characters.save(folder / "characters.jsonl")
        return dict(self._description)

    def pretrained_parameters(self) -> list[nn.Parameter]:
        """The trained word vectors, if they come from a file."""
        return list(self.trained.parameters()) if self.pretrained else []

    def tokenise(self, sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
        """The words; all else is quick enough to be done batch by batch."""
        return [sentence.tokens for sentence in sentences]

    def size(self, item: tuple[str, ...]) -> int:
        """Its words."""
        return len(item)

    def collate(self, items: Sequence[tuple[str, ...]]) -> Inputs:
        """The tensors of a batch.

        Returns:
            `words`, their numbers [batch, words]; with characters also `spellings` of the
            distinct words [distinct, characters] and their `places` there [batch, words].
        """
        rows: dict[str, int] = {}
        for item in items:
            for word in item:
                rows.setdefault(word, len(rows))
        distinct = np.array([self.vocabulary.number_of_word(word) for word in rows], np.int64)
        places = np.zeros((len(items), max(map(len, items), default=0)), dtype=np.int64)
        words = np.full_like(places, PADDING)
        for number, item in enumerate(items):
            places[number, : len(item)] = [rows[word] for word in item]
            words[number, : len(item)] = distinct[places[number, : len(item)]]
        inputs = {"words": torch.from_numpy(words)}
        if self.spelling is not None:
            inputs["spellings"] = torch.from_numpy(self.spelling.spell(list(rows)))
            inputs["places"] = torch.from_numpy(places)
        return inputs

    def forward(self, inputs: Inputs) -> Tensor:
        """The vectors of the words; those of padding are zero.  # [batch, words, width]"""
        words = inputs["words"]
        is_word = words != PADDING
        if not is_word.any():
            return torch.zeros(*words.shape, self.width, device=words.device)
        hidden_ones = None
        if self.training and self.hide:
            hidden_ones = draw_hidden(is_word, self.hide)
            words = words.masked_fill(hidden_ones, UNKNOWN)
        features = look_up(words, self.trained, self.kept)  # [batch, words, word width]
        if self.spelling is not None:
            spelled = self.spelling(inputs["spellings"])[inputs["places"]]  # [batch, words, …]
            if hidden_ones is not None:
                spelled = spelled.masked_fill(hidden_ones[..., None], 0.0)
            features = torch.cat((features, spelled), dim=-1)
        hidden = read_both_ways(self.lstm, self.dropout(features), is_word)
        vectors: Tensor = self.dropout(hidden) * is_word[..., None]
        return vectors


def _characters(counts: Counter[str]) -> Vocabulary:
    characters: Counter[str] = Counter()
    for word, count in counts.items():
        for char in word:
            characters[char] += count
    return Vocabulary(sorted(char for char, count in characters.items() if count >= SEEN_TWICE))
