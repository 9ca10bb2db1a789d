"""The data type refuses what contradicts itself."""

from __future__ import annotations

from typing import Any

import pytest

from lacuner import Ambiguity, Corpus, Entity, Sentence
from lacuner.errors import InvalidSentence

WORDS = ("Maren", "Holt", "left", "Bergen")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tokens": ("a", "", "b")}, "word 2 is empty"),
        ({"entities": (Entity(3, 5, "LOC"),)}, "entity from word 3 to 5 does not fit"),
        ({"entities": (Entity(2, 2, "LOC"),)}, "does not fit a sentence of 4 words"),
        ({"entities": (Entity(-1, 2, "LOC"),)}, "does not fit"),
        ({"entities": (Entity(0, 2, "PER"), Entity(0, 2, "ORG"))}, "two labels on one span"),
        ({"rejected": ((0, 9),)}, "rejected span from word 0 to 9"),
        ({"outside": ((4, 5),)}, "outside span"),
        ({"ambiguous": (Ambiguity(0, 9),)}, "ambiguous span"),
        ({"entities": (Entity(0, 2, "PER"),), "rejected": ((0, 2),)}, "both an entity and rej"),
        ({"text": "Maren Holt left Bergen"}, "text and offsets of words go together"),
        ({"text": "x", "offsets": ((0, 1),)}, "1 offsets for 4 words"),
        ({"text": "abc", "offsets": ((0, 1), (1, 2), (2, 3), (3, 4))}, "after the text of 3"),
        ({"text": "abcdef", "offsets": ((0, 2), (1, 3), (3, 4), (4, 5))}, "overlaps its neigh"),
    ],
)
def test_sentence_refuses_contradictions(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidSentence, match=message):
        Sentence(**{"id": "1", "tokens": WORDS, **fields})


def test_sentence_keeps_nested_entities_in_order_of_place() -> None:
    inner, outer, first = Entity(1, 2, "LOC"), Entity(1, 4, "ORG"), Entity(0, 1, "PER")
    sentence = Sentence("1", WORDS, (inner, outer, first))
    assert sentence.entities == (first, outer, inner)


def test_surface_uses_the_original_text_where_there_is_one() -> None:
    text = "Maren  Holt left\tBergen"
    offsets = ((0, 5), (7, 11), (12, 16), (17, 23))
    assert Sentence("1", WORDS, text=text, offsets=offsets).surface(0, 2) == "Maren  Holt"
    assert Sentence("1", WORDS).surface(0, 2) == "Maren Holt"
    assert Sentence("1", ("北", "京", "很", "大")).surface(0, 2) == "北京"


def test_corpus_collects_labels_and_finds_by_id() -> None:
    first = Sentence("a", WORDS, (Entity(0, 2, "PER"),))
    second = Sentence("b", WORDS, ambiguous=(Ambiguity(3, 4, ("LOC", "ORG")),))
    corpus = Corpus((first, second), ("MISC",))
    assert corpus.labels == ("LOC", "MISC", "ORG", "PER")
    assert corpus.get("b") is second
    assert corpus.get("c") is None
    assert corpus.entity_count == 1


def test_corpus_refuses_two_sentences_of_one_id() -> None:
    with pytest.raises(InvalidSentence, match="two sentences have the id 'a'"):
        Corpus((Sentence("a", WORDS), Sentence("a", WORDS)))


def test_unlabelled_corpus_keeps_nothing_that_a_labeller_knew() -> None:
    sentence = Sentence(
        "a",
        WORDS,
        (Entity(0, 2, "PER"),),
        rejected=((2, 3),),
        outside=((2, 3),),
        ambiguous=(Ambiguity(3, 4),),
        complete=True,
    )
    assert Corpus((sentence,)).unlabelled().sentences == (Sentence("a", WORDS),)


def test_vouched_corpus_is_complete_and_back() -> None:
    corpus = Corpus((Sentence("a", WORDS),))
    assert corpus.vouched().sentences[0].complete
    assert corpus.vouched().vouched(complete=False) == corpus
