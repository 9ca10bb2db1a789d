"""`lacuner bench`, as a user calls it; the runs themselves are in tests/experiments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lacuner.cli.bench_progress import TimeLeft, duration
from lacuner.experiments.job import plan_jobs
from lacuner.experiments.plan import plan_runs
from lacuner.experiments.results import Results
from lacuner.experiments.study_file import load_study
from lacuner.experiments.table_formats import MEASURES
from tests.cli.conftest import Run
from tests.experiments.tiny_study import row, write_tiny

Lacuner = Callable[..., Run]


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """Results of two systems and the ceiling."""
    results = Results(tmp_path / "tiny.jsonl")
    counts = np.array([[1, 1, 1]] * 50)
    for seed in (1, 2):
        results.append(row(f"a{seed}", 0.70 + seed / 100, seed=seed), counts)
        results.append(row(f"b{seed}", 0.50, seed=seed, system="theirs"), counts * [0, 1, 1])
        results.append(
            row(f"c{seed}", 0.90, seed=seed, masking=0.0, system="top", recipe="supervised"), counts
        )
    return results.path


def test_studies_are_listed_with_their_runs(lacuner: Lacuner) -> None:
    listed = {
        study["name"]: study["runs"] for study in json.loads(lacuner("bench", "list", "--json").out)
    }
    assert listed["masked-conll"]["cpu"] == 63  # six systems, two at one rate, a ceiling
    assert "masked-conll" in lacuner("bench", "list").out


def test_dry_run_says_what_would_be_made(lacuner: Lacuner, tmp_path: Path) -> None:
    study = write_tiny(tmp_path)
    out = tmp_path / "out"
    listed = lacuner("bench", "run", study, "--out", out, "--dry-run", "--json")
    assert listed.code == 0, listed.err
    states = json.loads(listed.out)
    assert [state["state"] for state in states] == ["to make"] * 3
    assert not out.exists()
    Results(out / "tiny.jsonl").append(row(states[0]["run"], 0.5), np.zeros((1, 3), dtype=int))
    again = lacuner("bench", "run", study, "--out", out, "--dry-run")
    assert "3 runs, 1 finished, 2 to make" in again.err and "finished" in again.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "gpu"], "There is no profile"),
        (["--only", "sead=1"], "Did you mean seed"),
        (["--only", "seed"], "NAME=VALUE"),
        (["--encoder", "minilm=x"], "There is no encoder"),
    ],
)
def test_wrong_calls_say_what_is_wrong(
    lacuner: Lacuner, tmp_path: Path, arguments: list[str], message: str
) -> None:
    run = lacuner("bench", "run", write_tiny(tmp_path), "--out", tmp_path / "out", *arguments)
    assert run.code == 2 and message in run.err


def test_study_with_files_asks_for_their_folder(lacuner: Lacuner, tmp_path: Path) -> None:
    run = lacuner("bench", "run", "masked-conll", "--out", tmp_path)
    assert run.code == 2 and "--data" in run.err
    run = lacuner("bench", "run", "masked-conll", "--out", tmp_path, "--data", tmp_path)
    assert run.code == 1 and "there is no such file" in run.err


def test_table_is_printed_or_written(lacuner: Lacuner, finished: Path, tmp_path: Path) -> None:
    shown = lacuner("bench", "table", finished)
    assert shown.code == 0, shown.err
    assert "| ours |  | **71.50 ± 0.71** | 79.4 |" in shown.out.replace("|  |  |", "|  |")
    assert "| theirs |" in shown.out and "†" not in shown.out
    out = tmp_path / "table.tex"
    assert lacuner("bench", "table", finished, "--format", "latex", "-o", out).code == 0
    assert r"\toprule" in out.read_text()
    assert lacuner("bench", "table", finished, "--format", "latex", "-o", out).code == 1
    assert lacuner("bench", "table", finished, "--format", "html").code == 2
    assert lacuner("bench", "table", finished, "--columns", "f2").code == 2
    assert lacuner("bench", "table", tmp_path / "none.jsonl").code == 1


def test_help_names_every_column(lacuner: Lacuner) -> None:
    shown = lacuner("bench", "table", "--help").out
    assert all(name in shown for name in MEASURES)


def test_rows_of_several_studies_stand_in_one_table(lacuner: Lacuner, tmp_path: Path) -> None:
    first, second = Results(tmp_path / "first.jsonl"), Results(tmp_path / "second.jsonl")
    none = np.zeros((1, 3), dtype=np.int64)
    first.append(row("a", 0.6, system="ours, both", study="first"), none)
    first.append(row("b", 0.9, system="top", recipe="supervised", masking=0.0, study="first"), none)
    second.append(row("c", 0.3, system="theirs", study="second"), none)
    second.append(row("d", 0.2, system="theirs", masking=0.8, study="second"), none)
    shown = lacuner("bench", "table", first.path, second.path)
    assert shown.code == 0, shown.err
    assert "first + second" in shown.out
    assert {"ours, both", "top", "theirs"} <= {c.strip() for c in shown.out.split("|")}
    shown = lacuner("bench", "table", first.path, second.path, "--only", "system=ours, both")
    assert "ours, both" in shown.out and "66.7" in shown.out, "the ceiling stays"
    assert "theirs" not in shown.out
    shown = lacuner("bench", "table", first.path, second.path, "--only", "masking=0.5,0.8")
    assert "theirs" in shown.out and "ours, both" in shown.out
    assert lacuner("bench", "table", first.path, "--only", "system=theirs").code == 2
    other = Results(tmp_path / "other.jsonl")
    other.append(row("e", 0.3, train_sentences=7, study="other"), none)
    apart = lacuner("bench", "table", first.path, other.path)
    assert apart.code == 2 and "100 training sentences in first and 7 in other" in apart.err


def test_time_left_is_judged_by_runs_of_the_same_kind(tmp_path: Path) -> None:
    study = load_study(write_tiny(tmp_path))
    jobs = plan_jobs(plan_runs(study, "cpu"), Results(tmp_path / "r.jsonl"), data=None,
                     runs=tmp_path)  # fmt: skip
    left = TimeLeft([], parallel=2)
    assert left.left([(jobs[0], 0.0)]) is None
    left.learn(jobs[0].facts, 100.0)
    left.learn(jobs[1].facts, 300.0)
    assert left.expected(jobs[0]) == 100.0
    assert left.left([(jobs[0], 0.5), (jobs[1], 0.0)]) == pytest.approx((50 + 300) / 2)
    assert left.left([]) == 0
    assert (duration(30), duration(600), duration(7260)) == ("30 s", "10 min", "2 h 1 min")


def test_figures_are_drawn_or_said_to_be_impossible(
    lacuner: Lacuner, finished: Path, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "figures"
    drawn = lacuner("bench", "plot", finished, "-o", out, "--format", "png")
    assert drawn.code == 0, drawn.err
    assert [path.name for path in out.iterdir()] == ["retention.png"]
    assert lacuner("bench", "plot", finished, "-o", out, "--format", "gif").code == 2
    single = tmp_path / "single.jsonl"
    Results(single).append(row("a", 0.5), np.zeros((1, 3), dtype=int))
    nothing = lacuner("bench", "plot", single, "-o", out)
    assert nothing.code == 2 and "no figure yet" in nothing.err
