"""doccano's JSONL for sequence labelling: a text a line, with labels on its characters.

Labels stand in `label` (also `labels`) as `[start, end, "PER"]`, or, from projects with relations,
in `entities` as `{"start_offset", "end_offset", "label"}`; doccano imports and exports both. We
write the first. Relations, categories and comments are left out, which the findings say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import Format, ReadOptions, WriteOptions, located
from lacuner.corpus.formats.json_shapes import first_object, string, whole_number
from lacuner.corpus.formats.marked_records import (
    Names,
    checked_sentences,
    own_fields,
    reported,
    says,
)
from lacuner.corpus.marked_text import MarkedText, marked_texts
from lacuner.corpus.sentence import Entity, Sentence
from lacuner.errors import InvalidSentence
from lacuner.files import read_json_lines

_LABEL_FIELDS = ("label", "labels", "entities")
_LEFT_OUT = {"relations": "relation", "cats": "category", "Comments": "comment"}
_RIGHT = 'right is [start, end, "label"] or {"start_offset": …, "end_offset": …, "label": …}'


def recognise(path: Path, head: bytes) -> bool:
    """Lines with a text and a list of labels on its characters."""
    found = first_object(head, path)
    if found is None or not isinstance(found.get("text"), str):
        return False
    lists = [found[name] for name in _LABEL_FIELDS if isinstance(found.get(name), list)]
    return bool(lists) and all(_looks_like_label(item) for items in lists for item in items)


def read(path: Path, options: ReadOptions, findings: Findings) -> Iterator[Sentence]:
    """Yields the sentences of each line's text."""
    names = Names(findings)
    for line, record in read_json_lines(path):
        with located(path, line):
            marked = MarkedText(
                name=names.name(record.get("id"), line),
                text=string(record, options.text_field),
                entities=tuple(_entities(record)),
                complete=says(record, "complete"),
                one_sentence=says(record, "sentence"),
            )
        for name, what in _LEFT_OUT.items():
            if record.get(name):
                findings.lose(f"doccano {what} left out", marked.name, f"{record[name]!r}")
        yield from checked_sentences(marked, path, line, options, findings)


def write(
    sentences: Iterable[Sentence], path: Path, options: WriteOptions, findings: Findings
) -> None:
    """Writes a line a document, or a line a sentence that belongs to none."""
    told = reported(sentences, "doccano", findings, kept=frozenset())
    with open(path, "wb") as file:
        for marked in marked_texts(told, findings):
            labels = [[entity.start, entity.end, entity.label] for entity in marked.entities]
            record = {**own_fields(marked), "text": marked.text, "label": labels}
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def _looks_like_label(item: Any) -> bool:
    if isinstance(item, dict):
        return {"start_offset", "end_offset", "label"} <= set(item)
    return isinstance(item, list) and [type(part) for part in item] == [int, int, str]


def _entities(record: dict[str, Any]) -> Iterator[Entity]:
    for name in _LABEL_FIELDS:
        items = record.get(name)
        if items is None:
            continue
        if not isinstance(items, list):
            raise InvalidSentence(f"the field '{name}' is {items!r}, not a list; {_RIGHT}")
        for item in items:
            if not _looks_like_label(item):
                raise InvalidSentence(f"{item!r} is no label on characters; {_RIGHT}")
            if isinstance(item, dict):
                start, end = whole_number(item, "start_offset"), whole_number(item, "end_offset")
                yield Entity(start, end, string(item, "label"))
            else:
                yield Entity(*item)


DOCCANO = Format(
    name="doccano",
    title="doccano's JSONL for sequence labelling",
    suffixes=(".doccano.jsonl",),
    recognise=recognise,
    read=read,
    write=write,
)
