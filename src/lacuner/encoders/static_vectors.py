"""Vectors of the words of a corpus, from a file or learned: what encoders without a pretrained
network begin with.

The vocabulary begins with the words whose vectors are trained; those of a file that the corpus
does not hold follow, and stay as they are.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from lacuner.encoders.vocabulary import PADDING, UNKNOWN, Vocabulary, forms
from lacuner.encoders.word_vectors import WordVectors, read_word_vectors

SEEN_TWICE = 2  # what is seen once stands for the unknown, so that its vector is learned


def vectors_for(
    counts: Counter[str], vectors: str | Path | None, most_frequent: int
) -> WordVectors | None:
    """The vectors of a file for the words of a corpus, and for so many others; None without one.

    Raises:
        DataError: The file is not right.
    """
    if vectors is None:
        return None
    wanted = {form for word in counts for form in forms(word)}
    return read_word_vectors(Path(vectors).expanduser(), wanted, most_frequent=most_frequent)


def choose_words(
    counts: Counter[str], found: WordVectors | None, *, train_found: bool
) -> tuple[list[str], list[str]]:
    """The words whose vectors are trained, and those whose vectors stay as the file has them."""
    in_file = set(found.words) if found is not None else set[str]()
    trained: dict[str, None] = {}
    learned: Counter[str] = Counter()
    for word, count in sorted(counts.items()):
        known = next((form for form in forms(word) if form in in_file), None)
        if known is None:
            *_, plainest = forms(word)
            for form in {word, plainest}:
                learned[form] += count
        elif train_found:
            trained[known] = None
    # A word with digits is learned by its form with zeros only: there is no end of numbers.
    trained |= {
        word: None
        for word, count in sorted(learned.items())
        if count >= SEEN_TWICE and not any(char.isdecimal() and char != "0" for char in word)
    }
    return list(trained), [word for word in (found.words if found else ()) if word not in trained]


@torch.no_grad()
def fill_vectors(
    trained: nn.Embedding, kept: nn.Embedding, vocabulary: Vocabulary, found: WordVectors | None
) -> None:
    """Puts the vectors of a file into place; those to be learned get the same spread."""
    spread = 0.1 if found is None else float(found.matrix.std())
    trained.weight.normal_(std=spread)[PADDING] = 0
    if found is None:
        return
    trained.weight[UNKNOWN] = torch.from_numpy(found.matrix.mean(axis=0))
    border = trained.num_embeddings
    numbers = np.array([vocabulary.number(word) for word in found.words])
    matrix = torch.from_numpy(found.matrix)
    inside = torch.from_numpy(numbers < border)
    places = torch.from_numpy(numbers)
    trained.weight[places[inside]] = matrix[inside]
    kept.weight[places[~inside] - border] = matrix[~inside]


def look_up(words: Tensor, trained: nn.Embedding, kept: nn.Embedding) -> Tensor:
    """The vectors of the words of these numbers.  # [..., width]"""
    border = trained.num_embeddings
    vectors: Tensor = trained(words.clamp(max=border - 1))
    if not kept.num_embeddings:
        return vectors
    others = kept((words - border).clamp(min=0))
    return torch.where((words < border)[..., None], vectors, others)


def are_characters(counts: Counter[str]) -> bool:
    """Whether the words of a corpus are its characters."""
    letters = sum(len(word) * count for word, count in counts.items())
    return letters < 1.5 * counts.total()
