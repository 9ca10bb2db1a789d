"""Word vectors from files: text, the binary form of word2vec, a matrix with an index in parquet.

A file may hold millions of words; only those of the corpus and the most frequent others are kept.
Files list words by frequency, so the most frequent are the first.
"""

from __future__ import annotations

import codecs
import mmap
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacuner.errors import DataError, MissingExtra
from lacuner.files import read_lines

Floats = NDArray[np.float32]
_PEEK = 1 << 16
_PICKLE, _GZIP, _ZIP = b"\x80", b"\x1f\x8b", b"PK\x03\x04"


@dataclass(frozen=True)
class WordVectors:
    """Words and their vectors.

    Attributes:
        words: The words, each once.
        matrix: Their vectors.  # [words, width]
    """

    words: list[str]
    matrix: Floats


@dataclass
class _Kept:
    """The choice among the words of a file, as they come."""

    path: Path
    wanted: Collection[str]
    most_frequent: int
    rows: dict[str, Any] = field(default_factory=dict)

    def takes(self, word: str, number: int, *, line: int | None) -> bool:
        """Whether to keep the word, which is the `number`th of the file, from 0."""
        if number >= self.most_frequent and word not in self.wanted:
            return False
        if word in self.rows:
            where = "" if line is not None else f" (word {number + 1})"
            raise DataError(self.path, f"a second vector for '{word}'{where}", line=line)
        return True

    def vectors(self, width: int) -> WordVectors:
        """What was kept."""
        matrix = np.array(list(self.rows.values()), dtype=np.float32).reshape(-1, width)
        return WordVectors(list(self.rows), matrix)


def read_word_vectors(
    path: Path, wanted: Collection[str] = frozenset(), *, most_frequent: int = 100_000
) -> WordVectors:
    """Reads word vectors of any of the known forms, told apart by what is in them.

    Args:
        path: A text file (word2vec or GloVe: with or without a first line of counts, fields by
            tabs or spaces), a binary file of word2vec, or a folder (or the .npy file in it) with
            one .npy matrix and one .parquet index of words.
        wanted: Words to keep in any case.
        most_frequent: How many of the first words of the file to keep besides.

    Raises:
        DataError: The file is not of any of these forms, is damaged, or lists a word twice.
        MissingExtra: A parquet file, and pyarrow is not installed.
    """
    kept = _Kept(path, wanted, most_frequent)
    if path.is_dir() or path.suffix == ".npy":
        return _read_matrix(path, kept)
    if not path.is_file():
        raise DataError(path, "there is no such file of word vectors")
    with open(path, "rb") as file:
        head = file.read(_PEEK)
    if head.startswith(_PICKLE):
        raise DataError(
            path,
            "this is a pickle, as gensim's own format is, which could run any code",
            right="Export it in Python: KeyedVectors.load(FILE).save_word2vec_format('vectors.txt')"
            " (for a whole model, that of its .wv)",
        )
    if head.startswith((_GZIP, _ZIP)):
        raise DataError(path, "the file is packed", right="Unpack it first")
    if _is_binary(head):
        return _read_binary(path, kept)
    return _read_text(path, kept)


def _is_binary(head: bytes) -> bool:
    first, newline, rest = head.partition(b"\n")
    if not newline or _header(first.decode("ascii", "replace")) is None:
        return False
    if b"\0" in rest:
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(rest)
    except UnicodeDecodeError:
        # Text in another encoding than UTF-8 has lines of numbers all the same.
        return rest.partition(b"\n")[0].count(b" ") < 2
    return False


