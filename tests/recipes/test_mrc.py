"""Questions for labels: those that are given, and those made of a label's name."""

from __future__ import annotations

from pathlib import Path

import pytest

import lacuner
from lacuner import Corpus
from lacuner.errors import UsageError
from lacuner.recipes.mrc import questions_for


def test_label_without_a_question_gets_one_of_its_name() -> None:
    asked = questions_for(["PER", "JOB_TITLE", "x"], {"x": "Which letter ?"})
    assert asked == [
        "Which person is mentioned in the text ?",
        "Which job title is mentioned in the text ?",
        "Which letter ?",
    ]


def test_question_for_no_label_or_without_words_is_refused() -> None:
    with pytest.raises(UsageError, match="Did you mean PER"):
        questions_for(["PER"], {"PERS": "Who ?"})
    with pytest.raises(UsageError, match=r"questions\.PER is empty"):
        questions_for(["PER"], {"PER": " "})


def test_encoder_that_reads_no_questions_is_refused(small_corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="by a transformer only"):
        lacuner.train(
            small_corpus, "mrc", out=tmp_path / "run", settings={"encoder": {"name": "bilstm"}}
        )
