"""read, stream and write: what they find out, say and refuse."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import lacuner
from lacuner import Corpus, Entity, Findings, Sentence
from lacuner.errors import DataError, UsageError

NESTED = Sentence(
    "7",
    ("University", "of", "Ghent"),
    (Entity(0, 3, "ORG"), Entity(2, 3, "LOC")),
    complete=True,
)


def test_reading_says_which_format_it_took(
    small_corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "small.conll"
    lacuner.write(small_corpus.vouched(), path)
    findings = Findings()
    lacuner.read(path, findings=findings)
    assert "read as conll" in findings.remarks[0]
    with caplog.at_level(logging.INFO, "lacuner"):
        lacuner.read(path)
    assert "read as conll" in caplog.text


def test_losses_are_logged_when_nobody_collects_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lacuner.write([NESTED], tmp_path / "nested.conll")
    assert "nested" in caplog.text and "sentence 7" in caplog.text
    caplog.clear()
    lacuner.write([NESTED], tmp_path / "again.conll", findings=Findings())
    assert not caplog.text


def test_forced_format_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("Maren B-PER\nleft O\n")
    assert len(lacuner.read(path)) == 1
    assert len(lacuner.read(path, format="text")) == 2


def test_stream_yields_before_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id":"1","tokens":["a"]}\n{"broken\n')
    sentences = lacuner.stream(path)
    assert next(sentences).id == "1"
    with pytest.raises(DataError, match="line 2"):
        next(sentences)


@pytest.mark.parametrize("kind", ["read", "write"])
def test_unknown_options_name_the_close_ones(
    small_corpus: Corpus, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "a.conll"
    if kind == "read":
        lacuner.write(small_corpus.vouched(), path)
        with pytest.raises(UsageError, match="Did you mean complete"):
            lacuner.read(path, completed=True)
    else:
        with pytest.raises(UsageError, match="Did you mean scheme"):
            lacuner.write(small_corpus, path, schema="bio")
        assert not path.exists()


def test_file_that_nothing_fits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    with pytest.raises(DataError, match="no format fits"):
        lacuner.read(path)


def test_writing_by_an_unknown_ending_is_refused(small_corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="says no format"):
        lacuner.write(small_corpus, tmp_path / "small.xyz")
    with pytest.raises(UsageError, match="does not write"):
        lacuner.write(small_corpus, tmp_path / "small.jsonl", format="text-jsonl")
