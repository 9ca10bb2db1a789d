"""Word vectors from files, good and bad."""

from __future__ import annotations

import builtins
import errno
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lacuner.encoders.vector_files import vector_rows
from lacuner.encoders.word_vectors import read_word_vectors
from lacuner.errors import DataError, MissingExtra

WORDS = ["the", "北", ".", "Bergen"]
MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3) / 7


def _text(separator: str = " ", end: str = "", header: str = "") -> str:
    rows = (separator.join([word, *map(str, row)]) for word, row in zip(WORDS, MATRIX, strict=True))
    return header + "".join(row + end + "\n" for row in rows)


def _binary(newline: bytes = b"\n", count: int = 4) -> bytes:
    rows = (
        word.encode() + b" " + row.astype("<f4").tobytes() + newline
        for word, row in zip(WORDS, MATRIX, strict=True)
    )
    return f"{count} 3\n".encode() + b"".join(rows)


def _parquet(folder: Path, words: list[Any], matrix: Any = MATRIX) -> Path:
    import pyarrow
    from pyarrow import parquet

    folder.mkdir()
    np.save(folder / "vectors.npy", matrix)
    parquet.write_table(pyarrow.table({"index": words}), folder / "index.parquet")
    return folder


@pytest.mark.parametrize(
    "content",
    [
        _text(),
        _text("\t"),
        _text(end=" "),
        _text(header="4 3\n"),
        _text("\t", header="4\t3\n"),
        _text().replace("\n", "\r\n"),
        "\ufeff" + _text(),
        _text() + "\n",
        _binary(),
        _binary(b""),
    ],
    ids=["spaces", "tabs", "space at the end", "counts", "tabs and counts", "Windows", "BOM",
         "empty line", "binary", "binary of gensim"],
)  # fmt: skip
def test_good_file_is_read(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "vectors.model"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    vectors = read_word_vectors(path)
    assert vectors.words == WORDS
    assert np.allclose(vectors.matrix, MATRIX)
    assert vectors.matrix.dtype == np.float32


def test_matrix_with_an_index_is_read(tmp_path: Path) -> None:
    folder = _parquet(tmp_path / "glove", WORDS)
    for path in (folder, folder / "vectors.npy"):
        vectors = read_word_vectors(path)
        assert vectors.words == WORDS
        assert np.array_equal(vectors.matrix, MATRIX)


def test_matrix_with_a_plain_list_of_words_is_read(tmp_path: Path) -> None:
    np.save(tmp_path / "kv.vectors.npy", MATRIX.astype(np.float16))
    (tmp_path / "kv.vectors.txt").write_text("".join(word + "\n" for word in WORDS), "utf-8")
    for path in (tmp_path, tmp_path / "kv.vectors.npy"):
        vectors = read_word_vectors(path)
        assert vectors.words == WORDS
        assert np.allclose(vectors.matrix, MATRIX, atol=1e-3)
        assert vectors.matrix.dtype == np.float32
    (tmp_path / "other.txt").write_text("more\n")
    assert read_word_vectors(tmp_path / "kv.vectors.npy").words == WORDS  # of the same name
    (tmp_path / "kv.vectors.txt").write_text("the\n\n.\nBergen\n")
    with pytest.raises(DataError, match="line 2: the line is empty"):
        read_word_vectors(tmp_path / "kv.vectors.npy")
    (tmp_path / "kv.vectors.txt").rename(tmp_path / "another.txt")
    with pytest.raises(DataError, match=r"there are 2 files \*.parquet or \*.txt in it"):
        read_word_vectors(tmp_path)


@pytest.mark.parametrize("form", ["text", "binary", "parquet"])
def test_wanted_words_and_the_most_frequent_are_kept(tmp_path: Path, form: str) -> None:
    path = tmp_path / "vectors"
    if form == "parquet":
        _parquet(path, WORDS)
    else:
        path.write_bytes(_text().encode() if form == "text" else _binary())
    vectors = read_word_vectors(path, {"Bergen", "absent"}, most_frequent=1)
    assert vectors.words == ["the", "Bergen"]
    assert np.allclose(vectors.matrix, MATRIX[[0, 3]])
    assert read_word_vectors(path, {"absent"}, most_frequent=0).matrix.shape == (0, 3)


def test_word_may_hold_spaces(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text(
        "the 1 2 3\n. . . 4 5 6\nBoeing 747 7 8 9\nWindows 3.1\t7\t8\t9\nIan Nan 1 2 3\n3.5 1 2 3\n"
    )
    vectors = read_word_vectors(path)
    assert vectors.words == ["the", ". . .", "Boeing 747", "Windows 3.1", "Ian Nan", "3.5"]
    assert vectors.matrix[1].tolist() == [4, 5, 6]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a 1 2\nb 1\n", "line 2: the line is no word with its vector. Right is a word and 2"),
        ("a 1 2\n b 1 2\n", "line 2: the line is no word with its vector"),
        ("a\nb\n", "line 1: the line is no word with its vector"),
        ("a 1 2\nb 1 x2\n", "line 2: 'x2' in the vector of 'b' is no number"),
        ("a 1 nan\n", "line 1: the vector of 'a' is not finite"),
        ("a 1 2\nb 3 4\na 5 6\n", "line 3: a second vector for 'a'"),
        ("3 2\na 1 2\nb 3 4\n", "its first line promises 3 words, but there are 2"),
        ("", "there is no vector in it"),
        (b"a 1 2\nb\xff 1 2\n", "line 2: byte 0xff"),
        (_binary()[:-5], "the file ends within word 4 of 4, as if cut off"),
        (_binary(count=5), "the file ends within word 5 of 5"),
        (_binary().replace("北".encode(), b"\xe5\x8c"), "word 2 of 4 is not UTF-8"),
        (_binary().replace(b"Bergen", b"the"), r"a second vector for 'the' \(word 4\)"),
        (b"\x1f\x8b\x08rest", "the file is packed. Unpack it first"),
        (b"\xba\x16\x4f\x2f\x0c", "this is a model of fastText.* Take the .vec file"),
        ("a 1 2\nb 3.5 4 5\n", "line 2: the vector is longer than the 2 numbers.* by tabs"),
        ("a 1 2\nb 3e-2 4 5\n", "line 2: the vector is longer than the 2 numbers"),
        ("a 1 2\nb .3e2 4 5\n", "line 2: the vector is longer than the 2 numbers"),
        ("a 1 2\nb 3.5 4 5 6\n", "line 2: the vector is longer than the 2 numbers"),
        ("a 1 2\nb nan 4 5\n", "line 2: the vector is longer than the 2 numbers"),
        ("a 1 2\nb -inf 4 5\n", "line 2: the vector is longer than the 2 numbers"),
        ("a\t1\t2\nb\t3\t4\t5\n", "line 2: the vector is longer than the 2 numbers"),
        ("2 2\na\t1\t2\nb c\td\t4\t5\n", "line 3: the vector is longer than the 2 numbers"),
        (_binary(count=3), "its first line promises 3 words, but 21 bytes follow them"),
        (b"4 0\na \0", "line 1: its first line promises vectors of 0 numbers"),
    ],
)
def test_bad_file_is_refused_with_its_place(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        read_word_vectors(path)


def test_pickle_of_gensim_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "vectors.kv"
    path.write_bytes(pickle.dumps({"vectors": [1.0]}))
    with pytest.raises(DataError, match=r"this is a pickle.*save_word2vec_format"):
        read_word_vectors(path)


@pytest.mark.parametrize(
    ("words", "matrix", "message"),
    [
        (WORDS[:3], MATRIX, "does not fit the 3 words of index.parquet"),
        (WORDS, MATRIX.ravel(), "does not fit"),
        (WORDS, MATRIX.astype(int), "does not fit"),
        (WORDS, MATRIX[:, :0], r"its 4 vectors have no numbers: its shape is \(4, 0\)"),
        (WORDS, MATRIX * np.nan, "not finite"),
        ([*WORDS[:3], "the"], MATRIX, r"a second vector for 'the' \(word 4\)"),
        ([*WORDS[:3], ""], MATRIX, "word 4 is empty"),
        ([1, 2, 3, 4], MATRIX, "no column holds words"),
    ],
)
def test_bad_matrix_is_refused(tmp_path: Path, words: list[Any], matrix: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_word_vectors(_parquet(tmp_path / "glove", words, matrix))


def test_damaged_files_of_a_matrix_are_refused(tmp_path: Path) -> None:
    folder = _parquet(tmp_path / "glove", WORDS)
    (folder / "index.parquet").write_bytes(b"nothing")
    with pytest.raises(DataError, match="this is no parquet file"):
        read_word_vectors(folder)
    np.save(folder / "vectors.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(DataError, match="this is no matrix that numpy can read"):
        read_word_vectors(folder)
    (folder / "vectors.npy").unlink()
    with pytest.raises(DataError, match=r"there are 0 files \*.npy in it"):
        read_word_vectors(folder)


def test_matrix_that_memory_cannot_map_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any, **named: Any) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    folder = _parquet(tmp_path / "glove", WORDS)
    (tmp_path / "binary").write_bytes(_binary())
    monkeypatch.setattr(np, "load", full)
    monkeypatch.setattr("lacuner.encoders.vector_files.mmap.mmap", full)
    for path in (folder, tmp_path / "binary"):
        with pytest.raises(DataError, match=r"cannot be mapped.*Raise its limit \(ulimit -v\)"):
            read_word_vectors(path)


@pytest.mark.parametrize("form", ["lines", "parquet"])
def test_words_of_a_matrix_are_read_as_they_are_asked_for(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 200_000
    words = [f"word{number}" for number in range(count)]
    matrix = np.ones((count, 1), np.float16)
    if form == "parquet":
        path = _parquet(tmp_path / "many", words, matrix)
    else:
        path = tmp_path / "many.npy"
        np.save(path, matrix)
        path.with_suffix(".txt").write_text("\n".join(words))
    rows = vector_rows(path)
    next(rows)  # imports what it takes
    tracemalloc.start()
    taken = [row.word for row, _ in zip(vector_rows(path), range(10), strict=False)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken == words[:10]
    # A list of all words would take 57 bytes each; Arrow hands them out in batches of 65,536.
    assert peak < count * 40


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file of word vectors"):
        read_word_vectors(tmp_path / "absent.txt")


def test_missing_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _parquet(tmp_path / "glove", WORDS)
    real = builtins.__import__

    def without(name: str, *rest: Any, **others: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"pip install 'lacuner\[parquet\]'"):
        read_word_vectors(folder)


@pytest.mark.shared
def test_chinese_character_vectors_are_read(shared_data: Path) -> None:
    path = shared_data / "embeddings" / "zh_char_100d.model"
    last = path.read_text("utf-8").splitlines()[-1].split("\t")[0]
    vectors = read_word_vectors(path, {last}, most_frequent=100)
    assert (len(vectors.words), vectors.words[-1]) == (101, last)
    assert vectors.matrix.shape == (101, 100)
