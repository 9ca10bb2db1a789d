"""JSON whose values are strings of Python literals: `sentence` and `labeled entities`.

    [{"sentence": "['Ada', 'left']", "labeled entities": "[(0, 0, 'PER')]"}]

Ends are inclusive. The strings must look exactly like a list of strings and a list of
`(start, end, label)` before they are parsed as literals; they are never evaluated.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
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
from lacuner.corpus.formats.json_shapes import string
from lacuner.corpus.formats.losses import remark_documents, remark_renaming, report_unkept
from lacuner.corpus.formats.tag_rows import NO_WORDS
from lacuner.corpus.sentence import Entity, Sentence
from lacuner.errors import DataError, InvalidSentence
from lacuner.files import read_json

_WORDS, _ENTITIES = "sentence", "labeled entities"
UNKNOWN_AS_ABSENT = "words known to be no entity not marked"

# What Python's repr writes. Nothing nests, so no string can exhaust the parser; half a surrogate
# pair (\ud800 and the like) is no character.
_ESCAPE = (
    r"\\(?:[\\'\"abfnrtv]|[0-3]?[0-7]{1,2}|x[\da-fA-F]{2}"
    r"|u(?![dD][89a-fA-F])[\da-fA-F]{4}|U(?!0000[dD][89a-fA-F])[\da-fA-F]{8})"
)
_STRING = rf"(?:'(?:[^'\\\n\r\0]|{_ESCAPE})*+'|\"(?:[^\"\\\n\r\0]|{_ESCAPE})*+\")"
_NUMBER = r"-?[0-9]{1,9}"
_ENTITY = rf"[(\[]\s*+{_NUMBER}\s*+,\s*+{_NUMBER}\s*+,\s*+{_STRING}\s*+[)\]]"


def _list_of(item: str) -> re.Pattern[str]:
    return re.compile(rf"\[\s*+(?:{item}\s*+(?:,\s*+{item}\s*+)*+(?:,\s*+)?)?\]", re.ASCII)


_LIST_OF_STRINGS = _list_of(_STRING)
_LIST_OF_ENTITIES = _list_of(_ENTITY)


def recognise(path: Path, head: bytes) -> bool:
    """A JSON list with these two fields."""
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return (
        begin.startswith(b"[")
        and begin[1:].lstrip().startswith(b"{")
        and f'"{_WORDS}"'.encode() in head
        and f'"{_ENTITIES}"'.encode() in head
    )


def read(path: Path, options: ReadOptions, findings: Findings) -> Iterator[Sentence]:
    """Yields the sentences, numbered by record."""
    records = read_json(path)
    if not isinstance(records, list):
        raise DataError(path, "this is no JSON list", right=_right())
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise DataError(path, f"record {number} is no JSON object", right=_right())
        with located(path, None, record=number):
            sentence = _sentence(str(number), record, options)
        check_length(len(sentence), path, None, options)
        if sentence.tokens:
            yield sentence
        else:
            findings.lose(NO_WORDS, sentence.id, "no words")


def write(
    sentences: Iterable[Sentence], path: Path, options: WriteOptions, findings: Findings
) -> None:
    """Writes words and entities, which may overlap."""
    number = 0
    with open(path, "wb") as file:
        file.write(b"[")
        for sentence in sentences:
            if not sentence.tokens:
                findings.lose(NO_WORDS, sentence.id, "no words")
                continue
            number += 1
            report_unkept(sentence, "literals", findings)
            remark_renaming(sentence, number, "literals", findings)
            remark_documents(sentence, "literals", findings)
            for span in sentence.outside:
                findings.lose(UNKNOWN_AS_ABSENT, sentence.id, f"'{sentence.surface(*span)}'")
            record = {
                _WORDS: repr(list(sentence.tokens)),
                _ENTITIES: repr([(e.start, e.end - 1, e.label) for e in sentence.entities]),
            }
            file.write(b",\n " if number > 1 else b"\n ")
            file.write(orjson.dumps(record))
        file.write(b"\n]\n")


def _right() -> str:
    return f"""Right is [{{"{_WORDS}": "['Ada', 'left']", "{_ENTITIES}": "[(0, 0, 'PER')]"}}, …]"""


def _sentence(number: str, record: dict[str, Any], options: ReadOptions) -> Sentence:
    words = _literal(record, _WORDS, _LIST_OF_STRINGS, "list of strings")
    entities = _literal(record, _ENTITIES, _LIST_OF_ENTITIES, "list of (start, end, 'label')")
    return Sentence(
        number,
        tuple(words),
        tuple(Entity(start, last + 1, label) for start, last, label in entities),
        complete=options.complete,
    )


def _literal(record: dict[str, Any], name: str, shape: re.Pattern[str], right: str) -> list[Any]:
    value = string(record, name).strip()
    wrong = f"'{name}' is no {right} written as Python literals: {value[:60]!r}"
    if not shape.fullmatch(value):
        raise InvalidSentence(wrong)
    try:
        found: list[Any] = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise InvalidSentence(wrong) from None
    return found


LITERALS_JSON = Format(
    name="literals",
    title="JSON of Python literals, 'sentence' and 'labeled entities'",
    suffixes=(".literals.json",),
    recognise=recognise,
    read=read,
    write=write,
)
