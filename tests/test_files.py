"""Broken files are refused with a place; outputs are whole or not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lacuner.errors import DataError, LacunerError, OutputExists
from lacuner.files import (
    read_json,
    read_json_lines,
    read_lines,
    read_text,
    written_aside,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.txt"


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"\xef\xbb\xbfa\nb", ["a", "b"]),
        (b"a\n\xef\xbb\xbfb", ["a", "\ufeffb"]),  # only a mark at the beginning is one
        (b"", []),
        (b"\n\n", ["", ""]),
        ("a\u2028b\x85c\n".encode(), ["a\u2028b\x85c"]),  # no line ends in a file
        (b" a \n", [" a "]),
    ],
)
def test_lines_are_read_with_their_numbers(path: Path, raw: bytes, lines: list[str]) -> None:
    path.write_bytes(raw)
    assert list(read_lines(path)) == list(enumerate(lines, start=1))
    assert read_text(path) == "\n".join(lines)


@pytest.mark.parametrize(
    ("raw", "line", "what"),
    [
        ("Malmö".encode("latin-1"), 1, "0xf6 at position 5 is not UTF-8"),
        (b"good\nb\xff", 2, "0xff at position 2 is not UTF-8"),
        (b"a\nb\n\0", 3, "NUL"),
        ("a".encode("utf-16"), 1, "UTF-16"),
        ("a".encode("utf-16-be").join([b"\xfe\xff", b""]), 1, "UTF-16"),
        (b"\xed\xa0\x80", 1, "not UTF-8"),  # half of a surrogate pair
    ],
)
def test_bytes_that_are_no_text_are_refused(path: Path, raw: bytes, line: int, what: str) -> None:
    path.write_bytes(raw)
    with pytest.raises(DataError, match=what) as caught:
        list(read_lines(path))
    assert caught.value.line == line
    assert str(path) in str(caught.value)


def test_file_in_another_encoding_is_not_said_to_be_in_one_of_them(path: Path) -> None:
    path.write_bytes("北京 0.1 0.2\n".encode("gbk"))
    with pytest.raises(DataError, match="'iconv -f ENCODING -t UTF-8'"):
        list(read_lines(path))


def test_file_that_is_not_there_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        list(read_lines(tmp_path / "none"))
    with pytest.raises(DataError, match="folder"):
        list(read_lines(tmp_path))


def test_json_is_read_with_a_byte_order_mark(path: Path) -> None:
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}\r\n')
    assert list(read_json_lines(path)) == [(1, {"a": 1}), (3, {"a": 2})]
    path.write_bytes(b"\xef\xbb\xbf[1]")
    assert read_json(path) == [1]


@pytest.mark.parametrize(
    ("raw", "line"),
    [(b'{"a": 1}\n[]\n', 2), (b'{"a": 1}\n{"a"\n', 2), (b"\n\nnull", 3), (b'{"a": "\xff"}', 1)],
)
def test_line_that_is_no_json_object_is_refused(path: Path, raw: bytes, line: int) -> None:
    path.write_bytes(raw)
    with pytest.raises(DataError) as caught:
        list(read_json_lines(path))
    assert caught.value.line == line


@pytest.mark.parametrize("raw", [b"", b"[1,", b"[" * 100_000, b"NaN", "[1]".encode("utf-16")])
def test_file_that_is_no_json_is_refused(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)
    with pytest.raises(DataError):
        read_json(path)


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_output_appears_whole_and_alone(path: Path) -> None:
    with written_aside(path) as aside:
        aside.write_text("half")
        assert not path.exists()
    assert path.read_text() == "half"
    assert names(path.parent) == [path.name]


def test_output_in_a_new_folder_makes_the_folder(tmp_path: Path) -> None:
    with written_aside(tmp_path / "a" / "b.txt") as aside:
        aside.write_text("x")
    assert (tmp_path / "a" / "b.txt").read_text() == "x"


def test_error_half_way_leaves_nothing(path: Path) -> None:
    with pytest.raises(DataError), written_aside(path) as aside:
        aside.write_text("half")
        raise DataError("in.txt", "broken")
    assert names(path.parent) == []


def test_error_half_way_leaves_the_old_output(path: Path) -> None:
    path.write_text("old")
    with pytest.raises(DataError), written_aside(path, overwrite=True) as aside:
        aside.write_text("half")
        raise DataError("in.txt", "broken")
    assert path.read_text() == "old"
    assert names(path.parent) == [path.name]


def test_output_that_exists_is_replaced_only_on_request(path: Path) -> None:
    path.write_text("old")
    with pytest.raises(OutputExists, match="--overwrite"), written_aside(path):
        pytest.fail("the writer must not start")
    assert path.read_text() == "old"
    with written_aside(path, overwrite=True) as aside:
        aside.write_text("new")
    assert path.read_text() == "new"


def test_folder_is_written_and_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    for content in ("old", "new"):
        with written_aside(folder, overwrite=True) as aside:
            aside.mkdir()
            (aside / content).write_text(content)
        assert names(folder) == [content]
    assert names(tmp_path) == ["out"]


def test_files_beside_move_with_the_output(path: Path) -> None:
    with written_aside(path) as aside:
        aside.write_text("main")
        aside.with_name("beside.json").write_text("{}")
        assert names(path.parent) != ["beside.json", path.name]
    assert names(path.parent) == ["beside.json", path.name]


def test_file_beside_that_exists_is_replaced_only_on_request(path: Path) -> None:
    beside = path.with_name("beside.json")
    beside.write_text("old")

    def write(content: str, *, overwrite: bool = False) -> None:
        with written_aside(path, overwrite=overwrite) as aside:
            aside.write_text("main")
            aside.with_name(beside.name).write_text(content)

    with pytest.raises(OutputExists, match=r"beside\.json"):
        write("new")
    assert beside.read_text() == "old" and not path.exists()
    write("old")
    assert path.exists()
    write("new", overwrite=True)
    assert beside.read_text() == "new"


def test_output_that_was_not_written_takes_back_what_stood_beside(path: Path) -> None:
    with pytest.raises(LacunerError), written_aside(path) as aside:
        aside.with_name("beside.json").write_text("{}")
    assert names(path.parent) == []


def test_output_in_a_file_is_refused(path: Path) -> None:
    path.write_text("a file, not a folder")
    with pytest.raises(LacunerError, match="cannot be written"), written_aside(path / "out"):
        pytest.fail("the writer must not start")


@pytest.mark.skipif(os.name != "posix", reason="kills a process by a signal of POSIX")
def test_killed_half_way_leaves_no_output(path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from lacuner.files import written_aside\n"
        "with written_aside(Path(sys.argv[1])) as aside:\n"
        "    aside.write_text('half'); print('half', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half\n"
        process.send_signal(signal.SIGKILL)
        assert process.wait(10) == -signal.SIGKILL
    assert not path.exists()
