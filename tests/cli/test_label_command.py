"""`lacuner label` as a user meets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import lacuner as package
from lacuner import Entity
from tests.cli.conftest import Run

Lacuner = Callable[..., Run]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache-home"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "news.txt").write_text("Maren Holt moved to Bergen. She may stay.\nHolt won.\n")
    (tmp_path / "people.txt").write_text("Maren Holt\tHolt\n[b]May[/b]\n")
    (tmp_path / "places.csv").write_text("name,label\nBergen,LOC\nGhent,LOC\n")
    return tmp_path


def _label(lacuner: Lacuner, folder: Path, *more: object) -> Run:
    return lacuner(
        "label", folder / "news.txt", "--names", f"PER={folder / 'people.txt'}",
        "--names", folder / "places.csv", "-o", folder / "out.jsonl", *more,
    )  # fmt: skip


def test_label_writes_the_corpus_and_prints_the_report(lacuner: Lacuner, folder: Path) -> None:
    run = _label(lacuner, folder)
    assert run.code == 0, run.err
    corpus = package.read(folder / "out.jsonl")
    assert [s.entities for s in corpus] == [
        (Entity(0, 2, "PER", "people.txt:Maren Holt"), Entity(4, 5, "LOC", "places.csv:Bergen")),
        (),
        (Entity(0, 1, "PER", "people.txt:Maren Holt"),),
    ]
    assert corpus.labels == ("LOC", "PER")
    for shown in ("entities", "PER", "places.csv", "never found", "Ghent", "[b]May[/b]"):
        assert shown in run.out
    assert "read as text" in run.err


def test_label_keeps_compiled_dictionaries_where_it_is_told(lacuner: Lacuner, folder: Path) -> None:
    assert _label(lacuner, folder).code == 0
    assert list((folder / "cache-home" / "lacuner" / "gazetteers").iterdir())
    assert _label(lacuner, folder, "--overwrite", "--cache", folder / "mine").code == 0
    assert list((folder / "mine").iterdir())


def test_label_without_cache_leaves_none(lacuner: Lacuner, folder: Path) -> None:
    assert _label(lacuner, folder, "--no-cache", "-q").code == 0
    assert not (folder / "cache-home").exists()


def test_label_report_goes_to_a_file_and_as_json_to_the_output(
    lacuner: Lacuner, folder: Path
) -> None:
    run = _label(lacuner, folder, "--json", "--report", folder / "report.json")
    assert run.code == 0
    printed = json.loads(run.out)
    assert printed["by_label"] == {"PER": 2, "LOC": 1}
    assert printed.pop("output").endswith("out.jsonl")
    assert json.loads((folder / "report.json").read_text()) == printed


def test_label_quiet_prints_nothing(lacuner: Lacuner, folder: Path) -> None:
    run = _label(lacuner, folder, "--quiet")
    assert (run.code, run.out, run.err) == (0, "", "")


def test_label_reads_character_corpora_and_stop_lists(lacuner: Lacuner, folder: Path) -> None:
    rows = "".join(f"{character}\tO\n" for character in "我要买note5去東京")
    (folder / "ec.tsv").write_text(rows + "\n", "utf-8")
    (folder / "xh.txt").write_text("note5\n東京\n", "utf-8")
    (folder / "stop.txt").write_text("東京\n", "utf-8")
    run = lacuner(
        "label", folder / "ec.tsv", "--names", f"xh={folder / 'xh.txt'}", "--relabel",
        "--stop", folder / "stop.txt", "-o", folder / "out.jsonl",
    )  # fmt: skip
    assert run.code == 0, run.err
    (sentence,) = package.read(folder / "out.jsonl")
    assert [entity.span for entity in sentence.entities] == [(3, 8)]


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--case", "lower"], 2, "There is no case mode 'lower'"),
        (["--min-length", "0"], 2, "The minimal length is 1 or more"),
        (["--names", "nothing.txt"], 2, "says no labels"),
        (["--names", "PER=nothing.txt"], 1, "there is no such file"),
        (["--min-length", "30"], 1, "No name is left"),
    ],
)
def test_label_says_what_is_wrong_and_writes_nothing(
    lacuner: Lacuner, folder: Path, more: list[str], code: int, message: str
) -> None:
    run = _label(lacuner, folder, *more)
    assert run.code == code
    assert message in run.err
    assert not (folder / "out.jsonl").exists()


def test_label_needs_names(lacuner: Lacuner, folder: Path) -> None:
    assert lacuner("label", folder / "news.txt", "-o", folder / "out.jsonl").code == 2


def test_label_refuses_a_bad_dictionary_with_its_line(lacuner: Lacuner, folder: Path) -> None:
    (folder / "people.txt").write_text("Maren Holt\n\nMay\n")
    run = _label(lacuner, folder)
    assert (run.code, "line 2: the name is blank" in run.err) == (1, True)


def test_label_does_not_replace_output_unasked(lacuner: Lacuner, folder: Path) -> None:
    (folder / "out.jsonl").write_text("mine")
    run = _label(lacuner, folder)
    assert (run.code, "exists already" in run.err) == (1, True)
    assert (folder / "out.jsonl").read_text() == "mine"
    assert _label(lacuner, folder, "--overwrite").code == 0


def test_label_refuses_bad_text_and_leaves_no_half_file(lacuner: Lacuner, folder: Path) -> None:
    (folder / "news.txt").write_bytes(b"Maren Holt\n" * 3 + b"caf\xe9\n")
    run = _label(lacuner, folder, "--units", "words")
    assert (run.code, "line 4" in run.err) == (1, True)
    assert sorted(path.name for path in folder.glob("*out*")) == []


def test_label_keeps_to_candidate_phrases(lacuner: Lacuner, folder: Path) -> None:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    nlp = spacy.blank("en")
    nlp.add_pipe("attribute_ruler").add([[{"ORTH": "Holt"}]], {"POS": "PROPN"})
    nlp.to_disk(folder / "pipeline")
    run = _label(lacuner, folder, "--phrases", folder / "pipeline")
    assert run.code == 0, run.err
    assert "no candidate phrase" in run.out
    found = [entity.span for s in package.read(folder / "out.jsonl") for entity in s.entities]
    assert found == [(1, 2), (0, 1)]


def test_label_says_that_there_is_no_such_pipeline(lacuner: Lacuner, folder: Path) -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed")
    run = _label(lacuner, folder, "--phrases", "en_core_none")
    assert (run.code, "There is no spaCy pipeline 'en_core_none' here" in run.err) == (2, True)
    assert not (folder / "out.jsonl").exists()
