"""Which words have a capital is heard from text, and kept beside a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from lacuner import Sentence
from lacuner.augmentation.capitals import CapitalsHeard, read_capitals, write_capitals
from lacuner.errors import DataError


def _sentences(*texts: str) -> list[Sentence]:
    return [Sentence(str(number), tuple(text.split())) for number, text in enumerate(texts)]


def test_words_that_usually_have_a_capital_are_heard() -> None:
    heard = CapitalsHeard()
    given = _sentences(
        "Then I left Ghent in May and NATO met 1996",
        "Then in Ghent I may stay and we may go to NATO",
        "Then Once again in May",
        "THEN AND THEN AGAIN IN OSLO OSLO",
    )
    assert list(heard.hear(given)) == given
    # May is as often a verb, Once is heard only once, I is a letter; first words and headlines do
    # not count.
    assert heard.words() == ["ghent", "nato"]


def test_capitals_are_kept_and_found_again(tmp_path: Path) -> None:
    assert read_capitals(tmp_path) == frozenset()
    write_capitals(["ghent"], tmp_path)
    assert read_capitals(tmp_path) == {"ghent"}
    (tmp_path / "adaptation" / "capitals.json").write_text('{"ghent": 1}')
    with pytest.raises(DataError, match="no list of words"):
        read_capitals(tmp_path)
