"""A matrix of word vectors as .npy, mapped into memory, with its words in a file beside it."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacuner.encoders.free_memory import in_bytes
from lacuner.errors import DataError, MissingExtra
from lacuner.files import read_lines

_WORD_LISTS = (".parquet", ".txt")


class MatrixWithWords(NamedTuple):
    """A matrix that lies on disk, and what its rows are the vectors of: read one by one."""

    path: Path
    matrix: NDArray[Any]
    words: Iterator[str]


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
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            raise cannot_be_mapped(matrix_file) from None
        raise DataError(matrix_file, f"this is no matrix that numpy can read: {error}") from None
    if word_file.suffix == ".parquet":
        count, words = _parquet_words(word_file)
    else:
        count, words = sum(1 for _ in _lines(word_file)), _lines(word_file)
    if matrix.ndim != 2 or matrix.dtype.kind != "f" or len(matrix) != count:
        raise DataError(
            matrix_file,
            f"a {matrix.dtype} array of shape {matrix.shape} does not fit the {count} words "
            f"of {word_file.name}",
        )
    if not matrix.shape[1]:
        raise DataError(
            matrix_file,
            f"its {count} vectors have no numbers: its shape is {matrix.shape}",
            right="Right is a row of numbers for each word",
        )
    return MatrixWithWords(matrix_file, matrix, words)


def cannot_be_mapped(path: Path) -> DataError:
    """The error for a file of vectors that this process has no room for, though it is not read."""
    return DataError(
        path,
        f"its {in_bytes(path.stat().st_size)} cannot be mapped, as this process may not take so "
        "much memory",
        right="Raise its limit (ulimit -v), or take a smaller file",
    )


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


def _lines(path: Path) -> Iterator[str]:
    for number, line in read_lines(path):
        if not line.strip():
            raise DataError(path, "the line is empty", line=number, right="Right is one word")
        yield line


def _parquet_words(path: Path) -> tuple[int, Iterator[str]]:
    """How many words there are, and the words."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingExtra("Reading word vectors with a parquet index", "parquet") from None
    try:
        file = parquet.ParquetFile(path)
    except MemoryError:  # which those of Arrow are, too
        raise
    except (ArrowException, OSError) as error:
        raise _no_parquet(path, error) from None
    strings = [one.name for one in file.schema_arrow if str(one.type) in ("string", "large_string")]
    if not strings:
        raise DataError(path, "no column holds words", right="One column is of strings")

    def words() -> Iterator[str]:
        number = 0
        try:
            for batch in file.iter_batches(columns=strings[:1]):
                for word in batch.column(0).to_pylist():
                    number += 1
                    if not word:
                        raise DataError(path, f"word {number} is empty")
                    yield word
        except MemoryError:
            raise
        except (ArrowException, OSError) as error:
            raise _no_parquet(path, error) from None

    return file.metadata.num_rows, words()


def _no_parquet(path: Path, error: Exception) -> DataError:
    return DataError(path, f"this is no parquet file: {str(error).splitlines()[0]}")
