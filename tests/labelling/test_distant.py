"""Labelling sentences: sources, gaps, what is known already, and streaming."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacuner import Ambiguity, Entity, Sentence
from lacuner.corpus.raw_text import sentences_of_text
from lacuner.labelling import distant
from lacuner.labelling.compiling import compile_names
from lacuner.labelling.distant import label
from lacuner.labelling.gazetteer import Gazetteer
from lacuner.labelling.label_report import LabelReport
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.names import Name
from lacuner.matching.units import detect_units
from tests.strategies import corpora

NAMES = [
    Name("Maren Holt", "PER", "people.txt", ("Holt",)),
    Name("Jordan", "PER", "people.txt"),
    Name("Jordan", "LOC", "places.csv"),
    Name("New York", "LOC", "places.csv"),
    Name("York", "LOC", "places.csv"),
]


def _gazetteer(**options: object) -> Gazetteer:
    return compile_names(NAMES, MatchOptions(units="words", **options))  # type: ignore[arg-type]


def _labelled(text: str, **options: object) -> Sentence:
    (sentence,) = label([Sentence("1", tuple(text.split()))], _gazetteer(**options))
    return sentence


def test_label_names_dictionary_and_entry() -> None:
    assert _labelled("Holt saw New York .").entities == (
        Entity(0, 1, "PER", "people.txt:Maren Holt"),
        Entity(2, 4, "LOC", "places.csv:New York"),
    )


def test_labelled_sentence_is_not_complete_and_keeps_its_text() -> None:
    (before,) = sentences_of_text("Maren  Holt left New York.", "d")
    (after,) = label([before], _gazetteer())
    assert not after.complete
    assert (after.id, after.text, after.offsets) == (before.id, before.text, before.offsets)
    assert [after.surface(*entity.span) for entity in after.entities] == ["Maren  Holt", "New York"]


def test_nested_names_are_kept_on_request() -> None:
    assert [e.span for e in _labelled("New York", overlap="all").entities] == [(0, 2), (1, 2)]


def test_ambiguous_name_is_recorded_skipped_or_settled() -> None:
    assert _labelled("Jordan").ambiguous == (
        Ambiguity(0, 1, ("LOC", "PER"), "people.txt:Jordan | places.csv:Jordan"),
    )
    skipped = _labelled("Jordan", ambiguous="skip")
    assert (skipped.entities, skipped.ambiguous) == ((), ())
    first = _labelled("Jordan", ambiguous="first")
    assert first.entities == (Entity(0, 1, "PER", "people.txt:Jordan"),)


def test_skipped_name_still_covers_the_names_inside_it() -> None:
    names = [*NAMES, Name("New York", "ORG", "o.txt")]
    gazetteer = compile_names(names, MatchOptions(units="words", ambiguous="skip"))
    (sentence,) = label([Sentence("1", ("New", "York"))], gazetteer)
    assert sentence.entities == ()


def test_what_is_known_already_is_kept() -> None:
    tokens = ("Holt", "saw", "Holt", "Holt", "Holt", "York", "Holt")
    known = Sentence(
        "1",
        tokens,
        entities=(Entity(2, 3, "ORG"),),
        rejected=((3, 4),),
        outside=((4, 5),),
        ambiguous=(Ambiguity(5, 6),),
    )
    (after,) = label([known], _gazetteer())
    source = "people.txt:Maren Holt"
    assert after.entities == (
        Entity(0, 1, "PER", source), Entity(2, 3, "ORG"), Entity(6, 7, "PER", source),
    )  # fmt: skip
    assert (after.rejected, after.outside) == (known.rejected, known.outside)
    assert after.ambiguous == known.ambiguous


def test_complete_sentence_is_left_alone_unless_labels_are_dropped() -> None:
    complete = Sentence("1", ("Holt", "left"), complete=True)
    assert list(label([complete], _gazetteer())) == [complete]
    (relabelled,) = label([complete], _gazetteer(), keep_labels=False)
    assert relabelled.entities
    assert not relabelled.complete


@given(corpora(), st.booleans())
def test_labelling_any_corpus_keeps_its_words_and_all_that_was_known(
    corpus: list[Sentence], keep: bool
) -> None:
    before = list(corpus)
    names = [Name(word, "X", "x.txt") for word in ("Ada", "東京", "left .", "naïve")]
    gazetteer = compile_names(names, MatchOptions(units="words", case="ignore"))
    after = list(label(before, gazetteer, keep_labels=keep))
    assert [s.tokens for s in after] == [s.tokens for s in before]
    assert [(s.id, s.text, s.document) for s in after] == [
        (s.id, s.text, s.document) for s in before
    ]
    for old, new in zip(before, after, strict=True):
        if keep:
            assert set(old.entities) <= set(new.entities)
            assert (old.rejected, old.outside) == (new.rejected, new.outside)
            assert old.complete == new.complete
        else:
            assert all(entity.label == "X" for entity in new.entities)


def test_chunks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [Sentence(str(n), ("Holt", "saw", "New", "York")[: n % 4 + 1]) for n in range(40)]
    whole = list(label(sentences, _gazetteer()))
    monkeypatch.setattr(distant, "_WORDS_IN_CHUNK", 3)
    assert list(label(sentences, _gazetteer())) == whole


def test_sentences_are_taken_only_as_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distant, "_WORDS_IN_CHUNK", 10)
    taken = 0

    def endless() -> Iterator[Sentence]:
        nonlocal taken
        while True:
            taken += 1
            yield Sentence(str(taken), ("Holt", "left"))

    gazetteer = _gazetteer()
    stream = label(endless(), gazetteer, report=LabelReport(gazetteer))
    for number in range(1, 1001):
        assert next(stream).id == str(number)
        assert taken <= number + 5


@pytest.mark.parametrize(
    ("sentences", "units"),
    [
        ([Sentence("1", tuple("我要买note5"))], "characters"),
        ([Sentence("1", ("Holt", "saw", "a", "."))], "words"),
        (list(sentences_of_text("東京", "d")), "words"),
        ([], "words"),
    ],
)
def test_units_are_found_out_from_the_first_sentences(
    sentences: list[Sentence], units: str
) -> None:
    assert detect_units(sentences) == units
