"""Which unlabelled words stay unknown, and which are taken for O."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lacuner import Ambiguity, Corpus, Entity, Sentence
from lacuner.errors import UsageError
from lacuner.labelling.likely_names import (
    has_case,
    likely_names,
    with_unlikely_words_outside,
)

WORDS = ("The", "University", "of", "Ghent", "hired", "Ines", "Okafor", "last", "May", ".")
SENTENCE = Sentence("1", WORDS, (Entity(5, 7, "PER"),), ambiguous=(Ambiguity(9, 10),))
OTHER = Sentence("2", ("Nobody", "saw", "the", "ferry", "."), complete=True)
CORPUS = Corpus((SENTENCE, OTHER))


def _outside(unknown: str, corpus: Corpus = CORPUS) -> list[int]:
    first = with_unlikely_words_outside(corpus, unknown).sentences[0]
    return [word for span in first.outside for word in range(*span)]


def test_words_that_look_like_names_stay_unknown() -> None:
    # "The" has its capital from the beginning of the sentence, "of" joins two capitalised words;
    # labelled and ambiguous words are never closed.
    assert _outside("names") == [0, 4, 7]


def test_all_or_none_of_the_words_stay_unknown() -> None:
    assert with_unlikely_words_outside(CORPUS, "all") == CORPUS
    assert _outside("none") == [0, 1, 2, 3, 4, 7, 8]


def test_what_was_outside_stays_outside_and_complete_sentences_stay_as_they_are() -> None:
    told = Corpus((replace(SENTENCE, outside=((8, 9),)), OTHER))
    assert _outside("names", told) == [0, 4, 7, 8]
    assert with_unlikely_words_outside(CORPUS, "none").sentences[1] == OTHER


@pytest.mark.parametrize(
    ("text", "lower", "names"),
    [
        ("Paris won", set(), "10"),
        ("Rain fell", {"rain"}, "00"),
        ("EU rules", {"eu"}, "10"),  # all capitals are nobody's beginning
        ("Bank of a Nation", set(), "1001"),
        ("A B - C", {"a"}, "0101"),
        ("iPhone 12 costs 3M", set(), "1001"),
    ],
)
def test_capitals_tell_names(text: str, lower: set[str], names: str) -> None:
    found = likely_names(tuple(text.split()), lower)
    assert "".join(str(int(is_name)) for is_name in found) == names


def test_script_without_capitals_needs_another_choice() -> None:
    chinese = Corpus((Sentence("1", tuple("北京大学在哪里")),))
    assert has_case(CORPUS) and not has_case(chinese)
    with pytest.raises(UsageError, match=r"unlabelled\.unknown=all"):
        with_unlikely_words_outside(chinese, "names")
    with pytest.raises(UsageError, match="choice of unknown words"):
        with_unlikely_words_outside(CORPUS, "nmaes")
