"""The vectors of a lexicon within a network: those of words seen in training are trained.

All others, for texts to come, stay on disk and are fetched batch by batch.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from lacuner.corpus.sentence import Sentence
from lacuner.encoders.contract import Inputs
from lacuner.encoders.lexicon import Lexicon, word_slots
from lacuner.encoders.lexicon_compiling import open_lexicon
from lacuner.encoders.windows import Longs
from lacuner.errors import DataError, UsageError
from lacuner.matching.units import detect_units

_LOGGER = logging.getLogger("lacuner")
WORDS_A_PLACE = 5
CASES = ("ignore", "exact")


class LexiconVectors(nn.Module):
    """The vectors of a lexicon's words.

    Args:
        lexicon: The words.
        seen: Numbers of the words whose vectors are trained, each once.  # [seen]

    Attributes:
        lexicon: As given.
        trained: The vectors of the words seen; row 0 is that of no word, zero.
    """

    def __init__(self, lexicon: Lexicon, seen: Longs) -> None:
        super().__init__()
        self.lexicon, self.seen = lexicon, seen
        self.trained = nn.Embedding(len(seen) + 1, lexicon.width, padding_idx=0)
        self._rows = np.zeros(len(lexicon) + 1, dtype=np.int64)  # by number, counted from 1
        self._rows[seen + 1] = np.arange(1, len(seen) + 1)

    @classmethod
    def build(
        cls,
        sentences: Iterable[Sentence],
        lexicon: str | Path,
        *,
        case: str,
        most_words: int | None,
    ) -> Self:
        """The vectors of a file, with those of words in the training corpus to be trained.

        Args:
            sentences: The training corpus.
            lexicon: A file of word vectors.
            case: `ignore` or `exact`.
            most_words: See `open_lexicon`.

        Raises:
            UsageError: Another case.
            DataError: The file is not right.
        """
        if case not in CASES:
            raise UsageError(f"The case of a lexicon is ignore or exact, not '{case}'.")
        sentences = list(sentences)
        opened = open_lexicon(
            Path(lexicon).expanduser(),
            units=detect_units(sentences),
            ignore_case=case == "ignore",
            most_words=most_words,
        )
        found = [np.zeros(0, np.int64), *(each.number for each in opened.find(sentences))]
        vectors = cls(opened, np.unique(np.concatenate(found)))
        if not len(vectors.seen):
            _LOGGER.warning(
                "No word of the lexicon %s is in the training corpus, so that it says nothing. Is "
                "it one of this language?",
                lexicon,
            )
        with torch.no_grad():
            rows = np.asarray(opened.vectors[vectors.seen], dtype=np.float32)
            vectors.trained.weight[1:] = torch.from_numpy(rows)
        return vectors

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote, with weights that are still to be loaded.

        Raises:
            DataError: The folder is damaged.
        """
        lexicon = Lexicon.load(folder / "lexicon")
        path = folder / "seen.npy"
        try:
            return cls(lexicon, np.load(path, allow_pickle=False))
        except (OSError, ValueError, IndexError, TypeError) as error:
            raise DataError(path, f"these are no words of its lexicon: {error}") from None

    def save(self, folder: Path) -> None:
        """Writes the whole lexicon, and which words are trained, to the folder of a run."""
        self.lexicon.save(folder / "lexicon")
        np.save(folder / "seen.npy", self.seen, allow_pickle=False)

    @property
    def width(self) -> int:
        """Length of a vector."""
        return self.lexicon.width

    def slots(self, sentences: Sequence[Sentence], most: int) -> list[Longs]:
        """The words over each word of each sentence, see `word_slots`."""
        return [
            word_slots(found, len(sentence), most)
            for found, sentence in zip(self.lexicon.find(sentences), sentences, strict=True)
        ]

    def collate(self, numbers: Longs) -> tuple[Inputs, Longs]:
        """The tensors that `forward` needs for words of a batch.

        Args:
            numbers: Words of the lexicon, counted from 1; 0 is no word.  # any shape

        Returns:
            The tensors, and in place of each number that of its row in what `forward` returns.
        """
        distinct, local = np.unique(np.append(0, numbers), return_inverse=True)
        rows = self._rows[distinct]  # [distinct]
        kept = np.flatnonzero((rows == 0) & (distinct > 0))
        vectors = np.asarray(self.lexicon.vectors[distinct[kept] - 1], dtype=np.float32)
        inputs = {
            "lexicon_rows": torch.from_numpy(rows),
            "lexicon_kept": torch.from_numpy(kept),
            "lexicon_vectors": torch.from_numpy(vectors),
        }
        return inputs, local[1:].reshape(numbers.shape)

    def forward(self, inputs: Inputs) -> Tensor:
        """The vectors of the distinct words of a batch, row 0 of no word.  # [distinct, width]"""
        vectors: Tensor = self.trained(inputs["lexicon_rows"])
        kept = inputs["lexicon_kept"]
        if not len(kept):
            return vectors
        return vectors.index_copy(0, kept, inputs["lexicon_vectors"].to(vectors.dtype))
