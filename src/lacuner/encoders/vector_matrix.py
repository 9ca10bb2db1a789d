"""A matrix of word vectors as .npy, mapped into memory, with its words in a file beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacuner.errors import DataError, MissingExtra
from lacuner.files import read_lines

_WORD_LISTS = (".parquet", ".txt")


class MatrixWithWords(NamedTuple):
    """A matrix that lies on disk, and what its rows are the vectors of."""

    path: Path
    matrix: NDArray[Any]
    words: list[str]


def matrix_with_words(path: Path) -> MatrixWithWords:
    """Reads a folder with one matrix and one list of words, or the matrix of that name.

    Beside a matrix NAME.npy the words are in NAME.parquet or NAME.txt, or in the only such file
    of its folder.

    Raises:
        DataError: Matrix and words are not there, are damaged or do not fit each other.
        MissingExtra: A parquet file, and pyarrow is not installed.
    """
    matrix_file, word_file = files_of_vectors(path)
    try:
        matrix = np.load(matrix_file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(matrix_file, f"this is no matrix that numpy can read: {error}") from None
    words = _parquet_words(word_file) if word_file.suffix == ".parquet" else _lines(word_file)
    if matrix.ndim != 2 or matrix.dtype.kind != "f" or len(matrix) != len(words):
        raise DataError(
            matrix_file,
            f"a {matrix.dtype} array of shape {matrix.shape} does not fit the {len(words)} words "
            f"of {word_file.name}",
        )
    return MatrixWithWords(matrix_file, matrix, words)


def files_of_vectors(path: Path) -> list[Path]:
    """The files that hold the vectors of a path: itself, or a matrix and its words.

    Raises:
        DataError: A folder, or what is beside a matrix, is not as it should be.
    """
    if not path.is_dir() and path.suffix != ".npy":
        return [path]
    matrix_file = _only(path, (".npy",)) if path.is_dir() else path
    return [matrix_file, _word_file(matrix_file)]


def _word_file(matrix_file: Path) -> Path:
    for suffix in _WORD_LISTS:
        named = matrix_file.with_suffix(suffix)
        if named.is_file():
            return named
    return _only(matrix_file.parent, _WORD_LISTS)


def _only(folder: Path, suffixes: tuple[str, ...]) -> Path:
    found = sorted(path for path in folder.iterdir() if path.suffix in suffixes)
    if len(found) != 1:
        patterns = " or ".join(f"*{suffix}" for suffix in suffixes)
        raise DataError(
            folder,
            f"there are {len(found)} files {patterns} in it",
            right="A folder of word vectors has one .npy matrix and its words, as the lines of a "
            ".txt file or in a .parquet file",
        )
    return found[0]


def _lines(path: Path) -> list[str]:
    words = []
    for number, line in read_lines(path):
        if not line.strip():
            raise DataError(path, "the line is empty", line=number, right="Right is one word")
        words.append(line)
    return words


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
