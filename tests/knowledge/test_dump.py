"""Names from a dump: types, languages, ranks, packing, damage, and two readings that are kept."""

from __future__ import annotations

import bz2
import gzip
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacuner.errors import DataError
from lacuner.files import bytes_heard
from lacuner.knowledge.dump import names_of_dump
from lacuner.knowledge.entries import Entry
from lacuner.knowledge.from_endpoint import NameRequest
from lacuner.knowledge.subclasses import subclasses_in
from lacuner.knowledge.wikidata_types import NameType
from tests.knowledge.small_dump import ITEMS, claim, item, packed

TYPES = [
    NameType("PER", ("Q5",)),
    NameType("LOC", ("Q515", "Q6256")),
    NameType("MISC", (), demonyms_of=("Q6256",)),
]
ALL = {
    "PER": ["Maren Holt", "Sana Mirza", "Both"],
    "LOC": ["Gdynia", "Lake Orsa", "Ghent", "Both", "Norland"],
    "MISC": ["Norlander"],
}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.json"
    path.write_bytes(packed(ITEMS))
    return path


def _found(path: Path, request: NameRequest | None = None) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for label, entry in names_of_dump(path, TYPES, request or NameRequest()):
        found.setdefault(label, []).append(entry)
    return found


def _names(found: dict[str, list[Entry]]) -> dict[str, list[str]]:
    return {label: [entry.name for entry in entries] for label, entries in found.items()}


def test_names_of_all_types_are_found(dump: Path) -> None:
    found = _found(dump)
    assert _names(found) == ALL
    assert found["PER"][0] == Entry("Maren Holt", ("M. Holt",))


def test_languages_aliases_sitelinks_depth_and_limit_count(dump: Path) -> None:
    german = _found(dump, NameRequest(languages=("de", "en"), sitelinks=0))
    assert german["PER"][0] == Entry("Holt", ("Maren Holt", "M. Holt"))
    assert [entry.name for entry in german["PER"]] == [
        "Holt",
        "Unknown Soul",
        "Nur Deutsch",
        "Both",
    ]
    assert german["MISC"] == [Entry("Norländer", ("Norlander",))]
    assert _found(dump, NameRequest(aliases=False))["PER"][0] == Entry("Maren Holt")
    shallow = _names(_found(dump, NameRequest(depth=0)))
    assert shallow["LOC"] == ["Gdynia", "Both", "Norland"]
    assert {len(names) for names in _found(dump, NameRequest(limit=1)).values()} == {1}


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_packed_dump_is_read_and_its_bytes_are_heard(tmp_path: Path, pack: object) -> None:
    path = tmp_path / "dump.json.packed"
    path.write_bytes(pack(packed(ITEMS)))  # type: ignore[operator]
    heard: list[int] = []
    with bytes_heard(heard.append):
        assert _names(_found(path)) == ALL
    assert sum(heard) == 2 * path.stat().st_size


def test_lines_without_brackets_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "part.json"
    path.write_bytes(packed(ITEMS).strip(b"[]\n"))
    assert _names(_found(path)) == ALL


def test_classes_are_read_once_and_again_when_the_dump_changes(dump: Path, tmp_path: Path) -> None:
    readings: list[str] = []

    @contextmanager
    def reading(title: str) -> Iterator[None]:
        readings.append(title)
        yield

    def read() -> list[tuple[str, Entry]]:
        return list(
            names_of_dump(dump, TYPES, NameRequest(), cache=tmp_path / "c", reading=reading)
        )

    first = read()
    assert readings == ["classes", "names"]
    assert read() == first
    assert readings == ["classes", "names", "names"]
    (kept,) = (tmp_path / "c").iterdir()
    kept.write_bytes(kept.read_bytes()[:50])
    assert read() == first
    assert readings[3:] == ["classes", "names"]
    dump.write_bytes(packed([*ITEMS, item("Q99", {"en": "New"}, P31=[claim("Q5")])]))
    assert len(read()) == len(first) + 1
    assert readings[5:] == ["classes", "names"]


def test_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    peaks = []
    for count in (100, 1500):
        people = [
            item(f"Q{number + 10_000}", {"en": f"Person {number}"}, P31=[claim("Q5")])
            for number in range(count)
        ]
        path = tmp_path / f"{count}.json.gz"
        path.write_bytes(gzip.compress(packed(people), compresslevel=1))
        tracemalloc.start()
        assert sum(1 for _ in names_of_dump(path, TYPES, NameRequest())) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


WHOLE = packed(ITEMS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "there is no item"),
        (b"[\n]\n", "there is no item"),
        (b"<html>", "line 1: this is no dump of Wikidata"),
        (b"name,label\nBergen,LOC\n", "line 1: this is no dump of Wikidata"),
        (WHOLE.replace(b"\n", b""), "line 1: this is no dump of Wikidata"),
        (WHOLE[:-3], "its closing bracket is missing"),
        (b'[\n{"id":"Q1","claims":{"P279":[', "line 2: this is no JSON"),
        (b'[\n{"id":7,"claims":{"P279":[]}}\n]\n', "line 2: the line holds no item"),
        (b'[\n{"id":"Q7","claims":{"P279":[{}]}}\n]\n', "line 2: the line holds no item"),
        (b'[\n{"id":"Q7","claims":{"P31":["x"]}}\n]\n', "line 2: the line holds no item"),
        (b'[\n["P31"]\n]\n', "line 2: the line holds no item"),
        (gzip.compress(WHOLE)[:-30], "damaged or cut off"),
        (bz2.compress(WHOLE)[:-30], "damaged or cut off"),
        (b"\x1f\x8bnot gzip at all", "damaged or cut off"),
    ],
)
def test_other_and_damaged_files_are_refused_with_one_sentence(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        _found(path, NameRequest(sitelinks=0))
    assert message in str(caught.value)


def test_absent_dump_and_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(DataError):
            _found(path)


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=25),
    st.lists(st.integers(1, 9), max_size=3),
    st.integers(0, 5),
)
def test_subclasses_agree_with_a_walk_edge_by_edge(
    edges: list[tuple[int, int]], roots: list[int], depth: int
) -> None:
    expected = set(roots)
    for _ in range(depth):
        expected |= {child for child, parent in edges if parent in expected}
    table = np.array(edges, np.int64).reshape(-1, 2)
    assert subclasses_in(table, roots, depth).tolist() == sorted(expected)
