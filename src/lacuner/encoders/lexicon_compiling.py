"""From a file of word vectors to a lexicon: compiled once, kept in the cache, mapped ever after.

Vectors go to disk as they are read, so that only the words must fit into memory.
"""

from __future__ import annotations

import errno
import logging
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson
from numpy.typing import NDArray

from lacuner.encoders.free_memory import free_memory, in_bytes
from lacuner.encoders.lexicon import NORMAL_FORM, VERSION, Lexicon
from lacuner.encoders.vector_files import Floats, VectorRow, vector_rows
from lacuner.encoders.vector_matrix import files_of_vectors
from lacuner.errors import DataError, LacunerError, OutputExists, UsageError
from lacuner.files import written_aside
from lacuner.matching.array_folder import cache_home, digest_of_file, write_arrays
from lacuner.matching.string_table import StringTable
from lacuner.matching.unit_rows import UnitRows
from lacuner.matching.units import cutter, folder, spellings

_LOGGER = logging.getLogger("lacuner")
_BYTES_A_UNIT, _BYTES_A_WORD = 80, 250  # what compiling needs in memory, rounded up
_LOOK = 50_000  # words between two looks at the free memory
_BLOCK = 4096  # vectors that are written at once
# Raise it when files are read otherwise, or refused that were not: what is in the cache goes by it.
_READING = 2
# A single character tells a network that reads characters nothing; a word does.
_LEAST_UNITS = {"characters": 2, "words": 1}


def open_lexicon(
    path: Path, *, units: str, ignore_case: bool = True, most_words: int | None = None
) -> Lexicon:
    """The lexicon of a file of word vectors.

    The first time it is compiled; from then on it comes from the cache.

    Args:
        path: See `vector_rows`; of words that are the same to us the first one counts.
        units: `characters`, or `words` for text whose tokens are words; then the file may hold
            names of several words, parted by a space or `_`.
        ignore_case: Whether case does not count.
        most_words: Take only so many of the first words of the file; None takes all.

    Raises:
        UsageError: Less than one word.
        DataError: The file is not right, or its words do not fit into memory.
        LacunerError: The cache cannot be written to.
    """
    if most_words is not None and most_words < 1:
        raise UsageError(f"most_words of a lexicon is {most_words}, but must be at least 1.")
    options = [VERSION, _READING, units, ignore_case, most_words]
    digest = blake2b(orjson.dumps(options), digest_size=16)
    for file in files_of_vectors(path):
        digest.update(digest_of_file(file))
    place = cache_home() / "lexicons" / digest.hexdigest()
    if place.exists():
        try:
            return Lexicon.load(place)
        except DataError:  # damaged: it is written anew
            shutil.rmtree(place, ignore_errors=True)
    _LOGGER.info("Compiling the lexicon %s; the next time it comes from the cache.", path)
    compiler = _Compiler(path, units, ignore_case)
    description = {"version": VERSION, "units": units, "ignore_case": ignore_case}
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place.parent) as vectors:
            arrays = compiler.compile(_first(vector_rows(path, units=units), most_words), vectors)
            with suppress(OutputExists), written_aside(place) as aside:
                write_arrays(aside, arrays, description)
    except MemoryError:
        raise _no_room(path, len(compiler.words)) from None
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise _no_room(path, len(compiler.words)) from None
        raise LacunerError(
            f"The lexicon {path} cannot be compiled to {place.parent}: {error.strerror}. "
            "XDG_CACHE_HOME can name another place for caches."
        ) from None
    return Lexicon.load(place)


def _first(rows: Iterable[VectorRow], most: int | None) -> Iterator[VectorRow]:
    for number, row in enumerate(rows):
        if number == most:
            return
        yield row


def _no_room(path: Path, taken: int) -> DataError:
    what = f"its words do not fit into memory: {taken:,} of them did"
    return DataError(path, what, right=_advice(taken // 2))


def _advice(most: int) -> str:
    if not most:
        return "Free some memory first: hardly anything is left"
    return f"Take fewer of them, the most frequent are the first: most_words = {most:d}"


class _Compiler:
    """Collects the words of a file as rows of units, and writes their vectors to disk."""

    def __init__(self, path: Path, units: str, ignore_case: bool) -> None:
        self.path, self.units = path, units
        self.cut = cutter(units)
        self.rows = UnitRows(folder(NORMAL_FORM, ignore_case=ignore_case))
        self.words: list[str] = []
        self.waiting: list[Floats] = []
        self.width = 0

    def compile(self, rows: Iterable[VectorRow], vectors: BinaryIO) -> dict[str, NDArray[Any]]:
        """The arrays of a lexicon; `vectors` is a file for its vectors meanwhile."""
        for row in rows:
            self._add(row, vectors)
        if not self.words:
            raise DataError(
                self.path,
                f"no word in it has {_LEAST_UNITS[self.units]} {self.units} or more",
                right="A lexicon of words without spaces is for corpora whose tokens are "
                "characters",
            )
        self._check_memory()
        self._write(vectors)
        vectors.flush()
        edges, form_of_state, form, vocabulary = self.rows.compiled()
        number_of_form = np.zeros(int(form.max()) + 1, np.int32)
        number_of_form[form[::-1]] = np.arange(len(form) - 1, -1, -1)  # the first one counts
        words = StringTable.of(self.words)
        shape = (len(self.words), self.width)
        return {
            "edges": edges,
            "form_of_state": form_of_state,
            "number_of_form": number_of_form,
            "vocabulary-text": vocabulary.text,
            "vocabulary-ends": vocabulary.ends,
            "words-text": words.text,
            "words-ends": words.ends,
            "vectors": np.memmap(vectors, np.float16, mode="r", shape=shape),
        }

    def _add(self, row: VectorRow, vectors: BinaryIO) -> None:
        self.width = row.width
        spelled = row.word.replace("_", " ") if self.units == "words" else row.word
        pieces = self.cut(spellings(spelled, self.units)[-1])
        if len(pieces) < _LEAST_UNITS[self.units]:
            return
        self.waiting.append(row.vector())
        self.rows.add(pieces)
        self.words.append(row.word)
        if len(self.waiting) == _BLOCK:
            self._write(vectors)
        if len(self.words) % _LOOK == 0:
            self._check_memory()

    def _write(self, vectors: BinaryIO) -> None:
        """Writes the vectors that wait, each of length 1, so that files of all scales are alike."""
        block = np.array(self.waiting, dtype=np.float32).reshape(-1, self.width)
        lengths = np.sqrt(np.square(block, dtype=np.float64).sum(axis=1, keepdims=True))
        vectors.write((block / np.where(lengths > 0, lengths, 1)).astype(np.float16).tobytes())
        self.waiting.clear()

    def _check_memory(self) -> None:
        """Stops before the machine does."""
        needed = _BYTES_A_UNIT * len(self.rows.units) + _BYTES_A_WORD * len(self.words)
        free = free_memory()
        if free is not None and needed > free:
            count = len(self.words)
            raise DataError(
                self.path,
                f"its first {count:,} words alone would need {in_bytes(needed)} of memory to be "
                f"compiled, and {in_bytes(free)} are free",
                right=_advice(int(count * free / needed / 2)),
            )
