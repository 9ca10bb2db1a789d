"""Texts, words and corpora in; entities with their places out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import lacuner
from lacuner import Corpus, DataError, Entity, Sentence
from lacuner.inference.dictionary import DictionaryPredictor
from lacuner.inference.recogniser import Found, Recogniser


@pytest.fixture
def recogniser() -> Recogniser:
    return Recogniser(DictionaryPredictor([("Maren Holt", "PER"), ("Bergen", "LOC")]))


def test_text_gives_entities_with_their_characters(recogniser: Recogniser) -> None:
    text = "Nobody came.  Maren  Holt left Bergen!\nBergen slept."
    found = recogniser(text)
    assert [(f.label, f.text) for f in found] == [
        ("PER", "Maren  Holt"),
        ("LOC", "Bergen"),
        ("LOC", "Bergen"),
    ]
    assert all(text[f.start : f.end] == f.text for f in found)


def test_several_texts_give_a_list_each_even_without_words(recogniser: Recogniser) -> None:
    found = recogniser(["", "Bergen", "  ", "nothing", "Bergen. Bergen.", "\u200b"])
    assert [len(entities) for entities in found] == [0, 1, 0, 0, 2, 0]
    assert found[1] == [Found(0, 6, "Bergen", "LOC", None)]
    assert recogniser("") == []


def test_texts_are_taken_one_by_one(recogniser: Recogniser) -> None:
    taken = 0

    def texts() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "Bergen " * 40 + "."

    stream = recogniser.find(texts())
    assert len(next(stream)) == 40
    assert taken < 100_000


def test_words_give_word_places(recogniser: Recogniser) -> None:
    found = recogniser.tag([["Maren", "Holt", "left"], ["no", "one"], []])
    assert [[e.key for e in entities] for entities in found] == [[(0, 2, "PER")], [], []]


def test_corpus_gives_the_same_corpus_with_other_labels(recogniser: Recogniser) -> None:
    sentence = Sentence("7", ("Bergen", "won"), (Entity(0, 1, "ORG"),), complete=True)
    predicted = recogniser.predict(Corpus((sentence,)))
    assert [e.key for e in predicted.sentences[0].entities] == [(0, 1, "LOC")]
    assert predicted.sentences[0].id == "7"
    assert not predicted.sentences[0].complete


def test_load_says_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no finished run"):
        lacuner.load(tmp_path)
    (tmp_path / "settings.toml").write_text("")
    with pytest.raises(DataError, match="not finished"):
        lacuner.load(tmp_path)
    (tmp_path / "predictor.json").write_text('{"kind": "magic"}')
    with pytest.raises(DataError, match="'magic'"):
        lacuner.load(tmp_path)


def test_damaged_model_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "predictor.json").write_text('{"kind": "neural"}')
    with pytest.raises(DataError):
        lacuner.load(tmp_path)
    (tmp_path / "model.json").write_text('{"model": {"kind": "span_classifier"}, "labels": []}')
    with pytest.raises(DataError):
        lacuner.load(tmp_path)
