"""`read`, `stream` and `write`: from a path to a corpus and back, whatever the format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats import FORMATS
from lacuner.corpus.formats.format import Format, ReadOptions, WriteOptions, located
from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.errors import DataError, UsageError
from lacuner.files import written_aside
from lacuner.suggestions import unknown_name

Options = TypeVar("Options", ReadOptions, WriteOptions)

_HEAD = 1 << 16


def detect(path: str | Path) -> Format:
    """The format of a file or folder, by its content and name.

    Raises:
        DataError: There is no such file, it is empty, or no format fits.
    """
    path = Path(path)
    head = b""
    if path.is_dir():
        if not any(path.iterdir()):
            raise DataError(path, "the folder is empty")
    else:
        try:
            with open(path, "rb") as file:
                head = file.read(_HEAD)
        except FileNotFoundError:
            raise DataError(path, "there is no such file") from None
        except OSError as error:
            raise DataError(path, f"it cannot be opened: {error.strerror}") from None
        if not head.strip():
            raise DataError(path, "the file is empty")
    for candidate in FORMATS.values():
        if candidate.recognise(path, head):
            return candidate
    raise DataError(
        path,
        "no format fits this file",
        right=f"Say which it is by --from (in Python: format=), one of {', '.join(FORMATS)}",
    )


def find_format(name: str) -> Format:
    """The format of that name.

    Raises:
        UsageError: There is none; the message names the close ones.
    """
    if name not in FORMATS:
        raise UsageError(unknown_name("format", name, FORMATS))
    return FORMATS[name]


def stream(
    path: str | Path,
    *,
    format: str | None = None,
    findings: Findings | None = None,
    **options: Any,
) -> Iterator[Sentence]:
    """Yields the sentences of a file one by one, in memory that does not grow with it.

    Takes what `read` takes.
    """
    with _found(findings) as found:
        chosen = find_format(format) if format else detect(path)
        found.remark(f"{path}: read as {chosen.name} ({chosen.title})")
        _remark_windows_marks(Path(path), found)
        empty = True
        for sentence in chosen.read(Path(path), _checked(ReadOptions, options), found):
            empty = False
            yield sentence
        if empty:
            raise DataError(path, "there is no sentence in it")


@contextmanager
def _found(findings: Findings | None) -> Iterator[Findings]:
    """The caller's findings; or new ones, that are logged in the end, so that none is silent."""
    if findings is not None:
        yield findings
        return
    findings = Findings()
    yield findings
    findings.log()


def _checked(kind: type[Options], options: dict[str, Any]) -> Options:
    for name in options:
        known = [field.name for field in fields(kind)]
        if name not in known:
            raise UsageError(unknown_name("option", name, known))
    return kind(**options)


def _remark_windows_marks(path: Path, findings: Findings) -> None:
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return  # a folder; or the reader will say what is wrong
    if b"\0" in head:
        return  # no text
    if head.startswith(b"\xef\xbb\xbf"):
        findings.remark(f"{path}: a byte order mark (BOM) at its beginning was skipped")
    if b"\r\n" in head:
        findings.remark(f"{path}: Windows line ends (CRLF) were read as line ends")


def read(
    path: str | Path,
    *,
    format: str | None = None,
    findings: Findings | None = None,
    **options: Any,
) -> Corpus:
    """Reads a corpus; the format is found out unless it is named.

    Args:
        path: A file or folder.
        format: A name of `lacuner formats`; None finds out.
        findings: Collects which format was taken, and what was lost or mended on the way. Without
            it, Python's logging is told (logger `lacuner`).
        **options: Fields of `ReadOptions`, such as `complete=True` or `scheme="bio"`.

    Example:
        >>> corpus = lacuner.read("train.conll", complete=True)  # doctest: +SKIP

    Raises:
        DataError: The file does not hold what it should; the message says where.
    """
    with _found(findings) as found, located(Path(path), None):
        sentences = tuple(stream(path, format=format, findings=found, **options))
        return Corpus(sentences, tuple(found.labels))


def write(
    corpus: Corpus | Iterable[Sentence],
    path: str | Path,
    *,
    format: str | None = None,
    overwrite: bool = False,
    findings: Findings | None = None,
    **options: Any,
) -> None:
    """Writes a corpus, or a stream of sentences; the file is whole or not there.

    Args:
        corpus: What to write.
        path: Where to.
        format: A name of `lacuner formats`; None takes it from the ending of `path`.
        overwrite: Replace what is there.
        findings: Collects what the format could not keep. Without it, Python's logging is told.
        **options: Fields of `WriteOptions`, such as `scheme="bioes"`.

    Raises:
        OutputExists: `path` is there and `overwrite` is false.
        UsageError: The format is unknown or cannot be written.
    """
    chosen = find_format(format) if format else _format_by_suffix(Path(path))
    if chosen.write is None:
        raise UsageError(f"Lacuner reads {chosen.name} and does not write it.")
    if isinstance(corpus, Corpus):
        options.setdefault("labels", corpus.labels)
    options.setdefault("folder", Path(path).parent)
    with (
        _found(findings) as found,
        written_aside(Path(path), overwrite=overwrite) as aside,
    ):
        chosen.write(corpus, aside, _checked(WriteOptions, options), found)


def _format_by_suffix(path: Path) -> Format:
    for candidate in FORMATS.values():
        if candidate.write and path.name.endswith(candidate.suffixes):
            return candidate
    endings = sorted({s for f in FORMATS.values() if f.write for s in f.suffixes})
    raise UsageError(
        f"The ending of {path} says no format. Say it by --to (in Python: format=), "
        f"or end the name with one of {' '.join(endings)}."
    )
