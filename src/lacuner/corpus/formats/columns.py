"""CoNLL columns: a word a line with its tag, an empty line between sentences.

Columns are separated by tabs if the first line of words has a tab, else by white space. All lines
have the same number of columns. With tabs, a word may be a space; an empty word is an error.

- `-DOCSTART-` begins a document; documents are numbered from 1.
- A line that begins with `# ` is a comment unless it fits the columns and ends in a tag, since `#`
  is a word too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import Format, ReadOptions, WriteOptions, check_length
from lacuner.corpus.formats.losses import remark_renaming, respelt
from lacuner.corpus.formats.recognition import head_lines
from lacuner.corpus.formats.tag_rows import NO_WORDS, TagRow, sentences_of_rows
from lacuner.corpus.formats.tag_writing import check_options, tags_to_write
from lacuner.corpus.sentence import Sentence
from lacuner.corpus.tagging import OUTSIDE, looks_like_tag
from lacuner.errors import DataError
from lacuner.files import read_lines

DOCSTART = "-DOCSTART-"
_SUFFIXES = (
    ".conll", ".tsv", ".bio", ".bio2", ".iob", ".iob1", ".iob2", ".bioes", ".iobes", ".bilou",
    ".bmes", ".bmeso", ".io", ".conll03", ".conll2003",
)  # fmt: skip
_SPACES = re.compile(r"[ \t]+")
_UNWRITABLE = re.compile(r"[\t\r\n]")
_UNREADABLE = re.compile(r"[\0\ufeff]")
_LAYOUT_LINES = 1000


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the lines of a file are cut."""

    tabs: bool
    count: int

    def cut(self, line: str) -> list[str]:
        return _cut(line, tabs=self.tabs)

    def is_blank(self, line: str) -> bool:
        return not line.strip(" ") or not line.strip("\t")


