"""Entries of dictionaries as tables and JSON hold them, with their place for messages."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from lacuner.corpus.findings import Findings
from lacuner.errors import DataError
from lacuner.files import read_json, read_json_lines, read_lines

COLUMNS = ("name", "label", "aliases", "priority")
ALIAS_SEPARATOR = "|"
_HIGHEST_PRIORITY = 1_000_000
_SHAPES = (
    'Right is ["name", …], {"LABEL": ["name", …]} or '
    '[{"name": …, "label": …, "aliases": […], "priority": …}, …]'
)


class Record(NamedTuple):
    """An entry as it stands in a file; `place` says where, for people, if it has no line."""

    place: str | None
    name: str
    label: str | None = None
    aliases: tuple[str, ...] = ()
    priority: int = 0
    line: int | None = None


def is_blank(name: str) -> bool:
    """Is there nothing to be seen in a name?"""
    if name.isprintable():
        return not name or name.isspace()
    return not any(char.isprintable() and not char.isspace() for char in name)


def read_table_records(path: Path, findings: Findings) -> Iterator[Record]:
    """Yields the rows of a CSV or TSV file with a header."""
    lines = (line + "\n" for _, line in read_lines(path))
    header_line = next(lines, "")
    if not header_line.strip():
        raise DataError(path, "the dictionary is empty", right=f"Its columns are {_listed()}")
    delimiter = _delimiter(path, header_line)
    rows = csv.reader(chain([header_line], lines), delimiter=delimiter, strict=True)
    header: list[str] = []
    columns: dict[str, int] = {}
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise DataError(path, f"this is no table: {error}", line=rows.line_num) from None
        if row is None:
            return
        if not header:
            header = [name.strip().lower() for name in row]
            columns = _columns(path, header, findings)
        elif row:
            yield _row_record(path, row, columns, len(header), rows.line_num)


def _delimiter(path: Path, header: str) -> str:
    if path.suffix.lower() == ".tsv":
        return "\t"
    return next((mark for mark in ",;\t" if mark in header), ",")


def _columns(path: Path, header: list[str], findings: Findings) -> dict[str, int]:
    unused = []
    for number, column in enumerate(header):
        if column in COLUMNS:
            if header.index(column) != number:
                raise DataError(path, f"two columns are called '{column}'", line=1)
            continue
        if get_close_matches(column, COLUMNS, n=1, cutoff=0.75):
            raise DataError(
                path, f"the column '{column}' is unknown", line=1, right=f"Columns are {_listed()}"
            )
        unused.append(column)
    if "name" not in header:
        raise DataError(
            path,
            f"no column is called 'name' among {', '.join(repr(column) for column in header)}",
            line=1,
            right=f"The first line is a header; its columns are {_listed()}",
        )
    if unused:
        findings.remark(f"{path}: not used: column {', '.join(unused)}")
    return {column: header.index(column) for column in COLUMNS if column in header}


def _listed() -> str:
    return "name, and where wanted label, aliases (separated by |) and priority"


def _row_record(
    path: Path, row: list[str], columns: dict[str, int], width: int, line: int
) -> Record:
    if len(row) != width:
        raise DataError(
            path,
            f"{len(row)} columns, where the header has {width}",
            line=line,
            right="A field that holds the separator is put in quotes",
        )
    aliases, priority, label = "", "", ""
    if "aliases" in columns:
        aliases = row[columns["aliases"]].strip()
    if "priority" in columns:
        priority = row[columns["priority"]].strip()
    if "label" in columns:
        label = row[columns["label"]].strip()
    try:
        rank = int(priority) if priority else 0
    except ValueError:
        rank = None
    return Record(
        None,
        row[columns["name"]],
        label or None,
        tuple(aliases.split(ALIAS_SEPARATOR)) if aliases else (),
        _priority(path, rank, priority, line),
        line,
    )


def read_json_records(path: Path, findings: Findings) -> Iterator[Record]:
    """Yields the names of a JSON file, of any shape that is right."""
    value = read_json(path)
    if isinstance(value, dict):
        for label, names in value.items():
            if not isinstance(names, list):
                raise DataError(path, f"'{label}' has no list of names", right=_SHAPES)
            for number, item in enumerate(names, start=1):
                yield _json_record(path, item, f"name {number} of {label}", label=label)
    elif isinstance(value, list):
        for number, item in enumerate(value, start=1):
            yield _json_record(path, item, f"name {number}")
    else:
        raise DataError(path, "this JSON holds no names", right=_SHAPES)


def read_json_line_records(path: Path, findings: Findings) -> Iterator[Record]:
    """Yields the names of a JSONL file, one object a line."""
    for line, item in read_json_lines(path):
        yield _json_record(path, item, "this name", line=line)


def _json_record(
    path: Path, item: Any, place: str, *, label: str | None = None, line: int | None = None
) -> Record:
    if isinstance(item, str):
        return Record(place, item, label, line=line)
    if not isinstance(item, dict):
        raise DataError(path, f"{place} is {item!r}, no name", line=line, right=_SHAPES)
    unknown = [key for key in item if key not in COLUMNS]
    if unknown:
        raise DataError(
            path,
            f"{place} has a field '{unknown[0]}', which is unknown",
            line=line,
            right=f"Fields are {', '.join(COLUMNS)}",
        )
    name, aliases = item.get("name"), item.get("aliases") or []
    if not isinstance(name, str):
        raise DataError(path, f"{place} has no 'name'", line=line, right=_SHAPES)
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        raise DataError(
            path, f"the aliases of '{name}' ({place}) are no list of strings", line=line
        )
    own, rank = item.get("label"), item.get("priority", 0)
    if own is not None and not isinstance(own, str):
        raise DataError(path, f"the label of '{name}' ({place}) is no string", line=line)
    number = _priority(path, rank, rank, line)
    return Record(place if line is None else None, name, own or label, tuple(aliases), number, line)


def _priority(path: Path, value: Any, written: Any, line: int | None) -> int:
    if type(value) is int and abs(value) <= _HIGHEST_PRIORITY:
        return value
    raise DataError(
        path,
        f"the priority '{written}' is no whole number up to {_HIGHEST_PRIORITY:,}",
        line=line,
        right="Right is 0 for most names and more for those that win",
    )
