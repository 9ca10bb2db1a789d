"""Labels that a model cannot find are said once, at the beginning."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import lacuner
from lacuner import Corpus, Entity, Sentence
from lacuner.files import read_json
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.token_tagger import TokenTagger
from lacuner.recipes.reach import out_of_reach
from tests.neural import HashedWords

WORDS = ("a", "b", "c", "d", "e", "f")
WIDE = Sentence("wide", WORDS, (Entity(0, 4, "A"), Entity(1, 3, "A"), Entity(5, 6, "A")))
STRANGE = Sentence("strange", WORDS, (Entity(0, 1, "B"),))


def test_span_classifier_cannot_find_wide_and_strange_labels() -> None:
    model = SpanClassifier(HashedWords(), ("A",), max_width=3)
    found = out_of_reach(model, Corpus((WIDE,)), Corpus((WIDE, STRANGE)))
    wide = "that the model cannot find, wider than 3 words (model.max_width)"
    assert found.counts == {
        f"labels of train {wide}": 1,
        f"labels of dev {wide}": 1,
        "labels of dev that the model cannot find, as training has no such label": 1,
    }
    assert (found.losses[0].sentence_id, found.losses[0].detail) == ("wide", "'abcd' (A)")


def test_tagger_cannot_find_overlapping_labels() -> None:
    found = out_of_reach(TokenTagger(HashedWords(), ("A",)), Corpus((WIDE,)), None)
    assert found.counts == {
        "labels of train that the model cannot find, as they overlap longer ones": 1
    }


def test_io_tags_merge_neighbours_of_one_label() -> None:
    beside = Sentence(
        "beside",
        WORDS,
        (Entity(0, 1, "A"), Entity(1, 3, "A"), Entity(3, 4, "B"), Entity(5, 6, "A")),
    )
    found = out_of_reach(
        TokenTagger(HashedWords(), ("A", "B"), scheme="io"), Corpus((WIDE,)), Corpus((beside,))
    )
    why = "as they touch one of the same label, and IO tags merge the two"
    assert found.counts[f"labels of dev that the model cannot find, {why}"] == 2
    assert f"labels of train that the model cannot find, {why}" not in found.counts
    bio = out_of_reach(TokenTagger(HashedWords(), ("A", "B")), Corpus((beside,)), None)
    assert not bio.counts


def test_run_says_and_keeps_what_is_out_of_reach(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {
        "encoder": {"name": "bilstm"},
        "training": {"epochs": 1},
        "model": {"max_width": 3},
    }
    with caplog.at_level(logging.WARNING, "lacuner"):
        lacuner.train(Corpus((WIDE,)), "span_ce", out=tmp_path / "run", settings=settings)
    assert [record.getMessage() for record in caplog.records] == [
        "labels of train that the model cannot find, wider than 3 words (model.max_width): 1 "
        "(first: sentence wide: 'abcd' (A))"
    ]
    (kept,) = read_json(tmp_path / "run" / "run.json")["findings"]
    assert list(kept["lost"].values()) == [1]
