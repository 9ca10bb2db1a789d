"""Files of word vectors, row by row: text, the binary form of word2vec, a matrix with its words.

Nothing is unpickled. Of what gensim writes, `save_word2vec_format` gives files that are read here,
text or binary; `save` gives a pickle, which is refused with the way out.
"""

from __future__ import annotations

import codecs
import errno
import mmap
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacuner.encoders.vector_matrix import cannot_be_mapped, matrix_with_words
from lacuner.errors import DataError
from lacuner.files import read_lines

Floats = NDArray[np.float32]
_PEEK = 1 << 16
_PICKLE, _GZIP, _ZIP = b"\x80", b"\x1f\x8b", b"PK\x03\x04"
_FASTTEXT = (793712314).to_bytes(4, "little")
# What can hardly be in a word, unlike the number of "Apollo 11"; "Nan" is a name.
_FRACTION = re.compile(
    r"[-+]?(\d*\.\d+|\d+\.|(\d+\.?\d*|\.\d+)[eE][-+]?\d+"
    r"|nan|NaN|NAN|inf|Inf|INF|[iI]nfinity|INFINITY)",
    re.ASCII,
)
_WHOLE = re.compile(r"[-+]?\d+", re.ASCII)


class VectorRow(NamedTuple):
    """A word of a file.

    Attributes:
        word: The word.
        width: Length of its vector.
        line: Where it stands in a text file; None in others.
        vector: Reads its vector; a DataError if that is none.
    """

    word: str
    width: int
    line: int | None
    vector: Callable[[], Floats]


def vector_rows(path: Path, *, units: str = "words") -> Iterator[VectorRow]:
    """The words of a file of any of the known forms, told apart by what is in them.

    They are read as they are asked for, so that who wants the first ones has those alone in memory.

    Args:
        path: A text file (word2vec or GloVe: with or without a first line of counts, fields by
            tabs or spaces), a binary file of word2vec, or a folder (or the .npy file in it) with
            one .npy matrix and its words, one a line of a .txt file or in a column of a .parquet
            file.
        units: `characters` if no word of the file is made of several, so that a number behind it,
            fields being parted by spaces, is surely one of a vector that is too long.

    Raises:
        DataError: The file is not of any of these forms, or is damaged.
        MissingExtra: A parquet file, and pyarrow is not installed.
    """
    if path.is_dir() or path.suffix == ".npy":
        return _matrix_rows(path)
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
    if head.startswith(_FASTTEXT):
        raise DataError(
            path,
            "this is a model of fastText, which has more than vectors of words",
            right="Take the .vec file that comes with it, or save_word2vec_format of gensim",
        )
    if head.startswith((_GZIP, _ZIP)):
        raise DataError(path, "the file is packed", right="Unpack it first")
    return _binary_rows(path) if _is_binary(head) else _text_rows(path, units)


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


def _text_rows(path: Path, units: str) -> Iterator[VectorRow]:
    promised: tuple[int, int] | None = None
    width = found = 0
    for number, line in read_lines(path):
        line = line.rstrip(" \t")
        if number == 1 and (promised := _header(line)):
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
            raise DataError(path, "the line is no word with its vector", line=number, right=right)
        if _holds_numbers(word, separator, units):
            raise DataError(
                path,
                f"the vector is longer than the {width} numbers of those before",
                line=number,
                right="All vectors have one width; where a word ends in a number, part the fields "
                "by tabs",
            )
        yield VectorRow(word, width, number, partial(_numbers, numbers, path, number, word))
        found += 1
    _check_count(path, promised, found)


def _holds_numbers(word: str, separator: str, units: str) -> bool:
    """Are there numbers in what is taken for a word, as the vector is longer than others?"""
    _, *others = word.split(separator)
    if separator == "\t":
        return bool(others)
    return any(
        _FRACTION.fullmatch(piece) or (units == "characters" and _WHOLE.fullmatch(piece))
        for piece in others
    )


def _numbers(texts: list[str], path: Path, line: int, word: str) -> Floats:
    try:
        vector = np.array(texts, dtype=np.float32)
    except ValueError:
        wrong = next(text for text in texts if not _is_number(text))
        raise DataError(path, f"'{wrong}' in the vector of '{word}' is no number", line=line,
                        right=f"Right is a word and {len(texts)} numbers") from None  # fmt: skip
    return _finite(vector, path, word, line)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _finite(vector: Floats, path: Path, word: str, line: int | None = None) -> Floats:
    if not np.isfinite(vector).all():
        raise DataError(path, f"the vector of '{word}' is not finite", line=line)
    return vector


def _check_count(path: Path, promised: tuple[int, int] | None, found: int) -> None:
    if promised and promised[0] != found:
        raise DataError(path, f"its first line promises {promised[0]} words, but there are {found}")
    if not found:
        raise DataError(path, "there is no vector in it")


def _binary_rows(path: Path) -> Iterator[VectorRow]:
    """The form that word2vec writes: counts, then each word, a space, its vector, a newline."""
    with open(path, "rb") as file, _mapped(path, file) as data:
        begin = data.find(b"\n") + 1
        header = _header(data[:begin].decode("ascii"))
        assert header is not None  # seen by _is_binary
        count, width = header
        if not width:
            raise DataError(path, "its first line promises vectors of 0 numbers", line=1)
        for number in range(1, count + 1):
            while data[begin : begin + 1] == b"\n":
                begin += 1
            space = data.find(b" ", begin)
            end = space + 1 + 4 * width
            if space < 0 or end > len(data):
                raise DataError(
                    path, f"the file ends within word {number} of {count}, as if cut off"
                )
            try:
                word = data[begin:space].decode("utf-8")
            except UnicodeDecodeError:
                raise DataError(path, f"word {number} of {count} is not UTF-8") from None
            read = partial(_from_bytes, data[space + 1 : end], path, word)
            yield VectorRow(word, width, None, read)
            begin = end
        if data[begin : begin + _PEEK].strip():
            raise DataError(
                path,
                f"its first line promises {count} words, but {len(data) - begin:,} bytes follow "
                "them",
                right="Right is the number of all its words",
            )


def _mapped(path: Path, file: BinaryIO) -> mmap.mmap:
    try:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        raise cannot_be_mapped(path) from None


def _from_bytes(raw: bytes, path: Path, word: str) -> Floats:
    return _finite(np.frombuffer(raw, dtype="<f4"), path, word)


def _matrix_rows(path: Path) -> Iterator[VectorRow]:
    found = matrix_with_words(path)
    width = found.matrix.shape[1]

    def read(number: int, word: str) -> Floats:
        return _finite(np.asarray(found.matrix[number], dtype=np.float32), found.path, word)

    for number, word in enumerate(found.words):
        yield VectorRow(word, width, None, partial(read, number, word))
