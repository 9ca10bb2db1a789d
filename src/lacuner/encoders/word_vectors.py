"""Word vectors from files, chosen by what a corpus needs.

A file may hold millions of words; only those of the corpus and the most frequent others are kept.
Files list words by frequency, so the most frequent are the first.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lacuner.encoders.vector_files import Floats, vector_rows
from lacuner.errors import DataError


@dataclass(frozen=True)
class WordVectors:
    """Words and their vectors.

    Attributes:
        words: The words, each once.
        matrix: Their vectors.  # [words, width]
    """

    words: list[str]
    matrix: Floats


def read_word_vectors(
    path: Path, wanted: Collection[str] = frozenset(), *, most_frequent: int = 100_000
) -> WordVectors:
    """Reads word vectors of any of the known forms.

    Args:
        path: See `vector_rows`.
        wanted: Words to keep in any case.
        most_frequent: How many of the first words of the file to keep besides.

    Raises:
        DataError: The file is not of any of these forms, is damaged, or lists a word twice.
        MissingExtra: A parquet file, and pyarrow is not installed.
    """
    kept: dict[str, Floats] = {}
    width = 0
    for number, row in enumerate(vector_rows(path)):
        width = row.width
        if number >= most_frequent and row.word not in wanted:
            continue
        if row.word in kept:
            where = "" if row.line is not None else f" (word {number + 1})"
            raise DataError(path, f"a second vector for '{row.word}'{where}", line=row.line)
        kept[row.word] = row.vector()
    matrix = np.array(list(kept.values()), dtype=np.float32).reshape(-1, width)
    return WordVectors(list(kept), matrix)
