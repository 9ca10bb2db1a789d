"""Compiled dictionaries on disk: the second start maps them into memory instead of compiling.

A cache entry is a folder of arrays and a description, under a name that stands for the content of
the dictionaries and every option. It is written aside and renamed, and checked when it is read;
one that is damaged is compiled anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson
from numpy.typing import NDArray

from lacuner.errors import DataError, LacunerError
from lacuner.files import written_aside
from lacuner.labelling.gazetteer import Gazetteer, LeftOut, Tables
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.meanings import Meanings
from lacuner.labelling.names import NameFile
from lacuner.matching.array_folder import cache_home, digest_of_file, map_arrays, write_arrays
from lacuner.matching.string_table import StringTable

# Raise it when the tables, or the way in which names are cut or folded, change.
VERSION = 1
_PARTS = {"meanings": Meanings, "vocabulary": StringTable, "entries": StringTable}


def default_folder() -> Path:
    """Where compiled dictionaries are kept."""
    return cache_home() / "gazetteers"


def cache_key(files: Iterable[NameFile], options: MatchOptions) -> str:
    """A name for some dictionaries and options, which changes with their content.

    Raises:
        DataError: A dictionary cannot be read.
    """
    digest = blake2b(digest_size=16)
    digest.update(orjson.dumps([VERSION, asdict(options)], option=orjson.OPT_SORT_KEYS))
    for file in files:
        head = [file.path.name, file.path.suffix, file.label]
        digest.update(orjson.dumps(head) + digest_of_file(file.path))
    return digest.hexdigest()


def save(gazetteer: Gazetteer, folder: Path) -> None:
    """Writes a gazetteer to a folder, which is whole or not there.

    Raises:
        LacunerError: The folder cannot be written.
    """
    description = {
        "version": VERSION,
        "options": asdict(gazetteer.options),
        "labels": gazetteer.labels,
        "dictionaries": gazetteer.dictionaries,
        "left_out": gazetteer.left_out._asdict(),
    }
    with written_aside(folder, overwrite=True) as aside:
        write_arrays(aside, _arrays(gazetteer.tables), description)


def load(folder: Path, options: MatchOptions) -> Gazetteer | None:
    """The gazetteer of a folder, or None when there is none that is whole."""
    try:
        arrays, description = map_arrays(folder)
        if description["version"] != VERSION:
            return None
        return Gazetteer(
            options,
            tuple(description["labels"]),
            tuple(description["dictionaries"]),
            _tables(arrays),
            LeftOut(**description["left_out"]),
        )
    except (DataError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _arrays(tables: Tables) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for column in fields(tables):
        value = getattr(tables, column.name)
        if column.name in _PARTS:
            for part in fields(value):
                arrays[f"{column.name}-{part.name}"] = getattr(value, part.name)
        else:
            arrays[column.name] = value
    return arrays


def _tables(arrays: dict[str, NDArray[Any]]) -> Tables:
    values: dict[str, Any] = {}
    for column in fields(Tables):
        kind = _PARTS.get(column.name)
        values[column.name] = (
            kind(**{part.name: arrays[f"{column.name}-{part.name}"] for part in fields(kind)})
            if kind is not None
            else arrays[column.name]
        )
    return Tables(**values)


def remembered(folder: Path, gazetteer: Gazetteer) -> str | None:
    """Saves a gazetteer; says why when it cannot, for a cache is no reason to fail."""
    try:
        save(gazetteer, folder)
    except LacunerError as error:
        return str(error)
    return None