@dataclass(slots=True)
class _Open:
    """The sentence that is being read."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def recognise(path: Path, head: bytes) -> bool:
    """Lines of equal columns that end in tags; half of them will do if the name says columns."""
    named = path.name.lower().endswith(_SUFFIXES)
    lines = [line for line in head_lines(head) if line.strip() and not _may_be_mark(line)][:500]
    rows = [_cut(line, tabs="\t" in line) for line in lines]
    tagged = sum(len(row) > 1 and looks_like_tag(row[-1]) for row in rows)
    if named:
        return bool(rows) and 2 * tagged >= len(rows)
    alike = len({len(row) for row in rows}) == 1
    words = any(not looks_like_tag(row[0]) for row in rows)
    return alike and words and tagged == len(rows)


def read(path: Path, options: ReadOptions, findings: Findings) -> Iterator[Sentence]:
    """Yields the sentences, numbered from 1."""
    return sentences_of_rows(_rows(path, options, findings), path, options, findings)


def write(
    sentences: Iterable[Sentence], path: Path, options: WriteOptions, findings: Findings
) -> None:
    """Writes word, tab, tag; a name that ends in `.bmes` is written as BMES."""
    check_options(options)
    scheme = options.scheme
    if scheme == "bio" and path.name.endswith((".bmes", ".bmeso")):
        scheme = "bmes"
    document: str | None = None
    number = 0
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for sentence in sentences:
            if not sentence.tokens:
                findings.lose(NO_WORDS, sentence.id, "no words")
                continue
            number += 1
            remark_renaming(sentence, number, "conll", findings)
            if sentence.document != document:
                findings.remark("conll keeps where documents begin, not their names")
                document = sentence.document
                file.write(f"{DOCSTART}\t{OUTSIDE}\n\n")
            words = _writable(sentence, findings)
            tags = tags_to_write(sentence, scheme, options, findings, format="conll")
            lines = [f"{word}\t{tag}\n" for word, tag in zip(words, tags, strict=True)]
            file.write("".join(lines) + "\n")


def _writable(sentence: Sentence, findings: Findings) -> list[str]:
    words = respelt(sentence.tokens, sentence.id, _UNWRITABLE, " ", findings)
    words = respelt(words, sentence.id, _UNREADABLE, "\ufffd", findings)
    # Such a word would begin a document.
    return respelt(words, sentence.id, re.compile(rf"^{DOCSTART}$"), "DOCSTART", findings)


def _rows(path: Path, options: ReadOptions, findings: Findings) -> Iterator[TagRow]:
    lines = read_lines(path)
    seen = _until_words(lines)
    layout = _layout(seen)
    if layout is None:
        return
    word_column, tag_column = _columns(path, seen[-1][0], layout, options)
    now = _Open()
    number = documents = 0
    for line_number, line in chain(seen, lines):
        blank, starts = layout.is_blank(line), _starts_document(line)
        if blank or starts:
            if now.words:
                number += 1
                yield _row(now, number, documents)
                now = _Open()
            documents += starts
            continue
        columns = layout.cut(line)
        if _is_comment(line, columns, layout, options):
            findings.remark(f"{path}: lines that begin with '# ' and hold no tag are comments")
            continue
        if len(columns) != layout.count:
            raise _wrong_count(path, line_number, len(columns), layout)
        if not columns[word_column]:
            raise DataError(
                path, "the word is empty", line=line_number, right="A line is a word and its tag"
            )
        now.words.append(columns[word_column])
        now.tags.append(columns[tag_column])
        now.lines.append(line_number)
        if len(now.words) > options.max_words:
            check_length(len(now.words), path, now.lines[0], options)
    if now.words:
        yield _row(now, number + 1, documents)


def _row(now: _Open, number: int, documents: int) -> TagRow:
    document = str(documents) if documents else None
    return TagRow(str(number), now.words, now.tags, lines=now.lines, document=document)


def _until_words(lines: Iterator[tuple[int, str]]) -> list[tuple[int, str]]:
    """The first lines, up to one that surely holds a word."""
    seen = []
    for number, line in lines:
        seen.append((number, line))
        if (line.strip() and not _may_be_mark(line)) or number == _LAYOUT_LINES:
            break
    return seen


def _layout(seen: list[tuple[int, str]]) -> _Layout | None:
    """How the last of these lines that may hold a word is cut; None if there is no such line."""
    words = [line for _, line in seen if line.strip() and not _starts_document(line)]
    if not words:
        return None
    tabs = "\t" in words[-1]
    return _Layout(tabs, len(_cut(words[-1], tabs=tabs)))


def _columns(path: Path, line: int, layout: _Layout, options: ReadOptions) -> tuple[int, int]:
    """The places of words and tags, counted from 0."""
    if layout.count < 2:
        raise DataError(
            path,
            "there is only one column",
            line=line,
            right="A line is a word and its tag, separated by a tab or a space",
        )
    for name, column in (("word", options.word_column), ("tag", options.tag_column)):
        if not -layout.count <= column < layout.count:
            raise DataError(
                path,
                f"there is no {name} column {column}",
                line=line,
                right=f"There are {layout.count} columns, from 0 to {layout.count - 1}",
            )
    word_column, tag_column = (
        column % layout.count for column in (options.word_column, options.tag_column)
    )
    if word_column == tag_column:
        raise DataError(
            path,
            f"column {word_column} cannot hold both words and tags",
            right="Say two columns by --word-column and --tag-column",
        )
    return word_column, tag_column


def _wrong_count(path: Path, line: int, count: int, layout: _Layout) -> DataError:
    separator = "tabs" if layout.tabs else "white space"
    return DataError(
        path,
        f"the line has {count} column{'s' * (count != 1)}, others have {layout.count}",
        line=line,
        right=f"Columns are separated by {separator} in this file, the same number on every line",
    )


def _cut(line: str, *, tabs: bool) -> list[str]:
    return line.split("\t") if tabs else _SPACES.split(line.strip(" \t"))


def _starts_document(line: str) -> bool:
    return line.startswith(DOCSTART) and _SPACES.split(line)[0] == DOCSTART


def _may_be_mark(line: str) -> bool:
    return line.startswith("# ") or _starts_document(line)


def _is_comment(line: str, columns: list[str], layout: _Layout, options: ReadOptions) -> bool:
    if not line.startswith("# "):
        return False
    fits = len(columns) == layout.count
    return not fits or not (options.scheme == "io" or looks_like_tag(columns[options.tag_column]))


COLUMNS = Format(
    name="conll",
    title="CoNLL columns, a word and its tag a line",
    suffixes=_SUFFIXES,
    recognise=recognise,
    read=read,
    write=write,
)
