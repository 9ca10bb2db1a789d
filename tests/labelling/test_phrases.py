"""Candidate phrases by parts of speech: each rule by hand, and what must hold for any words."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacuner.labelling.phrases import Tagged, candidate_phrases

PARTS = {"n": "NOUN", "p": "PROPN", "a": "ADJ", "d": "DET", "i": "ADP", "v": "VERB", "c": "CCONJ"}
PARTS |= {"0": "NUM", ".": "PUNCT", "t": "PART", "": ""}


def _candidates(text: str) -> list[str]:
    """Candidates of words written as `word/part`, `New/p York/p`."""
    words = [
        Tagged(word, PARTS[part]) for word, _, part in (w.partition("/") for w in text.split())
    ]
    spans = sorted(candidate_phrases(words))
    return [" ".join(word.text for word in words[start:end]) for start, end in spans]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("she/d reads/v the/d New/p York/p Times/p", ["New York Times"]),
        ("the/d Bank/p of/i England/p rose/v", ["Bank", "Bank of England", "England"]),
        ("Republic/p of/i the/d Congo/p", ["Republic", "Republic of the Congo", "Congo"]),
        ("Marks/p &/c Spencer/p", ["Marks", "Marks & Spencer", "Spencer"]),
        ("Al/p -/. Ahram/p", ["Al", "Al - Ahram", "Ahram"]),
        ("Paris/p ,/. Texas/p", ["Paris", "Texas"]),
        ("Paris/p saw/v Texas/p", ["Paris", "Texas"]),
        ("Paris/p for/i the/d of/i Texas/p", ["Paris", "Texas"]),
        ("German/a officials/n", ["German"]),
        ("big/a news/n may/v fade/v", []),
        ("United/a Nations/p", ["United", "United Nations", "Nations"]),
        ("a/d Boeing/p 747/0", ["Boeing", "Boeing 747"]),
        ("LONDON/p 1996-08-26/p", ["LONDON", "LONDON 1996-08-26"]),
        ("747/0 seats/n", []),
        ("in/i 1996/0 Bergen/p", ["Bergen"]),
        ("Sohail/p c/p Croft/p", ["Sohail", "Sohail c", "Sohail c Croft", "c", "c Croft", "Croft"]),
        ("paris/p hilton/p", ["paris hilton"]),
        ("東/p 京/p", ["東 京"]),
        ("Holt/p ’s/t Wren/p", ["Holt", "Holt ’s Wren", "Wren"]),
        ("", []),
    ],
)
def test_rule_gives_its_candidates(text: str, right: list[str]) -> None:
    assert _candidates(text) == right


@given(
    st.lists(
        st.builds(
            Tagged,
            st.sampled_from(["A", "b", "-", "7", ",", "É", "東"]),
            st.sampled_from(sorted(set(PARTS.values()))),
        ),
        max_size=30,
    )
)
def test_candidates_lie_in_the_sentence_and_never_cut_a_run_of_names(words: list[Tagged]) -> None:
    runs = [
        word.part == "PROPN" and word.text in "AÉ" and after.part == "PROPN" and after.text in "AÉ"
        for word, after in pairwise(words)
    ]
    for start, end in candidate_phrases(words):
        assert 0 <= start < end <= len(words)
        assert not (start and runs[start - 1])
        assert not (end < len(words) and runs[end - 1])


def test_many_names_in_a_row_stay_cheap() -> None:
    words = [Tagged("A", "ADJ")] * 3000
    assert len(candidate_phrases(words)) < 8 * 3000
