"""What recipes with a CRF make of a corpus in which nobody vouches for any negative."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lacuner
from lacuner import Corpus, Entity, Sentence
from lacuner.demo import gold
from lacuner.errors import UsageError
from lacuner.labelling.masking import mask
from lacuner.objectives.expected_entity_ratio import RATIO
from lacuner.recipes.expected_entity_ratio import ratio_of

GOLD = gold("train").with_sentences(gold("train").sentences[:24])
GAPS = mask(GOLD, 0.5, np.random.default_rng(0)).corpus.vouched(complete=False)
SETTINGS: dict[str, Any] = {
    "encoder": {"name": "bilstm"},
    "training": {"epochs": 12, "head_rate": 1e-2, "batch_size": 8},
}
SHORT = {**SETTINGS, "training": {**SETTINGS["training"], "epochs": 1}}


def _share_of_entities(corpus: Corpus) -> float:
    inside = sum(entity.end - entity.start for s in corpus for entity in s.entities)
    return inside / sum(len(sentence) for sentence in corpus)


def test_without_negatives_all_is_an_entity_unless_a_share_is_known(tmp_path: Path) -> None:
    share = _share_of_entities(GOLD)
    assert 0.1 < share < 0.35
    settings = {**SETTINGS, "entities": {"ratio": share, "margin": 0.02}}
    told = lacuner.train(GAPS, "expected_entity_ratio", out=tmp_path / "told", settings=settings)
    assert abs(_share_of_entities(told.predict(GAPS)) - share) < 0.12
    partial = lacuner.train(GAPS, "partial_crf", out=tmp_path / "partial", settings=SETTINGS)
    assert _share_of_entities(partial.predict(GAPS)) > 0.6


def test_ratio_is_that_of_complete_sentences_if_these_are_many() -> None:
    complete = gold("train").vouched()
    assert sum(map(len, complete.sentences)) > 1000
    assert ratio_of(complete) == pytest.approx(_share_of_entities(complete))
    assert ratio_of(GAPS) == RATIO


@pytest.mark.parametrize(
    ("recipe", "choice", "warns"),
    [
        ("partial_crf", {}, True),
        ("fuzzy_crf", {}, False),  # words that hardly are names are its negatives
        ("fuzzy_crf", {"unlabelled": {"unknown": "all"}}, True),
        ("auto_ner", {"unlabelled": {"unknown": "all"}}, True),
        ("expected_entity_ratio", {}, False),
    ],
)
def test_recipe_that_needs_negatives_says_so_and_why(
    recipe: str,
    choice: dict[str, Any],
    warns: bool,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "lacuner"):
        lacuner.train(GAPS, recipe, out=tmp_path / "run", settings={**SHORT, **choice})
    said = [record.getMessage() for record in caplog.records]
    assert any(f"'{recipe}' learns what is no entity only from" in text for text in said) == warns


@pytest.mark.parametrize("knowledge", [{"complete": True}, {"outside": ((0, 1),)},
                                       {"rejected": ((0, 1),)}])  # fmt: skip
def test_one_trusted_negative_is_enough_to_be_quiet(
    knowledge: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, *rest = GAPS.sentences[:8]
    known = GAPS.with_sentences([replace(first, entities=(), **knowledge), *rest])
    with caplog.at_level(logging.WARNING, "lacuner"):
        lacuner.train(known, "partial_crf", out=tmp_path / "run", settings=SHORT)
    assert not caplog.records


def test_complete_sentence_without_an_unlabelled_word_is_no_negative(tmp_path: Path) -> None:
    full = Sentence("full", ("Oslo",), (Entity(0, 1, "LOC"),), complete=True)
    empty = Sentence("empty", (), complete=True)
    known = GAPS.with_sentences([full, empty, *GAPS.sentences[:8]])
    lacuner.train(known, "partial_crf", out=tmp_path / "run", settings=SHORT)
    facts = json.loads((tmp_path / "run" / "run.json").read_text())
    remarks = [remark for found in facts["findings"] for remark in found["remarks"]]
    assert any("learns what is no entity only from" in remark for remark in remarks)


def test_scheme_without_beginnings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="scheme bioes or bio"):
        lacuner.train(
            GAPS, "partial_crf", out=tmp_path / "run", settings={**SHORT, "model": {"scheme": "io"}}
        )
