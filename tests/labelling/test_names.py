"""Dictionaries of every shape, and everything that can be wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacuner.corpus.findings import Findings
from lacuner.errors import DataError, UsageError
from lacuner.labelling.names import Name, NameFile, name_files, read_names, read_stop_list


def _write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _read(path: Path, label: str | None = "X") -> list[Name]:
    return list(read_names([NameFile(path, label)]))


def test_text_has_a_name_a_line_and_aliases_after_tabs(tmp_path: Path) -> None:
    path = _write(tmp_path, "people.txt", "Ada Lovelace\tA. Lovelace\tAda L.\r\nMaren Holt\n\n")
    assert _read(path, "PER") == [
        Name("Ada Lovelace", "PER", "people.txt", ("A. Lovelace", "Ada L.")),
        Name("Maren Holt", "PER", "people.txt"),
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_table_has_labels_aliases_and_priorities(tmp_path: Path, separator: str) -> None:
    rows = [
        "Name,label,aliases,priority",
        "Bergen,LOC,Bjørgvin|Bryggen,2",
        '"Holt",PER,,',
    ]
    ending = ".tsv" if separator == "\t" else ".csv"
    path = _write(tmp_path, f"a{ending}", "\n".join(rows).replace(",", separator))
    assert _read(path, None) == [
        Name("Bergen", "LOC", path.name, ("Bjørgvin", "Bryggen"), 2),
        Name("Holt", "PER", path.name),
    ]


def test_given_label_wins_over_the_column(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.csv", "name,label\nBergen,LOC\n")
    assert _read(path, "CITY")[0].label == "CITY"


def test_columns_that_are_not_used_are_said(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.csv", "name,population\nBergen,291940\n")
    findings = Findings()
    list(read_names([NameFile(path, "LOC")], findings))
    assert findings.remarks == [f"{path}: not used: column population"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('["Bergen", "Ghent"]', [Name("Bergen", "X", "a.json"), Name("Ghent", "X", "a.json")]),
        (
            '[{"name": "Bergen", "aliases": ["B."], "priority": -1}]',
            [Name("Bergen", "X", "a.json", ("B.",), -1)],
        ),
    ],
)
def test_json_list_holds_strings_or_objects(
    tmp_path: Path, content: str, expected: list[Name]
) -> None:
    assert _read(_write(tmp_path, "a.json", content)) == expected


def test_json_object_holds_lists_by_label(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.json", '{"LOC": ["Bergen", {"name": "Oslo", "label": "CITY"}]}')
    assert [(n.name, n.label) for n in _read(path, None)] == [("Bergen", "LOC"), ("Oslo", "CITY")]


def test_json_lines_hold_an_object_each(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.jsonl", '{"name": "Bergen", "label": "LOC"}\n')
    assert _read(path, None) == [Name("Bergen", "LOC", "a.jsonl")]


def test_folder_is_one_file_a_label(tmp_path: Path) -> None:
    _write(tmp_path, "PER.txt", "Holt\n")
    _write(tmp_path, "LOC.csv", "name\nBergen\n")
    _write(tmp_path, ".hidden.txt", "x\n")
    _write(tmp_path, "notes.md", "x\n")
    names = read_names(name_files([str(tmp_path)]))
    assert [(n.name, n.label, n.dictionary) for n in names] == [
        ("Bergen", "LOC", "LOC.csv"),
        ("Holt", "PER", "PER.txt"),
    ]
    assert {n.label for n in read_names(name_files([f"X={tmp_path}"]))} == {"X"}


def test_file_whose_name_has_an_equals_sign_is_found(tmp_path: Path) -> None:
    path = _write(tmp_path, "a=b.csv", "name,label\nBergen,LOC\n")
    assert name_files([str(path)]) == [NameFile(path)]


@pytest.mark.parametrize("description", ["=a.txt", "PER=", "people.txt"])
def test_description_without_label_or_file_is_wrong_use(description: str) -> None:
    with pytest.raises(UsageError):
        name_files([description])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "", "a.txt: the dictionary is empty"),
        ("a.txt", "\n\n", "the dictionary is empty"),
        ("a.txt", "Ada\n \nHolt\n", "line 2: the name is blank"),
        ("a.txt", "Ada\t\n", "line 1: a name is blank"),
        ("a.txt", "Ada\n\u200b\n", "line 2: a name is blank"),
        ("a.txt", b"Caf\xe9\n", "line 1: byte 0xe9 at position 4 is not UTF-8"),
        ("a.txt", b"A\0\n", "line 1: there is a NUL byte"),
        ("a.csv", "", "the dictionary is empty"),
        ("a.csv", "name\n", "the dictionary is empty"),
        ("a.csv", "city,land\nBergen,NO\n", "line 1: no column is called 'name' among 'city'"),
        ("a.csv", "name,alias\nBergen,B\n", "line 1: the column 'alias' is unknown"),
        ("a.csv", "name,name\nBergen,B\n", "line 1: two columns are called 'name'"),
        ("a.csv", "name,label\nBergen\n", "line 2: 1 columns, where the header has 2"),
        ("a.csv", "name,priority\nBergen,high\n", "line 2: the priority 'high' is no whole"),
        ("a.csv", "name,priority\nBergen,9999999999\n", "line 2: the priority"),
        ("a.csv", 'name\n"Ber"gen\n', "line 2: this is no table"),
        ("a.csv", 'name\n" "\n', "line 2: a name is blank"),
        ("a.csv", "x" * 200_000, "line 1: this is no table"),
        ("a.csv", '"name\nBergen\n', "this is no table"),
        ("a.json", "{", "this is no JSON"),
        ("a.json", "[]", "the dictionary is empty"),
        ("a.json", "3", "this JSON holds no names. Right is"),
        ("a.json", '{"LOC": "Bergen"}', "'LOC' has no list of names"),
        ("a.json", '["a", 3]', "name 2 is 3, no name"),
        ("a.json", '[{"nme": "a"}]', "name 1 has a field 'nme', which is unknown"),
        ("a.json", '[{"label": "a"}]', "name 1 has no 'name'"),
        ("a.json", '[{"name": "a", "aliases": "b"}]', "no list of strings"),
        ("a.json", '[{"name": "a", "priority": true}]', "the priority 'True' is no whole number"),
        ("a.json", '[{"name": "a", "label": 3}]', "is no string"),
        ("a.json", '["a", ""]', "a name is blank (name 2)"),
        ("a.jsonl", '{"name": "a"}\n{"name": ""}\n', "line 2: a name is blank"),
    ],
)
def test_bad_dictionary_is_refused_with_its_place(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(DataError) as caught:
        _read(_write(tmp_path, name, content))
    assert message in str(caught.value)
    assert name in str(caught.value)


def test_row_without_any_label_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.csv", "name,label\nBergen,LOC\nOslo,\n")
    with pytest.raises(DataError, match="line 3: 'Oslo' has no label"):
        _read(path, None)


def test_missing_file_and_folder_without_dictionary_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        _read(tmp_path / "none.txt")
    with pytest.raises(DataError, match="no dictionary in this folder"):
        name_files([str(tmp_path)])


def test_stop_list_has_a_name_a_line(tmp_path: Path) -> None:
    assert read_stop_list(_write(tmp_path, "stop.txt", "May\n\n  Will \n")) == ("May", "Will")


_MARKS = [b"name", b"label", b",", b";", b"\t", b"\n", b'"', b"|", b"{", b"}", b"[", b"]", b":"]


@pytest.mark.parametrize("ending", [".txt", ".csv", ".tsv", ".json", ".jsonl"])
@given(content=st.binary(max_size=30) | st.lists(st.sampled_from(_MARKS)).map(b"".join))
def test_any_bytes_are_names_or_an_error_of_ours(
    ending: str, content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("bytes") / f"a{ending}"
    path.write_bytes(content)
    try:
        names = _read(path)
    except DataError as error:
        assert str(path) in str(error)
    else:
        assert all(name.name.strip() for name in names)


@pytest.mark.shared
@pytest.mark.parametrize(("folder", "count"), [("ec", 927), ("news", 71_664)])
def test_shared_dictionaries_load(shared_data: Path, folder: str, count: int) -> None:
    files = name_files([str(shared_data / folder / "dictionary")])
    assert sum(1 for _ in read_names(files)) == count
