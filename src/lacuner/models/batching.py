"""Batches: sentences of similar size together, in an order that seed and epoch decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lacuner.corpus.sentence import Sentence
from lacuner.encoders.contract import Encoder
from lacuner.models.batch import Batch

_POOL = 50  # batches that are sorted by size together


class Examples:
    """Sentences, tokenised once, from which batches are cut.

    Args:
        sentences: The sentences; those without a word are left out.
        encoder: Whose inputs they become.
        label_numbers: The number of each label, from 1.
        hidden: The same sentences with the entities that are missing in them, where they are
            known; only for measuring.
        items: What an encoder of the same kind made of the sentences before; None tokenises them.

    Attributes:
        sentences: The sentences that have a word.
        items: What the encoder made of them.
    """

    def __init__(
        self,
        sentences: Sequence[Sentence],
        encoder: Encoder,
        label_numbers: dict[str, int],
        hidden: Sequence[Sentence] | None = None,
        items: list[Any] | None = None,
    ) -> None:
        self.sentences = [sentence for sentence in sentences if sentence.tokens]
        self._encoder = encoder
        self._label_numbers = label_numbers
        self.items = encoder.tokenise(self.sentences) if items is None else items
        self._hidden = None if hidden is None else [s for s in hidden if s.tokens]

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def lengths(self) -> list[int]:
        """Words of each sentence."""
        return [len(sentence) for sentence in self.sentences]

    @property
    def sizes(self) -> list[int]:
        """The places of each sentence in the encoder, such as its pieces."""
        return [self._encoder.size(item) for item in self.items]

    def batch(self, numbers: Sequence[int], *, epoch: int = 0) -> Batch:
        """The batch of these sentences."""
        return Batch.of(
            [self.sentences[number] for number in numbers],
            self._encoder.collate([self.items[number] for number in numbers]),
            self._label_numbers,
            epoch=epoch,
            hidden=None if self._hidden is None else [self._hidden[number] for number in numbers],
            numbers=numbers,
        )


def shuffled_batches(
    lengths: Sequence[int],
    batch_size: int,
    rng: np.random.Generator,
    *,
    max_words: int,
    sizes: Sequence[int] | None = None,
) -> list[list[int]]:
    """Numbers of sentences, batch by batch, each sentence once.

    Sentences are shuffled, sorted by size within pools, cut into batches, and the batches
    shuffled: little padding, and still a new order every epoch.

    Args:
        lengths: Words of each sentence.
        batch_size: Sentences in a batch.
        rng: Where the order comes from.
        max_words: A batch has at most so many places for words, padding included, unless a
            single sentence has more.
        sizes: What the encoder pads, such as the pieces of each sentence; None takes the words.
    """
    size_of = (sizes or lengths).__getitem__
    order = rng.permutation(len(lengths)).tolist()
    pool = batch_size * _POOL
    batches: list[list[int]] = []
    for begin in range(0, len(order), pool):
        alike = sorted(order[begin : begin + pool], key=size_of)
        batches += cut(alike, lengths, batch_size, max_words)
    return [batches[number] for number in rng.permutation(len(batches))]


def batches_by_size(
    lengths: Sequence[int], batch_size: int, *, max_words: int, sizes: Sequence[int] | None = None
) -> list[list[int]]:
    """All sentences in batches of similar size, the largest first: for prediction."""
    size_of = (sizes or lengths).__getitem__
    order = sorted(range(len(lengths)), key=size_of, reverse=True)
    return cut(order, lengths, batch_size, max_words)


def cut(
    order: Sequence[int], lengths: Sequence[int], batch_size: int, max_words: int
) -> list[list[int]]:
    """Cuts an order into batches of at most `batch_size` sentences and `max_words` places."""
    batches: list[list[int]] = []
    current: list[int] = []
    longest = 0
    for number in order:
        longest_then = max(longest, lengths[number])
        if current and (
            len(current) == batch_size or longest_then * (len(current) + 1) > max_words
        ):
            batches.append(current)
            current, longest_then = [], lengths[number]
        current.append(number)
        longest = longest_then
    if current:
        batches.append(current)
    return batches
