"""JSONL of raw text: objects with a text field and no labels.

A document is named by its `id`, or by its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import Format, ReadOptions, check_length
from lacuner.corpus.formats.json_shapes import first_object
from lacuner.corpus.raw_text import sentences_of_text
from lacuner.corpus.sentence import Sentence
from lacuner.errors import DataError
from lacuner.files import read_json_lines

# Objects with one of these are annotated: another format, or none that Lacuner knows.
_LABELS = {
    "annotations", "entities", "entity", "label", "labels", "ner", "ner_tags", "spans", "tags",
    "tokens",
}  # fmt: skip


def recognise(path: Path, head: bytes) -> bool:
    """An object with a string and nothing that looks like labels; stands after all other JSONL."""
    found = first_object(head)
    if found is None or _LABELS & found.keys():
        return False
    named = path.name.lower().endswith((".jsonl", ".ndjson", ".jsonlines"))
    return isinstance(found.get("text"), str) or (
        named and any(isinstance(value, str) for value in found.values())
    )


def read(path: Path, options: ReadOptions, findings: Findings) -> Iterator[Sentence]:
    """Yields the sentences, without labels."""
    for line, record in read_json_lines(path):
        text = _text(record, path, line, options)
        others = record.keys() - {"id", options.text_field}
        if others:
            findings.remark(f"{path}: fields that are not read: {', '.join(sorted(others))}")
        for sentence in sentences_of_text(
            text,
            _name(record, path, line),
            split=options.split_sentences,
            wrapped=options.wrapped,
            complete=options.complete,
        ):
            check_length(len(sentence), path, line, options)
            yield sentence


def _text(record: dict[str, Any], path: Path, line: int, options: ReadOptions) -> str:
    text = record.get(options.text_field)
    if isinstance(text, str):
        return text
    what = "is no string" if options.text_field in record else "is missing"
    raise DataError(
        path,
        f"the field '{options.text_field}' {what}",
        line=line,
        right=f"There are {', '.join(map(str, record)) or 'no fields'}; "
        "--text-field (in Python: text_field=) says which holds the text",
    )


def _name(record: dict[str, Any], path: Path, line: int) -> str:
    name = record.get("id")
    if name is None:
        return str(line)
    if isinstance(name, str) and name:
        return name
    if type(name) is int:
        return str(name)
    raise DataError(
        path, f"the id is {name!r}", line=line, right="An id is a string or a whole number"
    )


TEXT_JSONL = Format(
    name="text-jsonl",
    title="JSONL of raw text",
    suffixes=(".jsonl",),
    recognise=recognise,
    read=read,
)
