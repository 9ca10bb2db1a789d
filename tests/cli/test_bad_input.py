"""Every kind of bad file ends in one clear sentence, exit code 1 and no half-written output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

CASES: list[tuple[str, str, bytes, str]] = [
    ("a line without a tag", "a.conll", b"Maren B-PER\nHolt\n", "line 2"),
    ("an unknown tag", "a.conll", b"Maren B-PER\nHolt X-PER\n", "line 2"),
    ("tags that break the scheme", "a.conll", b"Maren B-PER\nHolt O\nhere I-LOC\n", "line 3"),
    ("texts and tags of different length", "a_text.txt", b"Maren Holt left\n", "line 1"),
    ("an empty file", "a.conll", b"", "empty"),
    ("only blank lines", "a.conll", b"\n\n\n", "empty"),
    ("Latin-1 bytes", "a.conll", b"Malm\xf6 B-LOC\n", "line 1"),
    ("NUL bytes", "a.conll", b"Maren B-PER\nH\0lt I-PER\n", "line 2"),
    ("UTF-16", "a.conll", "Maren B-PER\n".encode("utf-16"), "UTF-16"),
    ("an empty word", "a.tsv", b"Maren\tB-PER\n\tO\n", "line 2"),
    ("a span outside the sentence", "a.jsonl",
     b'{"id":"1","tokens":["a"],"entities":[{"start":0,"end":2,"label":"X"}]}\n', "line 1"),
    ("two labels on one span", "a.jsonl",
     b'{"id":"1","text":"Bergen won","label":[[0,6,"ORG"],[0,6,"LOC"]]}\n', "line 1"),
    ("a span outside the text", "a.jsonl",
     b'{"id":"1","text":"Bergen won","label":[[0,60,"ORG"]]}\n', "line 1"),
    ("JSON that is cut off", "a.jsonl", b'{"id":"1","tokens":["a"]}\n{"id":"2","tok', "line 2"),
    ("JSON that is not what it claims", "a.jsonl",
     b'{"lacuner":1}\n{"id":"1","tokens":"Maren"}\n', "line 2"),
    ("code where literals should be", "a.json",
     b'[{"sentence": "__import__(\'os\').system(\'true\')", "labeled entities": "[]"}]',
     "literal"),
    ("a line of 200,000 words", "a.txt", b"word " * 200_000, "200,000 words"),
    ("a sentence of 200,000 words", "a.conll", b"word O\n" * 200_000, "words"),
    ("two sentences of one id", "a.jsonl", b'{"id":"1","tokens":["a"]}\n' * 2, "id '1'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "place"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_bad_file_is_refused_with_a_sentence(
    lacuner: Callable[..., Run], tmp_path: Path, name: str, content: bytes, place: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    if name.endswith("_text.txt"):
        (tmp_path / "a_label_true.txt").write_bytes(b"B-PER I-PER\n")
    before = sorted(tmp_path.iterdir())
    run = lacuner("mask", path, "-o", tmp_path / "out.jsonl")
    assert run.code == 1, run.err
    assert run.err.startswith("error: ") and str(path.parent) in run.err
    assert place in run.err
    assert sorted(tmp_path.iterdir()) == before


def test_repair_mends_broken_tags_and_counts_them(
    lacuner: Callable[..., Run], tmp_path: Path
) -> None:
    path = tmp_path / "a.conll"
    path.write_bytes(b"Maren B-PER\nHolt O\nhere I-LOC\n")
    run = lacuner("convert", path, "-o", tmp_path / "out.jsonl", "--repair")
    assert run.code == 0
    assert "mended: 1" in run.err


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbfMaren B-PER\nleft O\n", b"Maren B-PER\r\nleft O\r\n"]
)
def test_files_of_windows_are_read(
    lacuner: Callable[..., Run], tmp_path: Path, content: bytes
) -> None:
    path, out = tmp_path / "a.conll", tmp_path / "out.jsonl"
    path.write_bytes(content)
    assert lacuner("convert", path, "-o", out).code == 0
    assert '"tokens":["Maren","left"]' in out.read_text()
