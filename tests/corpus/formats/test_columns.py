"""CoNLL columns: what is a word, a tag, a comment, a document; what is broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lacuner import Corpus, Entity, Sentence, read, write
from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.columns import COLUMNS, recognise
from lacuner.errors import DataError, UsageError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.conll"


def read_as(path: Path, content: str, findings: Findings | None = None, **options: Any) -> Corpus:
    path.write_bytes(content.encode())
    return read(path, findings=findings, **options)


def keys(corpus: Corpus) -> list[list[tuple[int, int, str]]]:
    return [[entity.key for entity in sentence.entities] for sentence in corpus]


@pytest.mark.parametrize(
    "content",
    [
        "Ada\tB-PER\nleft\tO\n\nRome\tB-LOC\n",
        "Ada B-PER\nleft O\n\nRome B-LOC",
        "\n\nAda   B-PER\nleft \t O \n\n   \n\nRome B-LOC\n\n\n",
        "\ufeffAda B-PER\r\nleft O\r\n\r\nRome B-LOC\r\n",
        "Ada NNP x B-PER\nleft VB y O\n\nRome NNP z B-LOC\n",
        "Ada S-PER\nleft O\n\nRome S-LOC\n",
        "Ada U-PER\nleft O\n\nRome U-LOC\n",
        "Ada I-PER\nleft O\n\nRome I-LOC\n",
        "Ada\tB-PER\nleft\tO\n\t\nRome\tB-LOC\n",
    ],
)
def test_columns_of_all_kinds_say_the_same(path: Path, content: str) -> None:
    corpus = read_as(path, content)
    assert [sentence.tokens for sentence in corpus] == [("Ada", "left"), ("Rome",)]
    assert [sentence.id for sentence in corpus] == ["1", "2"]
    assert keys(corpus) == [[(0, 1, "PER")], [(0, 1, "LOC")]]
    assert not any(sentence.complete or sentence.outside for sentence in corpus)


@pytest.mark.parametrize(
    ("scheme", "content", "expected"),
    [
        ("io", "a PER\nb PER\nc O\n", [(0, 2, "PER")]),
        ("iob1", "a I-P\nb B-P\n", [(0, 1, "P"), (1, 2, "P")]),
        ("bio", "a B-P\nb I-P\n", [(0, 2, "P")]),
        ("bmes", "a B-P\nb M-P\nc E-P\n", [(0, 3, "P")]),
        ("bilou", "a B-P\nb L-P\nc U-P\n", [(0, 2, "P"), (2, 3, "P")]),
    ],
)
def test_scheme_may_be_said(
    path: Path, scheme: str, content: str, expected: list[tuple[int, int, str]]
) -> None:
    assert keys(read_as(path, content, scheme=scheme, format="conll")) == [expected]


def test_columns_may_be_said(path: Path) -> None:
    content = "1\tAda\tB-PER\tx\n2\tleft\tO\ty\n"
    corpus = read_as(path, content, format="conll", word_column=1, tag_column=-2)
    assert corpus.sentences[0].tokens == ("Ada", "left")
    assert keys(corpus) == [[(0, 1, "PER")]]


def test_space_is_a_word_between_tabs(path: Path) -> None:
    assert read_as(path, "a\tO\n \tO\nb\tO\n").sentences[0].tokens == ("a", " ", "b")


@pytest.mark.parametrize("separator", [" ", "\t"])
def test_hash_is_a_word_and_comments_are_not(path: Path, separator: str) -> None:
    findings = Findings()
    lines = ["# id = 7", "# O", "a O", "# a longer comment", "#b O", "# O"]
    content = "\n".join(line if "=" in line or "comment" in line else line.replace(" ", separator)
                        for line in lines)  # fmt: skip
    corpus = read_as(path, content, findings)
    assert corpus.sentences[0].tokens == ("#", "a", "#b", "#")
    assert any("comments" in remark for remark in findings.remarks)


def test_docstart_begins_a_document(path: Path) -> None:
    content = "a O\n\n-DOCSTART- -X- O O\n\nb O\n\nc O\n-DOCSTART- O\nd O\n"
    corpus = read_as(path, content)
    assert [sentence.document for sentence in corpus] == [None, "1", "1", "2"]
    out = path.with_name("b.conll")
    write(corpus, out)
    assert [sentence.document for sentence in read(out)] == [None, "1", "1", "2"]


def test_outside_is_known_in_a_file_that_says_unknown(path: Path) -> None:
    corpus = read_as(path, "a O\nb UNK\nc B-P\n\nd O\n")
    assert [sentence.outside for sentence in corpus] == [((0, 1),), ((0, 1),)]
    assert not any(sentence.complete for sentence in corpus)


def test_complete_is_what_somebody_vouches_for(path: Path) -> None:
    findings = Findings()
    corpus = read_as(path, "a O\nb UNK\n\nc O\nd B-P\n", findings, complete=True)
    assert [sentence.complete for sentence in corpus] == [False, True]
    assert corpus.sentences[0].outside == ((0, 1),)
    assert any("UNK" in remark for remark in findings.remarks)


@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ("a B-P\nb\n", 2, "1 column, others have 2"),
        ("a B-P\nb c O\n", 2, "3 columns, others have 2"),
        ("a\tB-P\nb O\n", 2, "separated by tabs"),
        ("a\tB-P\n\tO\n", 2, "word is empty"),
        ("a\tB-P\n\nb\t\n", 3, "tag '' is unknown"),
        ("a B-P\nb X-P\n", 2, "tag 'X-P' is unknown"),
        ("a O\nb PER\n", 2, "--scheme io"),
        ("a B-P\n\nb O\nc I-P\nd I-P\n", 4, "I-P after O"),
        ("a\n", 1, "only one column"),
        ("-DOCSTART- O\n", None, "no sentence"),
    ],
)
def test_broken_file_is_refused_with_its_line(
    path: Path, content: str, line: int | None, what: str
) -> None:
    with pytest.raises(DataError, match=what) as caught:
        read_as(path, content, format="conll")
    assert caught.value.line == line


@pytest.mark.parametrize(
    "options", [{"word_column": 5}, {"tag_column": -3}, {"word_column": 1, "tag_column": 1}]
)
def test_column_that_is_not_there_is_refused(path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="column"):
        read_as(path, "a O\n", format="conll", **options)


def test_unknown_scheme_is_wrong_use(path: Path) -> None:
    with pytest.raises(UsageError, match="bioes"):
        read_as(path, "a O\n", format="conll", scheme="bioe")
    with pytest.raises(UsageError, match="bioes"):
        write(Corpus(()), path, overwrite=True, scheme="bioe")


def with_breaks(entities: int, breaks: int) -> str:
    return "a B-P\n\n" * entities + "b O\nc I-P\nd I-P\n\n" * breaks


def test_rare_breaks_are_left_unknown_and_counted(path: Path) -> None:
    findings = Findings()
    corpus = read_as(path, with_breaks(50, 1), findings, complete=True)
    assert corpus.entity_count == 50
    assert findings.counts == {"tag that breaks the scheme left out": 1}
    assert corpus.sentences[-1].outside == ((0, 1),)
    assert not corpus.sentences[-1].complete and corpus.sentences[0].complete


def test_many_breaks_are_refused_unless_repaired(path: Path) -> None:
    with pytest.raises(DataError, match=r"1 more places like it\. --repair") as caught:
        read_as(path, with_breaks(99, 2))
    assert caught.value.line == 2 * 99 + 2
    findings = Findings()
    corpus = read_as(path, with_breaks(99, 2), findings, repair=True)
    assert corpus.entity_count == 101
    assert findings.counts == {"tag mended": 2}


def test_sentence_without_end_is_refused_while_reading(path: Path) -> None:
    with pytest.raises(DataError, match="more than 5"):
        read_as(path, "a O\n" * 6, max_words=5)
    assert len(read_as(path, "a O\n" * 5, max_words=5)) == 1


def test_scheme_is_found_behind_many_sentences_without_entities(path: Path) -> None:
    assert keys(read_as(path, "a O\n\n" * 3000 + "b B-P\nc E-P\n"))[-1] == [(0, 2, "P")]


def test_ending_bmes_is_written_as_bmes(tmp_path: Path) -> None:
    write([Sentence("1", ("a", "b"), (Entity(0, 2, "P"),))], tmp_path / "a.bmes")
    assert (tmp_path / "a.bmes").read_text() == "a\tB-P\nb\tE-P\n\n"


def test_unknown_words_are_written_as_told(path: Path) -> None:
    sentence = Sentence("1", ("a", "b", "c"), (Entity(0, 1, "P"),), outside=((1, 2),))
    findings = Findings(keep_all=True)
    write([sentence], path, unknown="UNK", findings=findings)
    assert path.read_text() == "a\tB-P\nb\tO\nc\tUNK\n\n"
    assert not findings.counts
    write([sentence], path, overwrite=True, findings=findings)
    assert path.read_text() == "a\tB-P\nb\tO\nc\tO\n\n"
    assert findings.losses[0].detail == "1 of 3 words"


@pytest.mark.parametrize("unknown", ["", "O", "U K"])
def test_tag_for_unknown_words_must_be_one(path: Path, unknown: str) -> None:
    with pytest.raises(UsageError):
        write(Corpus(()), path, unknown=unknown)
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "content", "known"),
    [
        ("a.tsv", "Paris\tLOC\nRome\tLOC\n", False),  # a list of names
        ("a.txt", "Ada left .\nShe won !\n", False),
        ("a.txt", "Ada B-PER\nleft O\n", True),
        ("a.conll", "Ada B-PER\nleft O\nRome X-LOC\n", True),
        ("a", "Ada left O\nRome O\n", False),
        ("a.conll", "Ada left Rome\n", False),
    ],
)
def test_columns_are_known_by_their_tags(name: str, content: str, known: bool) -> None:
    assert recognise(Path(name), content.encode()) == known
    assert COLUMNS.recognise is recognise
