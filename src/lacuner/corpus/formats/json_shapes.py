"""What JSON of other people may hold: look at the first object, take fields of the right type."""

from __future__ import annotations

from typing import Any

import orjson

from lacuner.errors import InvalidSentence


def first_object(head: bytes) -> dict[str, Any] | None:
    """The JSON object on the first line that is not blank, if the head of a file has one."""
    for raw in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        if raw.strip():
            try:
                value = orjson.loads(raw)
            except orjson.JSONDecodeError:
                return None
            return value if isinstance(value, dict) else None
    return None


def string(record: dict[str, Any], name: str) -> str:
    """A field that must be a string.

    Raises:
        InvalidSentence: It is missing or something else.
    """
    value = record.get(name)
    if not isinstance(value, str):
        raise InvalidSentence(_wrong(record, name, "a string"))
    return value


def whole_number(record: dict[str, Any], name: str) -> int:
    """A field that must be a whole number.

    Raises:
        InvalidSentence: It is missing or something else.
    """
    value = record.get(name)
    if type(value) is not int:
        raise InvalidSentence(_wrong(record, name, "a whole number"))
    return value


def _wrong(record: dict[str, Any], name: str, right: str) -> str:
    if name not in record:
        return f"the field '{name}' is missing"
    return f"the field '{name}' is {record[name]!r}, not {right}"
