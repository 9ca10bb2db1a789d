"""Questions in front of sentences: every sentence is read once for each question (Li et al. 2020).

A transformer reads `[CLS] question [SEP] sentence [SEP]`, or whatever its tokeniser makes of two
texts. The question stands in front of every window of a long sentence, and its pieces belong to no
word, so that words keep their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from torch import Tensor, nn

from lacuner.corpus.sentence import Sentence
from lacuner.encoders import load_encoder
from lacuner.encoders.contract import Inputs
from lacuner.encoders.pieces import Pieces, cut
from lacuner.encoders.subwords import Subwords
from lacuner.encoders.transformer import TransformerEncoder
from lacuner.encoders.windows import Longs
from lacuner.errors import UsageError


@dataclass(frozen=True)
class _Asked:
    """The pieces of a tokeniser, with a question among those in front of a sentence."""

    subwords: Subwords
    before: Longs
    after: Longs

    @property
    def specials(self) -> int:
        return len(self.before) + len(self.after)

    def pieces(self, words: Sequence[str]) -> list[Longs]:
        return self.subwords.pieces(words)


class QuestionReader(nn.Module):
    """Words to vectors, once for every question.

    Args:
        transformer: What reads.
        questions: In the order of the labels they ask for.

    Attributes:
        transformer: As given.
        questions: As given.
        width: Length of a word's vector.

    Raises:
        UsageError: Another kind of encoder, a question without words, or one that leaves less than
            half of a window to the sentence.
    """

    def __init__(self, transformer: TransformerEncoder, questions: Sequence[str]) -> None:
        super().__init__()
        if not isinstance(transformer, TransformerEncoder):
            raise UsageError(
                "Questions can be read by a transformer only: give encoder.name the name or folder "
                "of a Hugging Face model, or 'minilm'."
            )
        self.transformer = transformer
        self.questions = tuple(questions)
        self.width = transformer.width
        self._asked = [self._ask(question) for question in self.questions]

    def _ask(self, question: str) -> _Asked:
        words, subwords = question.split(), self.transformer.subwords
        if not words:
            raise UsageError("A question has no words.")
        front = (subwords.before, *subwords.pieces(words), _between(subwords))
        asked = _Asked(subwords, np.concatenate(front), subwords.after)
        window = self.transformer.window
        if asked.specials > window // 2:
            raise UsageError(
                f"The question '{question}' takes {asked.specials} of the {window} pieces that the "
                "encoder reads at once (encoder.window); it may take half of them."
            )
        return asked

    @classmethod
    def load(cls, description: dict[str, Any], folder: Path) -> Self:
        """The encoder that `save` wrote, with weights that are still to be loaded."""
        return cls(load_encoder(description["encoder"], folder), description["questions"])

    def save(self, folder: Path) -> dict[str, Any]:
        """Writes the transformer; returns the description for `load`."""
        return {
            "kind": "questions",
            "questions": list(self.questions),
            "encoder": self.transformer.save(folder),
        }

    def pretrained_parameters(self) -> list[nn.Parameter]:
        """Those of the transformer."""
        return self.transformer.pretrained_parameters()

    def tokenise(self, sentences: Sequence[Sentence]) -> list[list[Pieces]]:
        """The pieces of each sentence, behind each question."""
        reader = self.transformer
        reader.subwords.learn(word for sentence in sentences for word in sentence.tokens)
        return [
            [
                cut(asked, sentence.tokens, reader.pooling, reader.window, self._overlap(asked))
                for asked in self._asked
            ]
            for sentence in sentences
        ]

    def _overlap(self, asked: _Asked) -> int:
        return min(self.transformer.overlap, self.transformer.window - asked.specials - 1)

    def size(self, item: list[Pieces]) -> int:
        """Its pieces, behind each question."""
        return sum(map(self.transformer.size, item))

    def collate(self, items: Sequence[list[Pieces]]) -> Inputs:
        """The tensors of the transformer, a row for every sentence and question."""
        return self.transformer.collate([pieces for item in items for pieces in item])

    def forward(self, inputs: Inputs) -> Tensor:
        """The vectors of the words for every question.  # [batch, questions, words, width]"""
        vectors: Tensor = self.transformer(inputs)  # [batch * questions, words, width]
        return vectors.reshape(-1, len(self.questions), *vectors.shape[1:])


def _between(subwords: Subwords) -> Longs:
    """What a tokeniser puts between two texts; its separator, if it puts nothing."""
    encoded = subwords.tokeniser("a", "a", return_special_tokens_mask=True, truncation=False)
    pieces = np.array(encoded["input_ids"], dtype=np.int64)
    inner = np.flatnonzero(np.array(encoded["special_tokens_mask"]) == 0)
    if len(inner) and len(inner) % 2 == 0:
        half = len(inner) // 2
        between = pieces[inner[half - 1] + 1 : inner[half]]
        if len(between):
            return between
    separator = getattr(subwords.tokeniser, "sep_token_id", None)
    return np.array([] if separator is None else [separator], dtype=np.int64)
