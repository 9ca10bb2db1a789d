"""Reading files that may be broken, writing files that must not be.

Readers meet bytes of any kind here and leave with text or a `DataError`; writers write aside and
rename, so that an output is either whole or not there.
"""

from __future__ import annotations

import bz2
import gzip
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import orjson

from lacuner.errors import DataError, LacunerError, OutputExists

_BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_UTF8_BOM = b"\xef\xbb\xbf"
_listener: ContextVar[Callable[[int], None] | None] = ContextVar("bytes heard", default=None)


def decode(raw: bytes, path: Path, line: int) -> str:
    """Text from bytes that should be UTF-8 without NUL.

    Raises:
        DataError: Bytes of another encoding, or a NUL byte.
    """
    if b"\0" in raw:
        raise DataError(path, "there is a NUL byte", line=line, right="A text file has none")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            path,
            f"byte {raw[error.start]:#04x} at position {error.start + 1} is not UTF-8",
            line=line,
            right="Files are read as UTF-8; convert it with 'iconv -f ENCODING -t UTF-8', where "
            "ENCODING is its own, such as GB18030 or LATIN1",
        ) from None


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields `(number, line)` from 1, without line ends; reads Windows files and a UTF-8 BOM too.

    Raises:
        DataError: The file cannot be opened, or a line is no UTF-8 text.
    """
    for number, raw in _raw_lines(path):
        yield number, decode(raw, path, number).rstrip("\r\n")


def read_text(path: Path) -> str:
    """The whole file as text, with line ends as `\\n`."""
    return "\n".join(line for _, line in read_lines(path))


def read_bytes(path: Path) -> bytes:
    """The whole file.

    Raises:
        DataError: It cannot be opened.
    """
    with _opened(path) as file:
        raw: bytes = file.read()
    return raw


def read_json(path: Path) -> Any:
    """The value of a JSON file.

    Raises:
        DataError: The file cannot be opened, or is no JSON.
    """
    return parse_json(_without_bom(read_bytes(path), path), path)


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields `(line number, object)` for every line that is not blank.

    Raises:
        DataError: A line is no JSON object.
    """
    for number, raw in _raw_lines(path):
        if not raw.strip():
            continue
        value = parse_json(raw, path, line=number)
        if not isinstance(value, dict):
            raise DataError(
                path, "the line holds no JSON object", line=number, right='Right is {"…": …}'
            )
        yield number, value


def parse_json(raw: bytes, path: Path, *, line: int | None = None) -> Any:
    """A JSON value from bytes.

    Raises:
        DataError: It is no JSON.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        where = line if line is not None else error.lineno
        what = str(error).split(": line ")[0]
        raise DataError(path, f"this is no JSON: {what}", line=where) from None


@contextmanager
def bytes_heard(listener: Callable[[int], None]) -> Iterator[None]:
    """Tells `listener` of every piece that is read from files meanwhile: for progress bars."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def _raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    listener = _listener.get()
    with _opened(path) as file:
        for number, raw in enumerate(file, start=1):
            if listener:
                listener(len(raw))
            yield number, _without_bom(raw, path) if number == 1 else raw


def read_packed_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields `(number, line)` from 1, as bytes, of a file that may be packed by gzip or bzip2.

    Whoever listens to `bytes_heard` is told of packed bytes: they are what a file's size counts.

    Raises:
        DataError: The file cannot be opened, or is damaged or cut off.
    """
    listener = _listener.get()
    with _opened(path) as packed:
        head = packed.read(3)
        packed.seek(0)
        lines = packed
        if head[:2] == b"\x1f\x8b":
            lines = gzip.GzipFile(fileobj=packed)
        elif head == b"BZh":
            lines = bz2.BZ2File(packed)
        heard = 0
        try:
            for number, raw in enumerate(lines, start=1):
                place = packed.tell()
                if listener and place > heard:
                    listener(place - heard)
                    heard = place
                yield number, raw
        except (EOFError, zlib.error, OSError):
            raise DataError(
                path,
                "the packed file is damaged or cut off",
                right="Fetch it again; 'gzip -t' or 'bzip2 -t' checks it",
            ) from None


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        file = open(path, "rb")  # noqa: SIM115 (closed below; errors of the reader pass through)
    except FileNotFoundError:
        raise DataError(path, "there is no such file") from None
    except IsADirectoryError:
        raise DataError(path, "this is a folder, not a file") from None
    except OSError as error:
        raise DataError(path, f"it cannot be opened: {error.strerror}") from None
    with file:
        yield file


def _without_bom(raw: bytes, path: Path) -> bytes:
    if raw[:2] in _BOMS:
        raise DataError(
            path,
            f"the file is {_BOMS[raw[:2]]}",
            line=1,
            right="Files are read as UTF-8; convert it with 'iconv -f UTF-16 -t UTF-8'",
        )
    return raw.removeprefix(_UTF8_BOM)


@contextmanager
def written_aside(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A temporary place beside `path` to write a file or folder to, renamed when all went well.

    Files that belong to the output may be written beside the temporary place: they move with it,
    before it. One that is there already and says the same is no conflict.

    Example:
        >>> with written_aside(Path("out.txt")) as aside:  # doctest: +SKIP
        ...     aside.write_text("whole or not at all")

    Raises:
        OutputExists: `path`, or a file that belongs to it, is there and `overwrite` is false.
        LacunerError: The folder cannot be written to.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise OutputExists(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        workplace = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    except OSError as error:
        raise LacunerError(f"{path} cannot be written: {error.strerror}.") from None
    try:
        aside = workplace / path.name
        yield aside
        _move_into_place(aside, path, overwrite=overwrite)
    except OSError as error:
        raise LacunerError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def _move_into_place(aside: Path, path: Path, *, overwrite: bool) -> None:
    beside = [file for file in sorted(aside.parent.iterdir()) if file != aside]
    for file in beside:
        there = path.parent / file.name
        if there.exists() and not overwrite and there.read_bytes() != file.read_bytes():
            raise OutputExists(there)
    new = [path.parent / file.name for file in beside if not (path.parent / file.name).exists()]
    try:
        for file in beside:
            os.replace(file, path.parent / file.name)
        if path.is_dir() and aside.exists():
            shutil.rmtree(path)
        os.replace(aside, path)
    except OSError:
        for there in new:
            there.unlink(missing_ok=True)
        raise


def write_json(value: Any, path: Path) -> None:
    """Writes a JSON file for people and programs, whole or not at all, in place of another."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    with written_aside(path, overwrite=True) as aside:
        aside.write_bytes(orjson.dumps(value, option=options))
