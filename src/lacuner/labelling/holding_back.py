"""Labels held back on purpose: how many of them come back tells how many missing ones do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from lacuner.corpus.sentence import Corpus, Entity, Sentence

_BY_LIST = 0.7  # of the names, where they came from a list, have a label wherever they stand


def hold_back(corpus: Corpus, share: float, seed: int, *, unit: str = "mention") -> Corpus:
    """The corpus without some of its entities.

    Complete sentences keep theirs: nothing is missing there.

    Args:
        corpus: The corpus.
        share: The probability that a label is held back.
        seed: Where chance comes from.
        unit: `mention` draws for each entity, `name` once for each name and label, so that all
            its mentions go together.
    """
    rng = np.random.default_rng(seed)
    drawn: dict[tuple[str, str], bool] = {}

    def stays(sentence: Sentence, entity: Entity, chance: float) -> bool:
        if unit == "mention":
            return chance >= share
        name = sentence.surface(*entity.span), entity.label
        return drawn.setdefault(name, chance >= share)

    def shown() -> Iterator[Sentence]:
        for sentence in corpus:
            chances = rng.random(len(sentence.entities)).tolist()
            if sentence.complete or not chances:
                yield sentence
                continue
            pairs = zip(sentence.entities, chances, strict=True)
            kept = [entity for entity, chance in pairs if stays(sentence, entity, chance)]
            complete = len(kept) == len(chances)
            yield sentence if complete else sentence.with_entities(kept)

    return corpus.with_sentences(shown())


def gap_unit(corpus: Corpus) -> str:
    """What is missing in a corpus: single mentions, or all mentions of a name.

    A list of names labels a name wherever it stands, or nowhere; people who label a part of a
    corpus, or chance, label some of its mentions. Each name counts once, so that a word like "in"
    with a wrong label does not decide.

    Returns:
        `name` if 7 of 10 names that stand in several places have a label in all of them, else
        `mention`.
    """
    sentences = [sentence for sentence in corpus if not sentence.complete]
    labelled = Counter(
        sentence.tokens[entity.start : entity.end]
        for sentence in sentences
        for entity in sentence.entities
    )
    bare = Counter(
        words
        for sentence in sentences
        for words in _unlabelled_runs(sentence, {len(name) for name in labelled})
        if words in labelled
    )
    again = [name for name, count in labelled.items() if count + bare[name] > 1]
    everywhere = sum(not bare[name] for name in again)
    return "name" if again and everywhere >= _BY_LIST * len(again) else "mention"


def _unlabelled_runs(sentence: Sentence, lengths: set[int]) -> Iterator[tuple[str, ...]]:
    """All runs of words of some lengths that share no word with an entity."""
    taken = {word for e in sentence.entities for word in range(e.start, e.end)}
    for length in lengths:
        for start in range(len(sentence) - length + 1):
            if taken.isdisjoint(range(start, start + length)):
                yield sentence.tokens[start : start + length]
