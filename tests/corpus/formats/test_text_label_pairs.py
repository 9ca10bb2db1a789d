"""Pairs of text and label files: finding the other one, and pairs that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from lacuner import Corpus, Entity, Sentence, read, write
from lacuner.corpus.findings import Findings
from lacuner.errors import DataError, OutputExists, UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a_text.txt").write_text("Ada left\nRome won again\n")
    (tmp_path / "a_label_dist.txt").write_text("B-PER O\nO O O\n")
    return tmp_path


def counts(corpus: Corpus) -> tuple[int, int]:
    return len(corpus), corpus.entity_count


@pytest.mark.parametrize("name", ["a_text.txt", "a_label_dist.txt"])
def test_either_file_finds_the_other(folder: Path, name: str) -> None:
    findings = Findings()
    corpus = read(folder / name, findings=findings)
    assert [sentence.tokens for sentence in corpus] == [("Ada", "left"), ("Rome", "won", "again")]
    assert counts(corpus) == (2, 1)
    assert "read as pairs" in findings.remarks[0]


def test_true_labels_are_taken_of_several_and_remarked(folder: Path) -> None:
    (folder / "a_label_true.txt").write_text("B-PER O\nB-LOC O O\n")
    findings = Findings()
    assert counts(read(folder / "a_text.txt", findings=findings)) == (2, 2)
    assert "a_label_true.txt" in findings.remarks[1] and "--label-file" in findings.remarks[1]
    forced = read(folder / "a_text.txt", label_file=folder / "a_label_dist.txt")
    assert counts(forced) == (2, 1)
    assert counts(read(folder / "a_label_dist.txt")) == (2, 1)


def test_label_file_of_another_text_is_not_taken(folder: Path) -> None:
    (folder / "b_text.txt").write_text("Ada left\n")
    assert counts(read(folder / "b_text.txt")) == (1, 0)  # plain text
    with pytest.raises(DataError, match="no file of tags"):
        read(folder / "b_text.txt", format="pairs")


def test_label_file_without_text_is_refused(folder: Path) -> None:
    (folder / "a_text.txt").unlink()
    with pytest.raises(DataError, match=r"no a_text\.txt beside it"):
        read(folder / "a_label_dist.txt")


@pytest.mark.parametrize(
    ("labels", "line", "what"),
    [
        ("B-PER O\nO O\n", 2, "2 tags for 3 words"),
        ("B-PER O\n", 2, "1 lines and a_text.txt has 2"),
        ("B-PER O\nO O O\nO\n", 3, "3 lines and a_text.txt has 2"),
        ("B-PER O\nO O X\n", 2, "tag 'X' is unknown"),
        ("O I-PER\nO O O\nO\n", 3, "3 lines"),
    ],
)
def test_pair_that_does_not_fit_is_refused(folder: Path, labels: str, line: int, what: str) -> None:
    (folder / "a_label_dist.txt").write_text(labels)
    with pytest.raises(DataError, match=what) as caught:
        read(folder / "a_text.txt")
    assert caught.value.line == line
    assert caught.value.path.name == "a_label_dist.txt"


def test_blank_lines_at_one_end_are_harmless(folder: Path) -> None:
    (folder / "a_label_dist.txt").write_text("B-PER O\nO O O\n\n\n")
    assert counts(read(folder / "a_text.txt")) == (2, 1)


@pytest.mark.parametrize(("complete", "kind"), [(True, "true"), (False, "dist")])
def test_both_files_are_written(tmp_path: Path, complete: bool, kind: str) -> None:
    sentence = Sentence("1", ("Ada", "left"), (Entity(0, 1, "PER"),), complete=complete)
    write([sentence], tmp_path / "b_text.txt")
    assert (tmp_path / "b_text.txt").read_text() == "Ada left\n"
    assert (tmp_path / f"b_label_{kind}.txt").read_text() == "B-PER O\n"
    assert len(list(tmp_path.iterdir())) == 2


def test_labels_that_exist_are_not_replaced_silently(folder: Path) -> None:
    (folder / "a_text.txt").unlink()
    with pytest.raises(OutputExists, match="a_label_dist"):
        write([Sentence("1", ("Ada",))], folder / "a_text.txt")
    assert not (folder / "a_text.txt").exists()
    assert (folder / "a_label_dist.txt").read_text() == "B-PER O\nO O O\n"


def test_name_must_be_that_of_a_text_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="_text"):
        write(Corpus(()), tmp_path / "a.txt", format="pairs")
