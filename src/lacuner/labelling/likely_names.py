"""Which unlabelled words may well be names, and which are hardly any.

Shang et al. 2018 call words unknown that a phrase miner takes for a good phrase, and all other
unlabelled words O. A miner needs a corpus of its own; this is our stand-in for languages with
capital letters: runs of capitalised words, with short words between them ("University of Ghent").
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.corpus.tagging import runs
from lacuner.errors import UsageError
from lacuner.suggestions import unknown_name

UNKNOWN_WORDS = ("names", "all", "none")
_JOINING = 3  # letters of the longest word that may stand between two capitalised ones
_CASED = 0.5  # the least share of cased words in a corpus that tells names by capitals


def with_unlikely_words_outside(corpus: Corpus, unknown: str) -> Corpus:
    """The corpus with those unlabelled words `outside` that a method takes for O.

    Labels stay as they are. Nobody vouches for the new negatives: what comes of this is for a
    recipe to learn from, never data to keep.

    Args:
        corpus: What to learn from.
        unknown: Which unlabelled words stay unknown: those that look like `names`, `all`, or
            `none`.

    Raises:
        UsageError: Another word than these, or `names` for a script without capitals.
    """
    if unknown not in UNKNOWN_WORDS:
        raise UsageError(unknown_name("choice of unknown words", unknown, UNKNOWN_WORDS))
    if unknown == "all":
        return corpus
    if unknown == "none":
        return corpus.with_sentences(_closed(s, [False] * len(s)) for s in corpus)
    if not has_case(corpus):
        raise UsageError(
            "Most words of the corpus are written without capital letters, by which names could "
            "be told from other words. Let all unlabelled words be unknown "
            "(unlabelled.unknown=all; needs some complete sentences) or none of them "
            "(unlabelled.unknown=none)."
        )
    lower = {word for sentence in corpus for word in sentence.tokens if word.islower()}
    return corpus.with_sentences(_closed(s, likely_names(s.tokens, lower)) for s in corpus)


def has_case(corpus: Corpus) -> bool:
    """Is it written in a script with capital letters, and with some of them?"""
    words = [word for sentence in corpus for word in sentence.tokens if word.isalpha()]
    cased = sum(word.lower() != word.upper() for word in words)
    return cased > _CASED * len(words) and any(not word.islower() for word in words)


def likely_names(words: tuple[str, ...], lower: set[str]) -> list[bool]:
    """Which words look like a part of a name.

    Args:
        words: Of a sentence.
        lower: Words that the corpus also has in lower case: one of these at the beginning of a
            sentence has its capital from there.
    """
    capital = [any(letter.isupper() for letter in word) for word in words]
    if capital and words[0].lower() in lower and words[0][1:] == words[0][1:].lower():
        capital[0] = False
    joining = [
        0 < place < len(words) - 1
        and capital[place - 1]
        and capital[place + 1]
        and word.isalpha()
        and len(word) <= _JOINING
        for place, word in enumerate(words)
    ]
    return [is_capital or joins for is_capital, joins in zip(capital, joining, strict=True)]


def _closed(sentence: Sentence, unknown: list[bool]) -> Sentence:
    """The sentence with all words outside that are neither unknown nor in any labelled span."""
    if sentence.complete:
        return sentence
    is_open = np.array(unknown, dtype=bool)
    for start, end in [
        *(entity.span for entity in sentence.entities),
        *(found.span for found in sentence.ambiguous),
    ]:
        is_open[start:end] = True
    for start, end in sentence.outside:
        is_open[start:end] = False
    return replace(sentence, outside=tuple(runs((~is_open).tolist())))
