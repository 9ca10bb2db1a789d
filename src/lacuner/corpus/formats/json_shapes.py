"""What JSON of other people may hold: look at the first object, take fields of the right type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson

from lacuner.corpus.formats.recognition import HEAD
from lacuner.errors import InvalidSentence

_BOM = b"\xef\xbb\xbf"
_LONGEST = 1 << 26  # bytes of a first line


def first_object(head: bytes, path: Path | None = None) -> dict[str, Any] | None:
    """The JSON object on the first line that is not blank, if a file has one.

    Args:
        head: The first bytes of the file.
        path: The file, to read on where its first line is longer than the head.
    """
    lines = head.removeprefix(_BOM).lstrip().split(b"\n", 1)
    raw = lines[0]
    if path is not None and len(lines) == 1 and len(head) >= HEAD and raw.startswith(b"{"):
        try:
            with open(path, "rb") as file:
                raw = file.read(_LONGEST).removeprefix(_BOM).lstrip().split(b"\n", 1)[0]
        except OSError:
            return None
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def first_item(head: bytes) -> dict[str, Any] | None:
    """The first object of a JSON list, if the head of a file holds it whole."""
    text = head.removeprefix(_BOM).decode("utf-8", "replace").lstrip()
    if not text.startswith("["):
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text[1:].lstrip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


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
