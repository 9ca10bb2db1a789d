"""Lacuner's own JSONL: one sentence a line, complete and lossless.

The first line may be a header, `{"lacuner": 1, "labels": [...]}`. A sentence has `id` and `tokens`;
what is empty or unknown is left out. Files can be joined by `cat`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import orjson

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import (
    Format,
    ReadOptions,
    WriteOptions,
    check_length,
    located,
)
from lacuner.corpus.formats.json_shapes import first_object, string, whole_number
from lacuner.corpus.sentence import Ambiguity, Entity, Sentence, Span
from lacuner.errors import DataError, InvalidSentence
from lacuner.files import read_json_lines

VERSION = 1
_FIELDS = {
    "id", "tokens", "entities", "rejected", "outside", "ambiguous",
    "complete", "text", "offsets", "document", "begin",
}  # fmt: skip


def recognise(path: Path, head: bytes) -> bool:
    """A header, or an object with tokens and nothing that Lacuner does not know."""
    found = first_object(head)
    return found is not None and ("lacuner" in found or {"id", "tokens"} <= set(found) <= _FIELDS)


def read(path: Path, options: ReadOptions, findings: Findings) -> Iterator[Sentence]:
    """Yields the sentences; labels of the header go to the findings."""
    for line, record in read_json_lines(path):
        if "lacuner" in record:
            findings.labels.update(_header_labels(path, line, record))
            continue
        unknown = set(record) - _FIELDS
        if unknown:
            raise DataError(
                path,
                f"field '{min(unknown)}' is unknown",
                line=line,
                right=f"A sentence has {', '.join(sorted(_FIELDS))}",
            )
        with located(path, line):
            sentence = _sentence(record, options)
        check_length(len(sentence), path, line, options)
        yield sentence


def write(
    sentences: Iterable[Sentence], path: Path, options: WriteOptions, findings: Findings
) -> None:
    """Writes everything there is to know."""
    rest = iter(sentences)
    first = list(islice(rest, 1))  # reading it also finds the labels that a header names
    labels = sorted({*options.labels, *findings.labels})
    with open(path, "wb") as file:
        file.write(orjson.dumps({"lacuner": VERSION, "labels": labels}) + b"\n")
        for sentence in chain(first, rest):
            file.write(orjson.dumps(_record(sentence), option=orjson.OPT_APPEND_NEWLINE))


def _header_labels(path: Path, line: int, record: dict[str, Any]) -> list[str]:
    if record["lacuner"] != VERSION:
        raise DataError(
            path,
            f"the file is of version {record['lacuner']!r}",
            line=line,
            right=f"This Lacuner reads version {VERSION}",
        )
    with located(path, line):
        return _strings(record.get("labels", []), "labels")


def _record(sentence: Sentence) -> dict[str, Any]:
    record: dict[str, Any] = {"id": sentence.id, "tokens": sentence.tokens}
    if sentence.entities:
        record["entities"] = [_entity_record(entity) for entity in sentence.entities]
    if sentence.rejected:
        record["rejected"] = sentence.rejected
    if sentence.outside:
        record["outside"] = sentence.outside
    if sentence.ambiguous:
        record["ambiguous"] = [
            {"start": a.start, "end": a.end, "labels": a.labels, "source": a.source}
            for a in sentence.ambiguous
        ]
    if sentence.complete:
        record["complete"] = True
    if sentence.text is not None:
        record["text"] = sentence.text
        record["offsets"] = sentence.offsets
    if sentence.document is not None:
        record["document"] = sentence.document
    if sentence.begin:
        record["begin"] = sentence.begin
    return record


def _entity_record(entity: Entity) -> dict[str, Any]:
    record: dict[str, Any] = {"start": entity.start, "end": entity.end, "label": entity.label}
    if entity.source is not None:
        record["source"] = entity.source
    if entity.score is not None:
        record["score"] = entity.score
    return record


def _sentence(record: dict[str, Any], options: ReadOptions) -> Sentence:
    text, offsets = record.get("text"), record.get("offsets")
    document = record.get("document")
    complete = record.get("complete", False)
    if not isinstance(complete, bool):
        raise InvalidSentence(f"'complete' is {complete!r}, not true or false")
    return Sentence(
        id=string(record, "id"),
        tokens=tuple(_strings(record.get("tokens"), "tokens")),
        entities=tuple(_entity(item) for item in _list(record, "entities")),
        rejected=_spans(record, "rejected"),
        outside=_spans(record, "outside"),
        ambiguous=tuple(_ambiguity(item) for item in _list(record, "ambiguous")),
        complete=complete or options.complete,
        text=None if text is None else string(record, "text"),
        offsets=None if offsets is None else _spans(record, "offsets"),
        document=None if document is None else string(record, "document"),
        begin=whole_number(record, "begin") if "begin" in record else 0,
    )


def _entity(item: Any) -> Entity:
    if not isinstance(item, dict):
        raise InvalidSentence(f"{item!r} is no entity; right is {{start, end, label}}")
    source, score = item.get("source"), item.get("score")
    if score is not None and not (
        isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
    ):
        raise InvalidSentence(f"the score {score!r} is no number between 0 and 1")
    return Entity(
        whole_number(item, "start"),
        whole_number(item, "end"),
        string(item, "label"),
        None if source is None else string(item, "source"),
        None if score is None else float(score),
    )


def _ambiguity(item: Any) -> Ambiguity:
    if not isinstance(item, dict):
        raise InvalidSentence(f"{item!r} is no ambiguity; right is {{start, end, labels}}")
    return Ambiguity(
        whole_number(item, "start"),
        whole_number(item, "end"),
        tuple(_strings(item.get("labels", []), "labels")),
        None if item.get("source") is None else string(item, "source"),
    )


def _list(record: dict[str, Any], name: str) -> list[Any]:
    value = record.get(name, [])
    if not isinstance(value, list):
        raise InvalidSentence(f"'{name}' is {value!r}, not a list")
    return value


def _strings(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidSentence(f"'{name}' is not a list of strings")
    return value


def _spans(record: dict[str, Any], name: str) -> tuple[Span, ...]:
    spans = []
    for item in _list(record, name):
        if not (
            isinstance(item, list)
            and len(item) == 2
            and all(type(number) is int for number in item)
        ):
            raise InvalidSentence(f"'{name}' has {item!r}; right is [start, end]")
        spans.append((item[0], item[1]))
    return tuple(spans)


LACUNER_JSONL = Format(
    name="lacuner",
    title="Lacuner's own JSONL, complete and lossless",
    suffixes=(".jsonl",),
    recognise=recognise,
    read=read,
    write=write,
)
