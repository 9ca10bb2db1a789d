"""What goes into a model and what comes out: `Batch` and `Output`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import torch
from torch import Tensor

from lacuner.corpus.sentence import Ambiguity, Sentence
from lacuner.encoders.contract import Inputs


@dataclass(frozen=True)
class Batch:
    """Sentences as tensors, with everything that their labels say.

    Attributes:
        inputs: What the encoder made of the words.
        lengths: Number of words.  # [batch]
        entities: Sentence, start, end (exclusive), label from 1.  # [entities, 4]
        rejected: Sentence, start, end of spans that are no entity.  # [rejected, 3]
        ambiguous: Sentence, start, end of spans whose label is not settled.  # [ambiguous, 3]
        ambiguous_labels: The labels that each of them may have; all, where the data names none
            that the model knows.  # [ambiguous, labels]
        outside: Words known to be in no entity.  # [batch, words]
        complete: Sentences whose labels are complete.  # [batch]
        epoch: The epoch that the batch is drawn in, from 0.
        hidden: Sentence, start, end of entities that are known to be missing, where somebody hid
            them on purpose; only for measuring, never for learning.  # [hidden, 3]
        numbers: The numbers of its sentences among the examples that it was cut from, for whoever
            keeps something about each of them.
    """

    inputs: Inputs
    lengths: Tensor
    entities: Tensor
    rejected: Tensor
    ambiguous: Tensor
    ambiguous_labels: Tensor
    outside: Tensor
    complete: Tensor
    epoch: int = 0
    hidden: Tensor | None = None
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        sentences: Sequence[Sentence],
        inputs: Inputs,
        label_numbers: dict[str, int],
        *,
        epoch: int = 0,
        hidden: Sequence[Sentence] | None = None,
        numbers: Sequence[int] = (),
    ) -> Self:
        """Builds a batch; labels that the model does not know are left out."""
        lengths = torch.tensor([len(sentence) for sentence in sentences])
        outside = torch.zeros(len(sentences), int(lengths.max()), dtype=torch.bool)
        for row, sentence in enumerate(sentences):
            for start, end in sentence.outside:
                outside[row, start:end] = True
        return cls(
            inputs=inputs,
            lengths=lengths,
            entities=_rows(
                [
                    (row, entity.start, entity.end, label_numbers[entity.label])
                    for row, sentence in enumerate(sentences)
                    for entity in sentence.entities
                    if entity.label in label_numbers
                ],
                4,
            ),
            rejected=_rows(
                [
                    (row, *span)
                    for row, sentence in enumerate(sentences)
                    for span in sentence.rejected
                ],
                3,
            ),
            ambiguous=_rows(
                [
                    (row, *found.span)
                    for row, sentence in enumerate(sentences)
                    for found in sentence.ambiguous
                ],
                3,
            ),
            ambiguous_labels=torch.tensor(
                [
                    _allowed_labels(found, label_numbers)
                    for sentence in sentences
                    for found in sentence.ambiguous
                ],
                dtype=torch.bool,
            ).reshape(-1, len(label_numbers)),
            outside=outside,
            complete=torch.tensor([sentence.complete for sentence in sentences]),
            epoch=epoch,
            hidden=None
            if hidden is None
            else _rows(
                [(row, *found.span) for row, gone in enumerate(hidden) for found in gone.entities],
                3,
            ),
            numbers=tuple(numbers),
        )

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def words(self) -> Tensor:
        """Which places hold a word.  # [batch, words]"""
        places = torch.arange(self.outside.shape[1], device=self.lengths.device)
        return places[None, :] < self.lengths[:, None]

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        moved: dict[str, Any] = {
            field.name: getattr(self, field.name).to(device, non_blocking=True)
            for field in fields(self)
            if isinstance(getattr(self, field.name), Tensor)
        }
        inputs = {name: value.to(device, non_blocking=True) for name, value in self.inputs.items()}
        return replace(self, inputs=inputs, **moved)


def _allowed_labels(found: Ambiguity, label_numbers: dict[str, int]) -> list[bool]:
    named = [label in found.labels for label in label_numbers]  # numbered in this order, from 1
    return named if any(named) else [True] * len(named)


def _rows(rows: list[tuple[int, ...]], columns: int) -> Tensor:
    return torch.tensor(rows, dtype=torch.long).reshape(-1, columns)


@dataclass(frozen=True)
class Pointers:
    """What a model that is asked for each label says of beginnings and ends.

    Attributes:
        starts: Scores of words as the first of an entity.  # [batch, words, labels]
        ends: As the last.  # [batch, words, labels]
        matches: Scores of spans, should both ends be right.  # [batch, words, widths, labels]
    """

    starts: Tensor
    ends: Tensor
    matches: Tensor


@dataclass(frozen=True)
class Output:
    """What a model says of a batch. It never computes a loss.

    Attributes:
        hidden: The vectors of the words.  # [batch, words, width]
        scores: Logits. Of spans: [batch, words (start), widths, labels], label 0 being "no
            entity", the span at [b, i, k] running from word i to i + k + 1 (exclusive). Of tags:
            [batch, words, tags].
        mask: Which scores are of real spans [batch, words, widths] or words [batch, words].
        spans: The features of spans before the last layer, for methods that compare them.
            # [batch, words, widths, features]
        gaps: Of a model that cuts sentences into chunks: the score of a break behind each word but
            the last. Its scores of spans then say what a span is if it is a chunk.
            # [batch, words - 1]
        pointers: Of a model that is asked for each label: what its scores of spans come from.
    """

    hidden: Tensor
    scores: Tensor
    mask: Tensor
    spans: Tensor | None = None
    gaps: Tensor | None = None
    pointers: Pointers | None = None
