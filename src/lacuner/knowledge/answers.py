"""What a SPARQL endpoint answers: a table, from the JSON of the SPARQL 1.1 standard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson


class Term(NamedTuple):
    """A value of the table, and its language where it has one."""

    value: str
    language: str = ""


@dataclass(frozen=True)
class Answer:
    """The rows of an answer; a variable without a value is absent from its row."""

    variables: tuple[str, ...]
    rows: list[dict[str, Term]]


class NoTable(ValueError):
    """Bytes that are no such table; `cut` when they look like one whose end is missing."""

    def __init__(self, what: str, *, cut: bool = False) -> None:
        self.cut = cut
        super().__init__(what)


def parse_answer(raw: bytes) -> Answer:
    """Reads the JSON of an answer.

    Raises:
        NoTable: It is something else; says what, as the end of "the server sent …".
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise _no_json(raw) from None
    if isinstance(value, dict) and isinstance(value.get("boolean"), bool):
        raise NoTable("yes or no in place of a table; the query must be a SELECT")
    try:
        variables = tuple(str(name) for name in value["head"]["vars"])
        rows = [_row(binding) for binding in value["results"]["bindings"]]
    except (KeyError, TypeError, AttributeError):
        raise NoTable("JSON that is no table of SPARQL") from None
    return Answer(variables, rows)


def _row(binding: dict[str, dict[str, Any]]) -> dict[str, Term]:
    row = {}
    for name, term in binding.items():
        value, language = term["value"], term.get("xml:lang", "")
        if not isinstance(value, str) or not isinstance(language, str):
            raise TypeError(name)
        row[name] = Term(value, language)
    return row


def _no_json(raw: bytes) -> NoTable:
    head = raw.lstrip()[:200].lower()
    if not head:
        return NoTable("nothing", cut=True)
    if head.startswith((b"<!doctype html", b"<html")):
        return NoTable("a web page in place of a table")
    if head.startswith(b"<"):
        return NoTable("XML in place of JSON")
    if head.startswith(b"{"):
        return NoTable("JSON that is cut off or broken", cut=True)
    return NoTable("something that is no JSON")