def _header(line: str) -> tuple[int, int] | None:
    """Number of words and width, if that is what the line says."""
    fields = line.split()
    if len(fields) == 2 and all(field.isascii() and field.isdecimal() for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _read_text(path: Path, kept: _Kept) -> WordVectors:
    promised: tuple[int, int] | None = None
    width = number = 0
    for line_number, line in read_lines(path):
        line = line.rstrip(" \t")
        if line_number == 1 and (promised := _header(line)):
            width = promised[1]
            continue
        if not line:
            continue
        separator = "\t" if "\t" in line else " "
        if not width:
            width = line.count(separator)
        # A word may hold spaces itself, so the numbers are counted from the right.
        word, *numbers = line.rsplit(separator, width) if width else [line]
        if not word.strip(" ") or word[0] == " " or len(numbers) != width or not width:
            right = f"Right is a word and {width} numbers" if width else "Right is a word, numbers"
            raise DataError(
                path, "the line is no word with its vector", line=line_number, right=right
            )
        if kept.takes(word, number, line=line_number):
            kept.rows[word] = _numbers(numbers, path, line_number, word)
        number += 1
    _check_count(path, promised, number)
    return kept.vectors(width)


def _numbers(texts: list[str], path: Path, line: int, word: str) -> Floats:
    try:
        vector = np.array(texts, dtype=np.float32)
    except ValueError:
        wrong = next(text for text in texts if not _is_number(text))
        raise DataError(path, f"'{wrong}' in the vector of '{word}' is no number", line=line,
                        right=f"Right is a word and {len(texts)} numbers") from None  # fmt: skip
    if not np.isfinite(vector).all():
        raise DataError(path, f"the vector of '{word}' is not finite", line=line)
    return vector


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_count(path: Path, promised: tuple[int, int] | None, found: int) -> None:
    if promised and promised[0] != found:
        raise DataError(path, f"its first line promises {promised[0]} words, but there are {found}")
    if not found:
        raise DataError(path, "there is no vector in it")


def _read_binary(path: Path, kept: _Kept) -> WordVectors:
    """The form that word2vec writes: counts, then each word, a space, its vector, a newline."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        begin = data.find(b"\n") + 1
        header = _header(data[:begin].decode("ascii"))
        assert header is not None  # seen by _is_binary
        count, width = header
        for number, word, vector in _binary_rows(path, data, begin, count, width):
            if kept.takes(word, number, line=None):
                kept.rows[word] = np.frombuffer(vector, dtype="<f4")
                if not np.isfinite(kept.rows[word]).all():
                    raise DataError(path, f"the vector of '{word}' is not finite")
        return kept.vectors(width)


def _binary_rows(
    path: Path, data: mmap.mmap, begin: int, count: int, width: int
) -> Iterator[tuple[int, str, bytes]]:
    for number in range(count):
        while data[begin : begin + 1] == b"\n":
            begin += 1
        space = data.find(b" ", begin)
        end = space + 1 + 4 * width
        if space < 0 or end > len(data):
            raise DataError(
                path, f"the file ends within word {number + 1} of {count}, as if cut off"
            )
        try:
            word = data[begin:space].decode("utf-8")
        except UnicodeDecodeError:
            raise DataError(path, f"word {number + 1} of {count} is not UTF-8") from None
        yield number, word, data[space + 1 : end]
        begin = end


def _read_matrix(path: Path, kept: _Kept) -> WordVectors:
    folder = path if path.is_dir() else path.parent
    matrix_file = _only(folder, "*.npy") if path.is_dir() else path
    index_file = _only(folder, "*.parquet")
    try:
        matrix = np.load(matrix_file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(matrix_file, f"this is no matrix that numpy can read: {error}") from None
    words = _parquet_words(index_file)
    if matrix.ndim != 2 or matrix.dtype.kind != "f" or len(matrix) != len(words):
        raise DataError(
            matrix_file,
            f"a {matrix.dtype} array of shape {matrix.shape} does not fit the {len(words)} words "
            f"of {index_file.name}",
        )
    for number, word in enumerate(words):
        if kept.takes(word, number, line=None):
            kept.rows[word] = number
    chosen = np.asarray(matrix[list(kept.rows.values())], dtype=np.float32)
    if not np.isfinite(chosen).all():
        raise DataError(matrix_file, "some of its vectors are not finite")
    return WordVectors(list(kept.rows), chosen)


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise DataError(
            folder,
            f"there are {len(found)} files {pattern} in it",
            right="A folder of word vectors has one .npy matrix and one .parquet index of words",
        )
    return found[0]


def _parquet_words(path: Path) -> list[str]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingExtra("Reading word vectors with a parquet index", "parquet") from None
    try:
        table = parquet.read_table(path)
    except (ArrowException, OSError) as error:
        raise DataError(path, f"this is no parquet file: {str(error).splitlines()[0]}") from None
    for column in table.columns:
        if str(column.type) in ("string", "large_string"):
            words: list[str | None] = column.to_pylist()
            if not all(words):
                number = next(number for number, word in enumerate(words, 1) if not word)
                raise DataError(path, f"word {number} is empty")
            return [word for word in words if word]
    raise DataError(path, "no column holds words", right="One column is of strings")
