"""JSON of Python literals: parsed when they are exactly that, never evaluated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lacuner import Corpus, read
from lacuner.errors import DataError


def read_records(folder: Path, *records: Any, **options: Any) -> Corpus:
    path = folder / "a.json"
    path.write_text(json.dumps(records))
    return read(path, format="literals", **options)


def record(words: Any, entities: Any = "[]") -> dict[str, Any]:
    return {"sentence": words, "labeled entities": entities}


def test_ends_are_inclusive(tmp_path: Path) -> None:
    corpus = read_records(tmp_path, record("['a', 'b', 'c']", "[(0, 1, 'PER'), (2, 2, 'LOC')]"))
    assert [entity.key for entity in corpus.sentences[0].entities] == [
        (0, 2, "PER"),
        (2, 3, "LOC"),
    ]


@pytest.mark.parametrize(
    "words", [["'", '"'], ["\\", "\n", "\t"], ["\x00", "\xa0", "\u3000", "🐍"], [" "]]
)
def test_words_are_what_python_writes(tmp_path: Path, words: list[str]) -> None:
    assert read_records(tmp_path, record(repr(words))).sentences[0].tokens == tuple(words)


@pytest.mark.parametrize(
    "words",
    [
        "__import__('os').system('touch evaluated')",
        "[__import__('os')]",
        "['a' 'b']",
        "['a'] + ['b']",
        "['a'] * 1000000000",
        "[f'{1}']",
        "['a', 1]",
        "['a'",
        "('a', 'b')",
        "{'a'}",
        "'a'",
        "",
        "[['a']]",
        "[" * 5000 + "]" * 5000,
        "-" * 100_000 + "1",
        r"['\ud800']",
        r"['\U0000DFFF']",
        r"['\N{BULLET}']",
        r"['\d']",
        r"['\U99999999']",
        "['\x00']",
        "['']",
        ["a"],
        None,
    ],
)
@pytest.mark.filterwarnings("error")
def test_anything_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="record 2"):
        read_records(tmp_path, record("['a']"), record(words))
    assert not (tmp_path / "evaluated").exists()


@pytest.mark.parametrize(
    "entities",
    [
        "[(0, 'PER')]",
        "[(0, 1, 2)]",
        "[('0', '1', 'PER')]",
        "[(0, 5, 'PER')]",
        "[(-1, 0, 'PER')]",
        "[(1, 0, 'PER')]",
        "[(0, 0, '')]",
        "[(0, 0, 'PER'), (0, 0, 'LOC')]",
        "[(0, 99999999999999999999, 'PER')]",
        "[(007, 0, 'PER')]",
        "[(0, 0, open('a'))]",
        "(0, 0, 'PER')",
    ],
)
def test_entities_that_are_none_are_refused(tmp_path: Path, entities: str) -> None:
    with pytest.raises(DataError, match="record 1"):
        read_records(tmp_path, record("['a', 'b']", entities))


@pytest.mark.parametrize("records", ['{"sentence": "[]"}', '["a"]', "3", "[{}]", "[null]"])
def test_other_json_is_refused(tmp_path: Path, records: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(records)
    with pytest.raises(DataError):
        read(path, format="literals")


def test_long_sentence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="6 words, more than 5"):
        read_records(tmp_path, record(repr(["a"] * 6)), max_words=5)


def test_huge_literal_is_parsed_in_time(tmp_path: Path) -> None:
    words = ["word"] * 200_000
    assert len(read_records(tmp_path, record(repr(words)), max_words=200_000).sentences[0]) == len(
        words
    )
    with pytest.raises(DataError, match="record 1"):
        read_records(tmp_path, record(repr(words)[:-1]), max_words=200_000)
