"""A tiny encoder and batches of it, for every test that needs a network but no pretrained one."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from lacuner import Ambiguity, Entity, Sentence
from lacuner.encoders.contract import Encoder, Inputs
from lacuner.models.batch import Batch, Output


class HashedWords(nn.Module):
    """An encoder that looks up each word by its checksum, and nothing else.

    Args:
        width: Length of a word's vector.
        rows: How many vectors there are; words may share one.
    """

    def __init__(self, width: int = 8, rows: int = 512) -> None:
        super().__init__()
        self.width = width
        self.vectors = nn.Embedding(rows, width)

    def tokenise(self, sentences: Sequence[Sentence]) -> list[Tensor]:
        rows = self.vectors.num_embeddings
        return [
            torch.tensor([zlib.crc32(word.encode()) % rows for word in s.tokens], dtype=torch.long)
            for s in sentences
        ]

    def size(self, item: Tensor) -> int:
        return len(item)

    def collate(self, items: Sequence[Any]) -> Inputs:
        return {"words": pad_sequence(list(items), batch_first=True)}

    def forward(self, inputs: Inputs) -> Tensor:
        vectors: Tensor = self.vectors(inputs["words"])
        return vectors

    def pretrained_parameters(self) -> list[nn.Parameter]:
        return []

    def save(self, folder: Path) -> dict[str, Any]:
        return {"kind": "hashed_words", "width": self.width, "rows": self.vectors.num_embeddings}


def sentence(
    length: int,
    entities: Sequence[tuple[int, int, str]] = (),
    ambiguous: Sequence[tuple[int, int]] = (),
) -> Sentence:
    """A sentence of the words w0, w1, …."""
    return Sentence(
        "1",
        tuple(f"w{number}" for number in range(length)),
        tuple(Entity(*entity) for entity in entities),
        ambiguous=tuple(Ambiguity(*span) for span in ambiguous),
    )


def batch_of(
    sentences: Sequence[Sentence], labels: Sequence[str], encoder: Encoder | None = None
) -> Batch:
    """The batch of these sentences; without an encoder it has no inputs."""
    numbers = {label: number for number, label in enumerate(labels, 1)}
    inputs = encoder.collate(encoder.tokenise(sentences)) if encoder else {}
    return Batch.of(sentences, inputs, numbers)


def output_of(scores: Tensor, mask: Tensor) -> Output:
    """What a model would say that has these scores."""
    return Output(torch.zeros(*mask.shape[:2], 1), scores, mask)
