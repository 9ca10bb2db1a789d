"""Rows of words and tags become sentences: the rules that all formats with tags share.

- The scheme is found out from the first rows unless it is named.
- O means *unknown*, unless the file says `UNK` for that, or somebody vouches for its labels.
- Tags that break their scheme are mended on request. Otherwise their words stay unknown as long as
  such breaks are rare in the file; a file with many of them is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import ReadOptions, check_length, located
from lacuner.corpus.sentence import Entity, Sentence
from lacuner.corpus.tagging import (
    OUTSIDE,
    SCHEMES,
    UNKNOWN,
    BrokenTag,
    Decoded,
    UnknownTag,
    decode_tags,
    find_scheme,
    runs,
)
from lacuner.errors import DataError, UsageError
from lacuner.suggestions import unknown_name

# The scheme is found out from so many rows with entities, or so many rows.
_TAGGED_HEAD, _HEAD = 500, 10_000
# One break in so many entities is tolerated: real corpora have stray tags.
_RARE = 50

MENDED = "tag mended"
LEFT_OUT = "tag that breaks the scheme left out"
NOT_CLOSED = "entity that is not closed kept as far as its tags go"
NO_WORDS = "sentence without words left out"


@dataclass(frozen=True, slots=True)
class TagRow:
    """One sentence as it stands in a file.

    Attributes:
        id: Its name.
        words: The words.
        tags: One tag a word.
        lines: The line of each word; None in JSON, where `record` says the place.
        record: The number of the JSON record.
        document: The document it belongs to.
    """

    id: str
    words: Sequence[str]
    tags: Sequence[str]
    lines: Sequence[int] | None = None
    record: int | None = None
    document: str | None = None

    def error(self, path: Path, index: int, what: str, right: str) -> DataError:
        """An error at the word `index`."""
        if self.lines is not None:
            return DataError(path, what, line=self.lines[index], right=right)
        return DataError(path, f"record {self.record}: {what}", right=right)


def checked_scheme(scheme: str) -> str:
    """The scheme, if there is one of that name.

    Raises:
        UsageError: There is none.
    """
    if scheme not in SCHEMES:
        raise UsageError(unknown_name("tag scheme", scheme, SCHEMES))
    return scheme


def sentences_of_rows(
    rows: Iterable[TagRow], path: Path, options: ReadOptions, findings: Findings
) -> Iterator[Sentence]:
    """Yields the sentences that rows of tags say.

    Args:
        rows: The rows, read while sentences are yielded.
        path: The file that holds the tags, for messages.
        options: `scheme`, `repair`, `complete` and `max_words` are heeded.
        findings: Collects tags that were mended or left out.

    Raises:
        DataError: An unknown tag; too many tags that break the scheme, at the end of the file.
    """
    rows = iter(rows)
    head = _head(rows)
    scheme = checked_scheme(options.scheme or find_scheme(row.tags for row in head))
    says_unknown = any(UNKNOWN in row.tags for row in head)
    breaks = _Breaks(path)
    for row in chain(head, rows):
        if not row.words:
            findings.lose(NO_WORDS, row.id, "no words")
            continue
        check_length(len(row.words), path, row.lines[0] if row.lines else None, options)
        decoded = _decode(row, path, scheme, options)
        says_unknown = says_unknown or UNKNOWN in row.tags
        breaks.add(row, decoded)
        for broken in decoded.broken:
            kind = MENDED if options.repair else _kind(broken, decoded)
            findings.lose(kind, row.id, _detail(row, broken, scheme))
        yield _sentence(row, decoded, path, options, findings, says_unknown=says_unknown)
    if not options.repair:
        breaks.refuse_many(scheme)


def _head(rows: Iterator[TagRow]) -> list[TagRow]:
    head: list[TagRow] = []
    tagged = 0
    for row in rows:
        head.append(row)
        tagged += any(tag not in (OUTSIDE, UNKNOWN) for tag in row.tags)
        if tagged == _TAGGED_HEAD or len(head) == _HEAD:
            break
    return head


def _decode(row: TagRow, path: Path, scheme: str, options: ReadOptions) -> Decoded:
    try:
        return decode_tags(row.tags, scheme, repair=options.repair)
    except UnknownTag as unknown:
        what = f"tag '{unknown.tag}' is unknown"
        raise row.error(path, unknown.index, what, unknown.right) from None


def _sentence(
    row: TagRow,
    decoded: Decoded,
    path: Path,
    options: ReadOptions,
    findings: Findings,
    *,
    says_unknown: bool,
) -> Sentence:
    labelled = sum(end - start for start, end, _ in decoded.spans)
    gaps = labelled + list(row.tags).count(OUTSIDE) < len(row.tags)
    complete = options.complete and not gaps
    if options.complete and UNKNOWN in row.tags:
        findings.remark(f"{path}: words tagged {UNKNOWN} stay unknown, also in complete labels")
    outside = not complete and (options.complete or says_unknown)
    line = row.lines[0] if row.lines else None
    with located(path, line, record=row.record):
        return Sentence(
            row.id,
            tuple(row.words),
            tuple(Entity(start, end, label) for start, end, label in decoded.spans),
            outside=tuple(runs(tag == OUTSIDE for tag in row.tags)) if outside else (),
            complete=complete,
            document=row.document,
        )


def _kind(broken: BrokenTag, decoded: Decoded) -> str:
    inside = any(start <= broken.index < end for start, end, _ in decoded.spans)
    return NOT_CLOSED if inside else LEFT_OUT


def _detail(row: TagRow, broken: BrokenTag, scheme: str) -> str:
    where = f"line {row.lines[broken.index]}" if row.lines else f"word {broken.index + 1}"
    return f"{where}: {broken.what} ({scheme})"


class _Breaks:
    """Counts what breaks the scheme, until the end of the file tells whether that is much."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first: tuple[TagRow, BrokenTag] | None = None
        self._breaks = self._entities = 0

    def add(self, row: TagRow, decoded: Decoded) -> None:
        self._entities += len(decoded.spans)
        self._breaks += len(decoded.broken)
        if decoded.broken and self._first is None:
            self._first = row, decoded.broken[0]

    def refuse_many(self, scheme: str) -> None:
        if self._first is None or self._breaks * _RARE <= self._entities:
            return
        row, broken = self._first
        others = self._breaks - 1
        also = f" and {others:,} more places like it" if others else ""
        raise row.error(
            self._path,
            broken.index,
            f"{broken.what}, which {scheme} does not allow{also}",
            "--repair (in Python: repair=True) lets such tags begin an entity; "
            "--scheme says another scheme",
        )
