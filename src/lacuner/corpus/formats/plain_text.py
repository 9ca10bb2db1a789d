"""Plain text: every line is a document, cut into sentences and words.

With `wrapped`, lines of a paragraph belong together and a blank line ends it: the paragraph is the
document. A document is named by the number of its first line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import Format, ReadOptions, WriteOptions, check_length
from lacuner.corpus.formats.losses import remark_renaming, report_entities, report_unkept, respelt
from lacuner.corpus.formats.tag_rows import NO_WORDS
from lacuner.corpus.raw_text import sentences_of_text
from lacuner.corpus.sentence import Sentence
from lacuner.files import read_lines

_BREAKS = re.compile(r"[\r\n]")
_UNREADABLE = re.compile(r"[\0\ufeff]")


def recognise(path: Path, head: bytes) -> bool:
    """Any file whose name says so; stands at the end of all formats."""
    return bool(head) and path.name.lower().endswith((".txt", ".text"))


def read(path: Path, options: ReadOptions, findings: Findings) -> Iterator[Sentence]:
    """Yields the sentences, without labels."""
    documents = _paragraphs(path) if options.wrapped else read_lines(path)
    for line, text in documents:
        for sentence in sentences_of_text(
            text,
            str(line),
            split=options.split_sentences,
            wrapped=options.wrapped,
            complete=options.complete,
        ):
            check_length(len(sentence), path, line, options)
            yield sentence


def write(
    sentences: Iterable[Sentence], path: Path, options: WriteOptions, findings: Findings
) -> None:
    """Writes the text of each sentence on a line of its own, without labels."""
    number = 0
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for sentence in sentences:
            report_unkept(sentence, "text", findings)
            report_entities(sentence, findings)
            text = sentence.text
            if text is None:
                text = sentence.surface(0, len(sentence)) if sentence.tokens else ""
            text = _BREAKS.sub(" ", text).strip()
            if not text:
                findings.lose(NO_WORDS, sentence.id, "no words")
                continue
            number += 1
            remark_renaming(sentence, number, "text", findings)
            file.write(respelt([text], sentence.id, _UNREADABLE, "\ufffd", findings)[0] + "\n")


def _paragraphs(path: Path) -> Iterator[tuple[int, str]]:
    lines: list[str] = []
    first = 0
    for number, line in read_lines(path):
        if line.strip():
            first = first if lines else number
            lines.append(line)
        elif lines:
            yield first, "\n".join(lines)
            lines = []
    if lines:
        yield first, "\n".join(lines)


PLAIN_TEXT = Format(
    name="text",
    title="plain text, a document a line",
    suffixes=(".txt", ".text"),
    recognise=recognise,
    read=read,
    write=write,
)
