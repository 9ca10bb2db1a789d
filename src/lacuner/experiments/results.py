"""The results of a study: one file, one JSON object a run, safe from kills and from each other.

    <study>.jsonl          a row a run, for people and programs
    <study>.counts.jsonl   right, found and gold entities of each test sentence, by run
    <study>.probes.jsonl   for studies with `probe`: by run and epoch, probabilities of spans or
                           O-values of words
    <study>.spans/         likewise: vectors of test spans, a file a run

A row is appended under a lock, counts first, so that a run counts as finished only when both are
there. A line that a kill cut off is passed over, and removed by the next one who writes.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from lacuner.errors import DataError, LacunerError
from lacuner.files import parse_json, written_aside

Row = dict[str, Any]
Counts = NDArray[np.int64]  # [sentences, 3]

COLUMNS = ("right", "found", "gold")
LABELLED, HIDDEN, NO_ENTITY = "labelled", "hidden", "no entity"  # groups of spans or words
O_VALUE = "O-value"  # what a probe of words is of; one of spans is of probabilities


class Results:
    """The rows of a study.

    Args:
        path: The `.jsonl` file; it need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts_path = path.with_name(f"{path.stem}.counts.jsonl")
        self.probes_path = path.with_name(f"{path.stem}.probes.jsonl")
        self.spans_folder = path.with_name(f"{path.stem}.spans")

    def rows(self) -> list[Row]:
        """All rows, in the order in which they were written."""
        return _read(self.path)

    def finished(self) -> set[str]:
        """The identities of the runs that have a row."""
        return {row["run"] for row in self.rows() if "run" in row}

    def append(self, row: Row, counts: Counts) -> None:
        """Adds a run, unless it is there.

        Args:
            row: What tables and figures are made from.
            counts: Right, found and gold entities of each test sentence.  # [sentences, 3]
        """
        if row["run"] in self.finished():
            return
        lists = {name: counts[:, number].tolist() for number, name in enumerate(COLUMNS)}
        _append(self.counts_path, {"run": row["run"], **lists})
        _append(self.path, row)

    def counts(self) -> dict[str, Counts]:
        """The counts of each run; empty where the file is missing.  # [sentences, 3]"""
        return {
            row["run"]: np.array([row[name] for name in COLUMNS], dtype=np.int64).T
            for row in _read(self.counts_path)
        }

    def add_probe(self, run: str, probabilities: Row) -> None:
        """Keeps the probabilities of spans; a later one of the same run counts."""
        _append(self.probes_path, {"run": run, **probabilities})

    def probes(self) -> dict[str, Row]:
        """The probabilities of spans by epoch, by run."""
        return {row["run"]: row for row in _read(self.probes_path)}

    def add_vectors(self, run: str, vectors: NDArray[np.float32], groups: Sequence[str]) -> None:
        """Keeps the vectors of spans [spans, width] and the group of each."""
        path = self.spans_folder / f"{run}.npz"
        with written_aside(path, overwrite=True) as aside, open(aside, "wb") as file:
            np.savez_compressed(file, vectors=vectors.astype(np.float16), groups=np.array(groups))

    def vectors(self, run: str) -> tuple[NDArray[np.float32], list[str]] | None:
        """What `add_vectors` kept of a run, if it did."""
        path = self.spans_folder / f"{run}.npz"
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as kept:
                return kept["vectors"].astype(np.float32), kept["groups"].tolist()
        except (ValueError, OSError, KeyError) as error:
            raise DataError(path, f"the vectors cannot be read: {error}") from None


def read_rows(path: Path) -> list[Row]:
    """The rows of a results file, which must be there and hold some.

    Raises:
        DataError: There is no such file, no row in it, or one without scores.
    """
    if not path.is_file():
        raise DataError(path, "there is no such file", right="It is made by 'lacuner bench run'")
    rows = _read(path)
    if not rows:
        raise DataError(path, "there is no row in it")
    for number, row in enumerate(rows, 1):
        if not isinstance(row.get("test"), dict) or not isinstance(row.get("recipe"), str):
            raise DataError(path, f"row {number} is no result of a study")
    return rows


def _read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    rows = []
    *lines, _cut_off = path.read_bytes().split(b"\n")  # what a kill left has no line end
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        value = parse_json(line, path, line=number)
        if not isinstance(value, dict):
            raise DataError(path, "the line holds no JSON object", line=number)
        rows.append(value)
    return rows


def _append(path: Path, row: Row) -> None:
    """Adds a line, alone with the file, and waits until it is on disk."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            whole = file.read()
            if whole and not whole.endswith(b"\n"):
                file.truncate(whole.rfind(b"\n") + 1)
            file.write(orjson.dumps(row) + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise LacunerError(f"{path} cannot be written: {error.strerror}.") from None
