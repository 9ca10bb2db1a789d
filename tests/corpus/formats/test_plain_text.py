"""Plain text and JSONL of texts: documents, their names, and where their words stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lacuner import Corpus, Entity, Sentence, read, write
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import stream
from lacuner.errors import DataError


def read_as(path: Path, content: str, **options: Any) -> Corpus:
    path.write_bytes(content.encode())
    return read(path, **options)


def ids(corpus: Corpus) -> list[str]:
    return [sentence.id for sentence in corpus]


def test_line_is_a_document(tmp_path: Path) -> None:
    corpus = read_as(tmp_path / "a.txt", "Ada left. She won!\n\nRome fell.\n")
    assert ids(corpus) == ["1.1", "1.2", "3.1"]
    assert [sentence.document for sentence in corpus] == ["1", "1", "3"]
    assert corpus.sentences[1].tokens == ("She", "won", "!")
    assert corpus.sentences[1].begin == 10
    assert not any(sentence.complete for sentence in corpus)


def test_windows_text_is_read_and_remarked(tmp_path: Path) -> None:
    findings = Findings()
    corpus = read_as(tmp_path / "a.txt", "\ufeffAda left.\r\nRome fell.\r\n", findings=findings)
    assert [sentence.text for sentence in corpus] == ["Ada left.", "Rome fell."]
    assert sum("BOM" in remark or "CRLF" in remark for remark in findings.remarks) == 2


def test_wrapped_paragraph_is_a_document(tmp_path: Path) -> None:
    content = "\nAda left the\nold town. She\nwon!\n \nRome fell.\n"
    corpus = read_as(tmp_path / "a.txt", content, wrapped=True)
    assert ids(corpus) == ["2.1", "2.2", "6.1"]
    paragraph = "Ada left the\nold town. She\nwon!"
    for sentence in corpus.sentences[:2]:
        assert sentence.text == paragraph[sentence.begin :][: len(sentence.text or "")]
    assert corpus.sentences[0].tokens == ("Ada", "left", "the", "old", "town", ".")


def test_sentences_may_stay_together(tmp_path: Path) -> None:
    corpus = read_as(tmp_path / "a.txt", "Ada left. She won!\n", split_sentences=False)
    assert ids(corpus) == ["1.1"]


def test_text_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"Ada left.\n" * 3 + b"\xff\n")
    sentences = stream(path)
    assert [next(sentences).id for _ in range(3)] == ["1.1", "2.1", "3.1"]
    with pytest.raises(DataError, match="line 4"):
        next(sentences)


def test_endless_line_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 2: a sentence of 11 words"):
        read_as(tmp_path / "a.txt", "short\n" + "word " * 11, max_words=10)


def test_text_is_written_without_labels_and_says_so(tmp_path: Path) -> None:
    sentences = [
        Sentence("a", ("Ada", "left"), (Entity(0, 1, "PER"),)),
        Sentence("b", ("東", "京"), text="東\n京 ", offsets=((0, 1), (2, 3))),
        Sentence("c", ()),
    ]
    findings = Findings()
    write(sentences, tmp_path / "a.txt", findings=findings)
    assert (tmp_path / "a.txt").read_text() == "Ada left\n東 京\n"
    assert findings.counts == {"entity left out": 1, "sentence without words left out": 1}


def test_object_is_a_document(tmp_path: Path) -> None:
    content = '{"id": "x", "text": "Ada left. She won!"}\n\n{"id": 7, "text": "Ja"}\n{"text": "No"}'
    assert ids(read_as(tmp_path / "a.jsonl", content)) == ["x.1", "x.2", "7.1", "4.1"]


def test_text_field_may_be_said(tmp_path: Path) -> None:
    findings = Findings()
    content = '{"body": "Ada left.", "date": 3}\n'
    corpus = read_as(tmp_path / "a.jsonl", content, text_field="body", findings=findings)
    assert corpus.sentences[0].text == "Ada left."
    assert any("not read: date" in remark for remark in findings.remarks)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ('{"text": "a"}\n{"body": "b", "x": 1}\n', "line 2.*missing. There are body, x; --text-f"),
        ('{"text": "a"}\n{"text": 3}\n', "line 2.*is no string"),
        ('{"text": "a"}\n{"id": [], "text": "b"}\n', r"line 2: the id is \[\]"),
        ('{"text": "a"}\n{}\n', "no fields"),
        ('{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}\n', r"two sentences have the id '1\.1'"),
        ('{"text": " "}\n', "no sentence"),
    ],
)
def test_object_without_text_is_refused(tmp_path: Path, content: str, what: str) -> None:
    with pytest.raises(DataError, match=what):
        read_as(tmp_path / "a.jsonl", content, format="text-jsonl")


def test_object_with_labels_is_no_raw_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no format fits"):
        read_as(tmp_path / "a.jsonl", '{"text": "Ada", "ner": {"0": "PER"}}\n')
