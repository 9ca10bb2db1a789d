"""Parts of a corpus: train, dev and test drawn at random, and corpora put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.errors import UsageError


def split(
    corpus: Corpus, parts: Mapping[str, float], rng: np.random.Generator
) -> dict[str, Corpus]:
    """Draws parts of a corpus at random.

    Sentences of one document stay together, and so do sentences of the same words, so that no
    part holds what another was trained on. Within a part the order is that of the corpus.

    Args:
        corpus: What to split.
        parts: Name and size of each part, in the order in which they are filled: shares of at
            most 1, or numbers of sentences. All shares together are at most 1.
        rng: Where the randomness comes from.

    Raises:
        UsageError: Sizes that make no sense, or more sentences than there are.
    """
    wanted = _sizes(parts, len(corpus))
    groups = _groups(corpus.sentences)
    order = [groups[number] for number in rng.permutation(len(groups))]
    chosen: dict[str, list[int]] = {name: [] for name in wanted}
    for group in order:
        # The first part with room takes it; a group too large for the room goes there all the same,
        # once, so that sizes are met up to one document.
        for name, size in wanted.items():
            if len(chosen[name]) < size:
                chosen[name].extend(group)
                break
    return {
        name: corpus.with_sentences(corpus.sentences[number] for number in sorted(numbers))
        for name, numbers in chosen.items()
    }


def _sizes(parts: Mapping[str, float], total: int) -> dict[str, int]:
    if any(size <= 0 for size in parts.values()):
        raise UsageError("The size of a part is above 0: a share such as 0.8, or a number.")
    shares = sum(size for size in parts.values() if size <= 1)
    if shares > 1 + 1e-9:
        raise UsageError(f"The shares add up to {shares:g}, more than 1.")
    sizes, share = {}, 0.0
    for name, size in parts.items():
        if size > 1:
            sizes[name] = int(size)
        else:  # rounding the sums keeps shares that make 1 at just as many as there are
            sizes[name] = round((share + size) * total) - round(share * total)
            share += size
    if sum(sizes.values()) > total:
        raise UsageError(f"The parts ask for more than the {total:,} sentences there are.")
    return sizes


def _groups(sentences: Sequence[Sentence]) -> list[list[int]]:
    """Numbers of sentences that belong together: one document, or the same words."""
    leader = list(range(len(sentences)))

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    first: dict[object, int] = {}
    for number, sentence in enumerate(sentences):
        keys: list[object] = [sentence.tokens]
        if sentence.document is not None:
            keys.append(("document", sentence.document))
        for key in keys:
            leader[find(number)] = find(first.setdefault(key, number))
    groups: dict[int, list[int]] = {}
    for number in range(len(sentences)):
        groups.setdefault(find(number), []).append(number)
    return list(groups.values())


def concatenate(corpora: Sequence[Corpus]) -> Corpus:
    """One corpus of several; ids that occur twice get the number of their corpus in front.

    Example:
        >>> both = concatenate([gold.vouched(), distant])  # doctest: +SKIP
    """
    sentences: list[Sentence] = []
    taken: set[str] = set()
    for number, corpus in enumerate(corpora, start=1):
        for sentence in corpus:
            name = sentence.id
            while name in taken:
                name = f"{number}/{name}"
            taken.add(name)
            sentences.append(sentence if name == sentence.id else replace(sentence, id=name))
    labels = {label for corpus in corpora for label in corpus.labels}
    return Corpus(tuple(sentences), tuple(labels))
