"""Dictionaries of names: which files hold which label, and what is in them.

A dictionary is a text file (a name a line, aliases after tabs), a table (CSV or TSV with a header),
JSON or JSON lines, or a folder of such files, one a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lacuner.corpus.findings import Findings
from lacuner.errors import DataError, UsageError
from lacuner.files import read_lines
from lacuner.labelling.name_records import (
    Record,
    is_blank,
    read_json_line_records,
    read_json_records,
    read_table_records,
)


class Name(NamedTuple):
    """An entry of a dictionary.

    Attributes:
        name: How it is called.
        label: Its type.
        dictionary: The file it stands in.
        aliases: Other ways of writing it.
        priority: Names of higher priority win over others.
    """

    name: str
    label: str
    dictionary: str
    aliases: tuple[str, ...] = ()
    priority: int = 0


@dataclass(frozen=True)
class NameFile:
    """A file of names, and the label that all of them have; None when it says labels itself."""

    path: Path
    label: str | None = None


def _read_text_records(path: Path, findings: Findings) -> Iterator[Record]:
    blank = 0
    for number, line in read_lines(path):
        if not line or line.isspace():
            blank = blank or number
            continue
        if blank:  # a blank line is forgiven at the end of a file only
            raise DataError(path, "the name is blank", line=blank, right="Right is a name a line")
        name, *aliases = line.split("\t")
        yield Record(None, name, aliases=tuple(aliases), line=number)


_READERS: dict[str, Callable[[Path, Findings], Iterator[Record]]] = {
    ".txt": _read_text_records,
    ".csv": read_table_records,
    ".tsv": read_table_records,
    ".json": read_json_records,
    ".jsonl": read_json_line_records,
}


def name_files(descriptions: Iterable[str]) -> list[NameFile]:
    """The files behind `LABEL=path` and `path`; a folder is one file a label.

    Example:
        >>> name_files(["LOC=cities.csv"])
        [NameFile(path=PosixPath('cities.csv'), label='LOC')]

    Raises:
        UsageError: A description without a path, or without a label where none can be known.
        DataError: A folder without a dictionary.
    """
    files: list[NameFile] = []
    for description in descriptions:
        label, found, place = description.partition("=")
        if not found or Path(description).exists():
            label, place = "", description
        elif not label.strip() or not place:
            raise UsageError(f"--names takes LABEL=FILE or FILE; '{description}' is neither.")
        path = Path(place)
        if path.is_dir():
            files += _files_of_folder(path, label or None)
        elif not label and _reader(path) is _read_text_records:
            raise UsageError(
                f"{path} says no labels. Give the one of its names, as in --names PER={path}."
            )
        else:
            files.append(NameFile(path, label or None))
    if not files:
        raise UsageError("There are no names. Give them as in --names PER=people.txt.")
    return files


def _files_of_folder(folder: Path, label: str | None) -> list[NameFile]:
    paths = sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and path.suffix.lower() in _READERS and not path.name.startswith(".")
    )
    if not paths:
        raise DataError(
            folder,
            "there is no dictionary in this folder",
            right=f"Right are files such as PER.txt, ending in {' '.join(_READERS)}",
        )
    return [NameFile(path, label or path.stem) for path in paths]


def _reader(path: Path) -> Callable[[Path, Findings], Iterator[Record]]:
    return _READERS.get(path.suffix.lower(), _read_text_records)


def read_names(files: Iterable[NameFile], findings: Findings | None = None) -> Iterator[Name]:
    """Yields the names of some files, in their order.

    Args:
        files: As of `name_files`.
        findings: Collects remarks, such as columns that are not used.

    Raises:
        DataError: An empty dictionary, a blank name, a row without a label, a wrong shape.
    """
    findings = findings if findings is not None else Findings()
    for file in files:
        path, dictionary, empty = file.path, file.path.name, True
        for record in _reader(path)(path, findings):
            empty = False
            label = file.label or record.label
            if not label:
                raise DataError(
                    path,
                    f"'{record.name}'{_where(record)} has no label",
                    line=record.line,
                    right=f"Say one for all names, as in --names PER={path}, "
                    "or give each name a label",
                )
            for form in (record.name, *record.aliases):
                if is_blank(form):
                    raise DataError(
                        path,
                        f"a name is blank{_where(record)}",
                        line=record.line,
                        right="A name has at least one character that can be seen",
                    )
            yield Name(record.name, label, dictionary, record.aliases, record.priority)
        if empty:
            raise DataError(path, "the dictionary is empty", right="Right is a name a line")


def _where(record: Record) -> str:
    return f" ({record.place})" if record.place else ""


def read_stop_list(path: Path) -> tuple[str, ...]:
    """The names of a stop list, one a line; blank lines do not count.

    Raises:
        DataError: The file cannot be read.
    """
    return tuple(line.strip() for _, line in read_lines(path) if line.strip())
