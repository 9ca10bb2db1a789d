"""Entries: names that can stand on a line, whatever a knowledge base holds."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacuner.errors import LacunerError, OutputExists, UsageError
from lacuner.knowledge.answers import Term
from lacuner.knowledge.dictionary_folder import PROVENANCE, write_dictionaries
from lacuner.knowledge.entries import Entry, EntryCollector, clean, entry_of
from lacuner.knowledge.wikidata_types import WIKIDATA_TYPES, NameType, parse_types
from lacuner.labelling.names import name_files, read_names


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Ada  Lovelace", "Ada Lovelace"),
        ("\tAda\r\nLovelace\u2028", "Ada Lovelace"),
        ("A\0da\x07", "Ada"),
        ("\ud800x", "x"),
        (" \u200b\u00ad ", ""),
        ("", ""),
        ("東京", "東京"),
    ],
)
def test_clean_leaves_one_line(text: str, right: str) -> None:
    assert clean(text) == right


@given(st.lists(st.lists(st.text(max_size=8), min_size=1, max_size=4), min_size=1, max_size=8))
def test_whatever_is_written_is_read_again(things: list[list[str]]) -> None:
    entries = [entry_of([Term(first)], map(Term, rest), ()) for first, *rest in things]
    kept = [entry for entry in entries if entry is not None]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "names"
        named = [("PER", entry) for entry in kept]
        if not kept:
            with pytest.raises(LacunerError, match="There is no name"):
                write_dictionaries(folder, named, provenance={})
            assert not folder.exists()
            return
        assert write_dictionaries(folder, named, provenance={"source": "x"}) == {"PER": len(kept)}
        read = list(read_names(name_files([str(folder)])))
    assert [Entry(name.name, name.aliases) for name in read] == kept
    assert {name.label for name in read} == {"PER"}


def test_folder_keeps_where_names_came_from_and_is_not_replaced_unasked(tmp_path: Path) -> None:
    folder = tmp_path / "names"
    write_dictionaries(folder, [("PER", Entry("Ada"))], provenance={"source": "x"})
    assert '"source": "x"' in (folder / PROVENANCE).read_text()
    with pytest.raises(OutputExists):
        write_dictionaries(folder, [("LOC", Entry("Ghent"))], provenance={})
    write_dictionaries(folder, [("LOC", Entry("Ghent"))], provenance={}, overwrite=True)
    assert sorted(path.name for path in folder.iterdir()) == [PROVENANCE, "LOC.txt"]


def test_rows_of_a_thing_become_one_entry_in_any_order() -> None:
    collector = EntryCollector(("en", "mul"))
    ada, augusta = Term("Ada", "en"), Term("Augusta", "mul")
    collector.add({"item": Term("Q1"), "name": augusta, "alias": Term("Ada", "en")})
    collector.add({"item": Term("Q2")})
    collector.add({"item": Term("Q1"), "name": ada, "alias": Term("Countess", "en")})
    collector.add({"item": Term("Q3"), "alias": Term("Al", "en")})
    assert list(collector.entries()) == [Entry("Ada", ("Augusta", "Countess")), Entry("Al")]
    assert list(collector.entries(limit=1)) == [Entry("Ada", ("Augusta", "Countess"))]


def test_rows_without_things_are_gathered_by_name() -> None:
    collector = EntryCollector()
    collector.add({"name": Term("Ada"), "alias": Term("A.")})
    collector.add({"name": Term("Ada"), "alias": Term("Countess")})
    assert list(collector.entries()) == [Entry("Ada", ("A.", "Countess"))]


def test_types_are_parsed_and_gathered_by_label() -> None:
    found = parse_types(["A=Q1, Q2", "B=Q3", "A=Q4,Q1"])
    assert found == [NameType("A", ("Q1", "Q2", "Q4")), NameType("B", ("Q3",))]


@pytest.mark.parametrize("wrong", ["PER", "PER=", "=Q5", "PER=human", "PER=P31", "a/b=Q5", ".x=Q5"])
def test_wrong_types_are_refused(wrong: str) -> None:
    with pytest.raises(UsageError):
        parse_types([wrong])


def test_shipped_types_share_no_class() -> None:
    assert list(WIKIDATA_TYPES) == ["PER", "LOC", "ORG", "MISC"]
    classes = [name for kind in WIKIDATA_TYPES.values() for name in kind.classes]
    assert len(classes) == len(set(classes))
