"""Pairs of files: a sentence a line in `X_text.txt`, its tags on that line of `X_label_<kind>.txt`.

Given either file, the other is found by its name. Of several label files `_label_true` is taken.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import Format, ReadOptions, WriteOptions
from lacuner.corpus.formats.losses import remark_documents, remark_renaming, respelt
from lacuner.corpus.formats.recognition import head_lines
from lacuner.corpus.formats.tag_rows import NO_WORDS, TagRow, sentences_of_rows
from lacuner.corpus.formats.tag_writing import check_options, tags_to_write
from lacuner.corpus.sentence import Sentence
from lacuner.corpus.tagging import looks_like_tag
from lacuner.errors import DataError, UsageError
from lacuner.files import read_lines

_TEXT = "_text.txt"
_LABEL_NAME = re.compile(r"(?P<stem>.*)_label(?:_[^.]*)?\.txt", re.DOTALL)
_SPACES = re.compile(r"[ \t]+")
_UNWRITABLE = re.compile(r"[ \t\r\n]")
_UNREADABLE = re.compile(r"[\0\ufeff]")


def recognise(path: Path, head: bytes) -> bool:
    """A text file with a label file beside it, or a label file, by name."""
    if not head:
        return False
    if path.name.endswith(_TEXT):
        return bool(_label_files(path))
    if not _LABEL_NAME.fullmatch(path.name):
        return False
    words = " ".join(head_lines(head)[:20]).split()
    return 2 * sum(map(looks_like_tag, words)) > len(words)


def read(path: Path, options: ReadOptions, findings: Findings) -> Iterator[Sentence]:
    """Yields the sentences; their ids are line numbers."""
    text, labels = _pair(path, options, findings)
    return sentences_of_rows(_rows(text, labels), labels, options, findings)


def write(
    sentences: Iterable[Sentence], path: Path, options: WriteOptions, findings: Findings
) -> None:
    """Writes the text file and, beside it, the label file.

    That is `X_label_true.txt` if all sentences are complete, else `X_label_dist.txt`.
    """
    check_options(options)
    if not path.name.endswith(_TEXT):
        raise UsageError(f"The name of a text file of a pair ends with {_TEXT}, not '{path.name}'.")
    stem = path.name.removesuffix(_TEXT)
    unnamed = path.with_name(f"{stem}_label.txt")
    complete, number = True, 0
    with (
        open(path, "w", encoding="utf-8", newline="\n") as text,
        open(unnamed, "w", encoding="utf-8", newline="\n") as labels,
    ):
        for sentence in sentences:
            if not sentence.tokens:
                findings.lose(NO_WORDS, sentence.id, "no words")
                continue
            number += 1
            complete = complete and sentence.complete
            remark_renaming(sentence, number, "pairs", findings)
            remark_documents(sentence, "pairs", findings)
            words = respelt(sentence.tokens, sentence.id, _UNWRITABLE, "_", findings)
            words = respelt(words, sentence.id, _UNREADABLE, "\ufffd", findings)
            tags = tags_to_write(sentence, options.scheme, options, findings, format="pairs")
            text.write(" ".join(words) + "\n")
            labels.write(" ".join(tags) + "\n")
    named = f"{stem}_label_{'true' if complete else 'dist'}.txt"
    os.replace(unnamed, path.with_name(named))
    findings.remark(f"the tags of {path.name} are in {named} beside it")


def _label_files(text: Path) -> list[Path]:
    stem = text.name.removesuffix(_TEXT)
    try:
        return [
            file
            for file in sorted(text.parent.iterdir())
            if (match := _LABEL_NAME.fullmatch(file.name)) and match["stem"] == stem
        ]
    except OSError:
        return []


def _pair(path: Path, options: ReadOptions, findings: Findings) -> tuple[Path, Path]:
    if options.label_file is not None:
        return path, Path(options.label_file)
    match = _LABEL_NAME.fullmatch(path.name)
    if match and not path.name.endswith(_TEXT):
        text = path.with_name(match["stem"] + _TEXT)
        if not text.exists():
            raise DataError(path, f"there is no {text.name} beside it, which would hold its words")
        return text, path
    found = _label_files(path) if path.name.endswith(_TEXT) else []
    if not found:
        stem = path.name.removesuffix(_TEXT).removesuffix(".txt")
        raise DataError(
            path,
            "there is no file of tags beside it",
            right=f"Its name is {stem}_label.txt or {stem}_label_<kind>.txt, "
            "or --label-file (in Python: label_file=) says it",
        )
    gold = [file for file in found if file.name.endswith("_label_true.txt")]
    taken = (gold or found)[0]
    if len(found) > 1:
        others = ", ".join(file.name for file in found if file != taken)
        findings.remark(
            f"{path}: tags are taken from {taken.name}; there is also {others}: "
            "read that file instead, or say --label-file"
        )
    return path, taken


def _rows(text: Path, labels: Path) -> Iterator[TagRow]:
    pairs = zip_longest(read_lines(text), read_lines(labels))
    for text_line, label_line in pairs:
        number, line = text_line or (label_line[0], "")
        words, tags = _cut(line), _cut(label_line[1] if label_line else "")
        if len(words) != len(tags):
            if text_line is None or label_line is None:
                raise _different_files(text, labels)
            raise DataError(
                labels,
                f"{len(tags)} tags for {len(words)} words in {text.name}",
                line=number,
                right="Each line has one tag for each word on the same line of the text file",
            )
        if words:
            yield TagRow(str(number), words, tags, lines=[number] * len(words))


def _cut(line: str) -> list[str]:
    line = line.strip(" \t")
    return _SPACES.split(line) if line else []


def _different_files(text: Path, labels: Path) -> DataError:
    counts = [sum(1 for _ in read_lines(file)) for file in (text, labels)]
    return DataError(
        labels,
        f"it has {counts[1]:,} lines and {text.name} has {counts[0]:,}",
        line=min(counts) + 1,
        right="Each line of tags belongs to the same line of the text file",
    )


TEXT_LABEL_PAIRS = Format(
    name="pairs",
    title="a file of sentences and a file of their tags",
    suffixes=(_TEXT,),
    recognise=recognise,
    read=read,
    write=write,
)
