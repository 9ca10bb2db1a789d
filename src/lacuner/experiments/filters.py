"""`--only NAME=VALUE`: some of the runs of a study, or some of its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from lacuner.errors import UsageError
from lacuner.experiments.results import Row
from lacuner.suggestions import unknown_name

FILTERS = ("corpus", "encoder", "masking", "recipe", "seed", "system")

T = TypeVar("T")


def wanted(
    items: Sequence[T], value: Callable[[T, str], str], only: Mapping[str, Sequence[str]]
) -> list[T]:
    """Those items that have one of the wanted values, for each filter.

    Args:
        items: Runs or rows.
        value: The value of one of them, by the name of a filter.
        only: Wanted values, by the name of a filter; several may stand in one text, with commas.

    Raises:
        UsageError: There is no such filter, or nothing has that value.
    """
    kept = list(items)
    for name, texts in only.items():
        if name not in FILTERS:
            raise UsageError(unknown_name("filter", name, FILTERS))
        known = list(dict.fromkeys(value(item, name) for item in items))
        values = {one for text in texts for one in _values(text, name, known)}
        kept = [item for item in kept if value(item, name) in values]
    return kept


def _values(text: str, name: str, known: Sequence[str]) -> list[str]:
    """The values that a text names; a value may have commas itself."""
    found = [text] if text in known else [part.strip() for part in text.split(",")]
    for one in found:
        if one not in known:
            raise UsageError(unknown_name(name, one, known))
    return found


def wanted_rows(rows: Sequence[Row], only: Mapping[str, Sequence[str]]) -> list[Row]:
    """The wanted rows, and those of the ceiling, by which others are measured."""
    kept = {id(row) for row in wanted(rows, _value, only)}
    return [row for row in rows if id(row) in kept or row["recipe"] == "supervised"]


def _value(row: Row, name: str) -> str:
    if name == "masking":
        return f"{row['masking']:g}"
    return str(row.get(name, row["recipe"]))
