"""The file of results outlives kills and several writers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lacuner.errors import DataError
from lacuner.experiments.results import Results, read_rows
from tests.experiments.tiny_study import row

COUNTS = np.array([[1, 2, 3], [0, 0, 1]])


def test_row_is_kept_once_with_its_counts(tmp_path: Path) -> None:
    results = Results(tmp_path / "deep" / "tiny.jsonl")
    assert results.rows() == [] and results.counts() == {}
    results.append(row("a", 0.5), COUNTS)
    results.append(row("a", 0.9), COUNTS)
    results.append(row("b", 0.6), COUNTS[:1])
    assert [(r["run"], r["test"]["f1"]) for r in results.rows()] == [("a", 0.5), ("b", 0.6)]
    assert results.finished() == {"a", "b"}
    assert results.counts()["a"].tolist() == COUNTS.tolist()
    assert results.counts()["b"].tolist() == [[1, 2, 3]]


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_line_cut_off_by_a_kill_is_no_row_and_makes_way(tmp_path: Path, cut: int) -> None:
    results = Results(tmp_path / "tiny.jsonl")
    for name in ("a", "b"):
        results.append(row(name, 0.5), COUNTS)
    whole = results.path.read_bytes()
    results.path.write_bytes(whole[:-cut])
    assert results.finished() == {"a"}
    results.append(row("b", 0.7), COUNTS)
    results.append(row("c", 0.8), COUNTS)
    assert [r["test"]["f1"] for r in results.rows()] == [0.5, 0.7, 0.8]


def test_many_writers_leave_every_row_whole(tmp_path: Path) -> None:
    program = (
        "import sys, numpy as np; from pathlib import Path;"
        "from lacuner.experiments.results import Results;"
        "r = Results(Path(sys.argv[1]));"
        "[r.append({'run': f'{sys.argv[2]}-{n}', 'pad': 'x' * 20000},"
        " np.zeros((500, 3), dtype=int)) for n in range(15)]"
    )
    path = tmp_path / "tiny.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", program, str(path), name]) for name in "abc"]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0]
    assert len(Results(path).finished()) == 45 and len(Results(path).counts()) == 45


def test_damaged_results_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "tiny.jsonl"
    with pytest.raises(DataError, match="bench run"):
        read_rows(path)
    path.write_text("")
    with pytest.raises(DataError, match="no row"):
        read_rows(path)
    path.write_text('{"recipe": "x"}\n')
    with pytest.raises(DataError, match="row 1 is no result"):
        read_rows(path)
    path.write_text('{"run": "a"}\nnonsense\n{"run": "b"}\n')
    with pytest.raises(DataError, match="line 2"):
        Results(path).rows()
