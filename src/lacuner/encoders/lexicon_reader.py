"""A transformer and a lexicon that read the same sentences: what encoders with both share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import nn

from lacuner.corpus.sentence import Sentence
from lacuner.encoders.contract import Inputs
from lacuner.encoders.lexicon_vectors import WORDS_A_PLACE, LexiconVectors
from lacuner.encoders.named_transformer import check_reads_characters, named_transformer
from lacuner.encoders.pieces import Pieces
from lacuner.encoders.transformer import TransformerEncoder
from lacuner.encoders.windows import Longs
from lacuner.errors import UsageError


class LexiconPieces(NamedTuple):
    """A sentence cut into pieces, and the words of the lexicon in it.

    Attributes:
        pieces: As the transformer reads it.
        slots: The words of the lexicon over each of its words.  # [words, slots]
    """

    pieces: Pieces
    slots: Longs


class LexiconReader(nn.Module):
    """A transformer and a lexicon.

    Args:
        transformer: The transformer.
        lexicon: The words.
        words: Most words of the lexicon for each word (or character) of a sentence.

    Raises:
        UsageError: No words at all.
    """

    def __init__(
        self, transformer: TransformerEncoder, lexicon: LexiconVectors, *, words: int
    ) -> None:
        super().__init__()
        if words < 1:
            raise UsageError(f"A place has 1 word of the lexicon or more, not {words}.")
        self.transformer, self.lexicon, self.words = transformer, lexicon, words

    @classmethod
    def build(
        cls,
        sentences: Iterable[Sentence],
        *,
        lexicon: str | Path,
        transformer: str = "minilm",
        words: int = WORDS_A_PLACE,
        case: str = "ignore",
        most_words: int | None = None,
        **arguments: Any,
    ) -> Self:
        """Both for a training corpus.

        Args:
            sentences: The training corpus.
            lexicon: A file of word vectors, see `vector_rows`.
            transformer: The name or folder of any transformer.
            words: Most words of the lexicon for each word (or character) of a sentence.
            case: `ignore`, or `exact` if case counts in the lexicon.
            most_words: Take so many of the first words of the lexicon; None takes all.
            arguments: Those of `TransformerEncoder`.

        Raises:
            UsageError: An argument that does not fit, or a transformer that cuts characters.
            DataError: The lexicon is not right.
        """
        sentences = list(sentences)
        read = named_transformer(transformer, **arguments)
        found = LexiconVectors.build(sentences, lexicon, case=case, most_words=most_words)
        check_reads_characters(read, found.lexicon.units, sentences)
        return cls(read, found, words=words)

    @classmethod
    def load(cls, description: dict[str, Any], folder: Path) -> Self:
        """What `save` wrote, with weights that are still to be loaded."""
        transformer = TransformerEncoder.load(description["transformer"], folder)
        return cls(transformer, LexiconVectors.load(folder), words=description["words"])

    def save(self, folder: Path) -> dict[str, Any]:
        """Writes what the transformer needs, and the lexicon; returns what `load` takes."""
        transformer = self.transformer.save(folder)
        del transformer["kind"]
        self.lexicon.save(folder)
        return {"transformer": transformer, "words": self.words}

    def pretrained_parameters(self) -> list[nn.Parameter]:
        """Those of the transformer, and the vectors of the lexicon."""
        return [*self.transformer.pretrained_parameters(), *self.lexicon.parameters()]

    def tokenise(self, sentences: Sequence[Sentence]) -> list[LexiconPieces]:
        """The pieces of each sentence, and the words of the lexicon over its words."""
        pieces = self.transformer.tokenise(sentences)
        slots = self.lexicon.slots(sentences, self.words)
        return [LexiconPieces(*each) for each in zip(pieces, slots, strict=True)]


class LexiconEncoder(nn.Module):
    """An encoder with a transformer and a lexicon, but for what it makes of both.

    Args:
        reader: The transformer and the lexicon.
    """

    def __init__(self, reader: LexiconReader) -> None:
        super().__init__()
        self.reader = reader

    def pretrained_parameters(self) -> list[nn.Parameter]:
        """Those of the transformer, and the vectors of the lexicon."""
        return self.reader.pretrained_parameters()

    def tokenise(self, sentences: Sequence[Sentence]) -> list[LexiconPieces]:
        """The pieces of each sentence, and the words of the lexicon over its words."""
        return self.reader.tokenise(sentences)

    def size(self, item: LexiconPieces) -> int:
        """Its pieces."""
        return self.reader.transformer.size(item.pieces)

    def _collated(
        self, items: Sequence[LexiconPieces], slots: Sequence[Longs], name: str
    ) -> Inputs:
        """The tensors of a batch: those of transformer and lexicon, and rows of slots as one."""
        longest = max(map(len, slots), default=0)
        numbers = np.zeros((len(slots), longest, self.reader.words), dtype=np.int64)
        for row, own in zip(numbers, slots, strict=True):
            row[: len(own)] = own
        inputs, local = self.reader.lexicon.collate(numbers)
        return {
            **self.reader.transformer.collate([item.pieces for item in items]),
            **inputs,
            name: torch.from_numpy(local),
        }
