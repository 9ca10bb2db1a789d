"""Names from a dump of Wikidata: one JSON object a line, read twice as a stream.

The first reading finds which class lies below which (property P279); its result, a table of
numbers, is kept on disk, for it is the same for every type. The second reading takes the names of
instances (P31). Memory holds the table of classes and one item.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from lacuner.errors import DataError
from lacuner.files import parse_json, read_packed_lines, written_aside
from lacuner.knowledge.answers import Term
from lacuner.knowledge.entries import Entry, entry_of
from lacuner.knowledge.from_endpoint import NameRequest
from lacuner.knowledge.subclasses import subclasses_in
from lacuner.knowledge.wikidata_types import NameType

INSTANCE_OF, SUBCLASS_OF, DEMONYM = "P31", "P279", "P1549"
_RIGHT = "Right is Wikidata's JSON dump as it is published, an item a line (.json, .gz or .bz2)"

Reading = Callable[[str], AbstractContextManager[None]]
"""Opens a context for one reading of the dump, given its title: for progress bars."""


def names_of_dump(
    path: Path,
    types: Sequence[NameType],
    request: NameRequest,
    *,
    cache: Path | None = None,
    reading: Reading = lambda title: nullcontext(),
) -> Iterator[tuple[str, Entry]]:
    """Yields labels and entries of a dump, in its order.

    Args:
        path: The dump, packed by gzip or bzip2 or not.
        types: The types wanted.
        request: Which names of them.
        cache: A folder that keeps the table of classes; None keeps none.
        reading: Context of each of the two readings.

    Raises:
        DataError: The file is no dump, is damaged or cut off.
    """
    edges = _class_edges(path, cache, reading)
    instances = _labels_of_classes(edges, {t.label: t.classes for t in types}, request.depth)
    demonyms = _labels_of_classes(edges, {t.label: t.demonyms_of for t in types}, request.depth)
    given = dict.fromkeys((kind.label for kind in types), 0)
    with reading("names"):
        for line, item in _items(path, INSTANCE_OF, sitelinks=request.sitelinks):
            with _shaped(path, line):
                found = list(_entries(item, instances, demonyms, request))
            for label, entry in found:
                if request.limit is None or given[label] < request.limit:
                    given[label] += 1
                    yield label, entry
            if request.limit is not None and min(given.values()) >= request.limit:
                return


def _entries(
    item: dict[str, Any],
    instances: dict[int, list[str]],
    demonyms: dict[int, list[str]],
    request: NameRequest,
) -> Iterator[tuple[str, Entry]]:
    if len(item.get("sitelinks") or ()) < request.sitelinks:
        return
    classes = _item_values(item, INSTANCE_OF)
    for labels, names_of in ((instances, _names), (demonyms, _demonyms)):
        for label in dict.fromkeys(own for c in classes for own in labels.get(c, ())):
            entry = entry_of(*names_of(item, request), request.languages)
            if entry is not None:
                yield label, entry


def _labels_of_classes(
    edges: NDArray[np.int64], roots: dict[str, tuple[str, ...]], depth: int
) -> dict[int, list[str]]:
    labels: dict[int, list[str]] = {}
    for label, names in roots.items():
        for number in subclasses_in(edges, (int(name[1:]) for name in names), depth).tolist():
            labels.setdefault(number, []).append(label)
    return labels


def _class_edges(path: Path, cache: Path | None, reading: Reading) -> NDArray[np.int64]:
    """Which class lies below which. [edges, 2]"""
    place = cache / f"{_fingerprint(path)}.npy" if cache is not None else None
    if place is not None:
        known = _known_edges(place)
        if known is not None:
            return known
    flat = array("q")
    with reading("classes"):
        for line, item in _items(path, SUBCLASS_OF):
            with _shaped(path, line):
                for parent in _item_values(item, SUBCLASS_OF):
                    flat.extend((int(item["id"][1:]), parent))
    edges = np.array(flat, np.int64).reshape(-1, 2)
    if place is not None:
        with written_aside(place, overwrite=True) as aside:
            np.save(aside, edges, allow_pickle=False)
    return edges


def _fingerprint(path: Path) -> str:
    try:
        state = path.stat()
    except OSError as error:
        raise DataError(path, f"it cannot be opened: {error.strerror}") from None
    facts = [str(path.resolve()), state.st_size, state.st_mtime_ns]
    return blake2b(orjson.dumps(facts), digest_size=16).hexdigest()


def _known_edges(place: Path) -> NDArray[np.int64] | None:
    try:
        edges = np.load(place, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    fits = edges.dtype == np.int64 and edges.ndim == 2 and edges.shape[1] == 2
    return edges if fits else None


def _items(path: Path, name: str, *, sitelinks: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields line and item where an item may have a property and so many sitelinks.

    Most have not, which the bytes of their lines tell: they are not even parsed.
    """
    needle = f'"{name}"'.encode()
    opened = closed = found = False
    for number, raw in read_packed_lines(path):
        line = raw.strip().removesuffix(b",")
        if not line:
            continue
        if not opened and not found:
            if line == b"[":
                opened = True
                continue
            if not line.startswith(b"{"):
                raise DataError(path, "this is no dump of Wikidata", line=number, right=_RIGHT)
        if line == b"]":
            closed = True
            continue
        found = True
        if needle in line and line.count(b'"site"') >= sitelinks:
            with _shaped(path, number):
                value = parse_json(line, path, line=number)
                is_item = value["id"][0] == "Q"  # not a property, nor a lexeme
            if is_item:
                yield number, value
    if opened and not closed:
        raise DataError(path, "the dump is cut off: its closing bracket is missing", right=_RIGHT)
    if not found:
        raise DataError(path, "there is no item in this dump", right=_RIGHT)


@contextmanager
def _shaped(path: Path, line: int) -> Iterator[None]:
    """Says where an item is not built as items of Wikidata are."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, IndexError):
        raise DataError(
            path, "the line holds no item of Wikidata", line=line, right=_RIGHT
        ) from None


def _statements(item: dict[str, Any], name: str) -> list[Any]:
    """The values of a property that count: the preferred ones, else the normal ones."""
    claims = item.get("claims")
    statements = claims.get(name) or [] if isinstance(claims, dict) else []
    for rank in ("preferred", "normal"):
        values = [
            statement["mainsnak"]["datavalue"]["value"]
            for statement in statements
            if statement.get("rank", "normal") == rank
            and statement["mainsnak"].get("snaktype") == "value"
        ]
        if values:
            return values
    return []


def _item_values(item: dict[str, Any], name: str) -> list[int]:
    return [int(value["id"][1:]) for value in _statements(item, name)]


def _names(item: dict[str, Any], request: NameRequest) -> tuple[list[Term], list[Term]]:
    labels, aliases = item.get("labels") or {}, item.get("aliases") or {}
    names = [Term(labels[code]["value"], code) for code in request.languages if code in labels]
    if not request.aliases:
        return names, []
    return names, [
        Term(alias["value"], code)
        for code in request.languages
        if code in aliases
        for alias in aliases[code]
    ]


def _demonyms(item: dict[str, Any], request: NameRequest) -> tuple[list[Term], list[Term]]:
    words = [Term(value["text"], value["language"]) for value in _statements(item, DEMONYM)]
    return [word for word in words if word.language in request.languages], []
