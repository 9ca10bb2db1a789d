"""A real bench in real processes: killed, resumed, never repeated."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lacuner.experiments.bench import Bench, Failed, Finished, Progress
from lacuner.experiments.clock import Clock
from lacuner.experiments.job import BUSY, Job, plan_jobs
from lacuner.experiments.plan import plan_runs
from lacuner.experiments.results import HIDDEN, LABELLED, NO_ENTITY, Results
from lacuner.experiments.study_file import load_study
from lacuner.experiments.worker import missampling
from tests.experiments.tiny_study import write_tiny

LONGER = {"epochs = 1,": "epochs = 6,", "batch_size = 8": "batch_size = 4"}
GROUPS = (LABELLED, HIDDEN, NO_ENTITY)
CEILING = ("--only", "recipe=supervised", "--keep-runs")


def _bench(study: Path, out: Path, *more: str) -> list[str]:
    program = "import sys; from lacuner.cli import main; sys.exit(main())"
    return [sys.executable, "-c", program, "bench", "run", str(study), "--out", str(out), *more]


def _run(study: Path, out: Path, *more: str) -> list[dict[str, Any]]:
    done = subprocess.run(_bench(study, out, *more), capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return Results(out / "tiny.jsonl").rows()


def _wait_for(pattern: str, folder: Path, process: subprocess.Popen[bytes]) -> Path:
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        if found := next(folder.glob(pattern), None):
            return found
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.02)
    raise AssertionError(f"no {pattern}")


def _jobs(study: Path, out: Path, **only: list[str]) -> list[Job]:
    plans = plan_runs(load_study(study), "cpu", only=only)
    return plan_jobs(plans, Results(out / "tiny.jsonl"), data=None, runs=out / ".runs")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], bytes]:
    """The row and the weights of a run that nobody killed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (row,) = _run(write_tiny(folder, LONGER), folder, *CEILING)
    return row, _weights(folder)


def _weights(out: Path) -> bytes:
    (path,) = out.glob(".runs/*/run/model/weights.safetensors")
    return path.read_bytes()


@pytest.mark.parametrize("whole_group", [True, False], ids=["all", "bench alone"])
def test_killed_bench_goes_on_to_the_same_result(
    tmp_path: Path, whole_group: bool, undisturbed: tuple[dict[str, Any], bytes]
) -> None:
    study = write_tiny(tmp_path, LONGER)
    out = tmp_path / "killed"
    process = subprocess.Popen(
        _bench(study, out, *CEILING), start_new_session=True, stderr=subprocess.DEVNULL
    )
    state = _wait_for(".runs/*/run/stages/train/latest.json", out, process)
    if whole_group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    assert Results(out / "tiny.jsonl").rows() == []
    assert state.exists()
    (row,) = _run(study, out, *CEILING)
    for key in ("run", "curve", "dev", "test", "settings"):
        assert row[key] == undisturbed[0][key]
    assert row["curve"][-1]["epoch"] == 6
    assert _weights(out) == undisturbed[1]


def test_interrupted_bench_lets_its_runs_save_and_stop(tmp_path: Path) -> None:
    long = write_tiny(tmp_path, {"epochs = 1,": "epochs = 500,"})
    out = tmp_path / "out"
    process = subprocess.Popen(
        _bench(long, out, *CEILING),
        start_new_session=True,
        stderr=subprocess.PIPE,
        # Where the tests themselves run in the background, the shell has switched Ctrl-C off.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    state = _wait_for(".runs/*/run/stages/train/latest.json", out, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"1 run left; the same command goes on" in said and b"Traceback" not in said
    assert state.exists()
    with open(next(out.glob(".runs/*/run.lock")), "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # nobody is left who holds it


def test_interrupted_run_is_told_from_one_that_failed(tmp_path: Path) -> None:
    long = write_tiny(tmp_path, {"epochs = 1,": "epochs = 500,"})
    jobs = _jobs(long, tmp_path / "out", recipe=["supervised"])
    bench = Bench(jobs, Results(tmp_path / "out" / "tiny.jsonl"))
    messages = []
    for event in bench.run():
        if isinstance(event, Progress):
            for child in bench._children:
                child.process.send_signal(signal.SIGINT)
        if isinstance(event, Failed):
            messages.append(event.message)
    assert messages == ["somebody interrupted it; its state is saved"]


def test_finished_runs_are_not_repeated_and_changed_ones_are_made(tmp_path: Path) -> None:
    out = tmp_path / "out"
    looked_into = write_tiny(
        tmp_path, {'title = "For tests"': "probe = true", "epochs = 1,": "epochs = 3,"}
    )
    first = _run(looked_into, out, "--keep-runs", "--jobs", "3")
    by_system = {row["system"]: row for row in first}
    assert len(first) == 3 and set(by_system) == {"cross-entropy", "ceiling", "names"}
    wanted = {"study", "profile", "corpus", "masking", "recipe", "encoder", "seed",
              "train_sentences", "selected_on", "dev", "test", "missampling", "seconds",
              "peak_mb", "version"}  # fmt: skip
    for row in first:
        assert wanted <= set(row)
        assert set(row["test"]) == {"p", "r", "f1"}
        assert (
            row["seconds"] > 0
            and row["processor_seconds"] > 0
            and row["peak_mb"] > 50
            and row["train_sentences"] == 40
        )
    for system, selected_on, masking in (
        ("cross-entropy", "dev", 0.5), ("ceiling", "dev", 0.0), ("names", "none", 0.5)
    ):  # fmt: skip
        row = by_system[system]
        assert (row["selected_on"], row["masking"]) == (selected_on, masking)
    assert len(Results(out / "tiny.jsonl").counts()) == 3
    assert len(list((out / ".runs").glob("*/run/model"))) == 3

    results = Results(out / "tiny.jsonl")
    assert set(results.probes()) == {by_system["cross-entropy"]["run"]}, "the one with gaps"
    (probe,) = results.probes().values()
    assert probe["epochs"][:2] == [1, 2]
    assert all(len(probe[group]["mean"]) == len(probe["epochs"]) for group in GROUPS)
    for system in ("cross-entropy", "ceiling"):
        kept = results.vectors(by_system[system]["run"])
        assert kept is not None and len(kept[0]) == len(kept[1]) > 100

    before = (out / "tiny.jsonl").read_bytes()
    plain = {"epochs = 1,": "epochs = 3,"}  # a look into a run is no other run
    assert _run(write_tiny(tmp_path, plain), out) == first
    assert (out / "tiny.jsonl").read_bytes() == before
    recipe = 'recipe = "dictionary"'
    changed = write_tiny(tmp_path, {**plain, recipe: f"{recipe}\nsettings.min_count = 0"})
    rows = _run(changed, out)
    assert rows[:3] == first and len(rows) == 4
    assert len(list((out / ".runs").iterdir())) == 3, "that of the fourth is removed"
    assert rows[3]["system"] == "names" and rows[3]["settings"] == {"min_count": 0}


def test_failed_run_is_reported_and_others_go_on(tmp_path: Path) -> None:
    study = write_tiny(tmp_path)
    names, failing = (
        _jobs(study, tmp_path, recipe=["dictionary"]),
        _jobs(study, tmp_path, recipe=["span_ce"]),
    )
    broken = Job.from_json(failing[0].to_json().replace(b'"bilstm"', b'"bilstmm"', 1))
    results = Results(tmp_path / "tiny.jsonl")
    events = list(Bench([broken, *names], results, threads=1).run())
    (failed,) = [event for event in events if isinstance(event, Failed)]
    assert "bilstm" in failed.message and failed.job == broken
    assert [e.job for e in events if isinstance(e, Finished)] == names
    assert [row["recipe"] for row in results.rows()] == ["dictionary"]


def test_run_that_another_process_makes_is_left_to_it(tmp_path: Path) -> None:
    (job,) = _jobs(write_tiny(tmp_path), tmp_path, recipe=["dictionary"])
    job.lock.parent.mkdir(parents=True)
    with open(job.lock, "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        worker = subprocess.run(
            [sys.executable, "-m", "lacuner.experiments.worker"],
            input=job.to_json(),
            capture_output=True,
            timeout=120,
        )
        assert worker.returncode == BUSY
        bench = Bench([job], Results(tmp_path / "tiny.jsonl"), seconds=0.1)
        assert list(bench.run()) == [] and bench.stopped
    assert Results(tmp_path / "tiny.jsonl").rows() == []


def test_rows_keep_what_recipes_found_on_the_way(tmp_path: Path) -> None:
    changes = {'"span_ce"': '"two_step"', '"dictionary"': '"refill"'}
    rows = _run(write_tiny(tmp_path, changes), tmp_path, "--only", "recipe=two_step,refill")
    found = {row["recipe"]: row for row in rows}
    two_step, refill = found["two_step"], found["refill"]
    assert two_step["removed"]["removed"] > 0 and two_step["removed"]["measured"]["grid"]
    assert set(two_step["stages"]) == {"explore", "train"} and two_step["refilled"] is None
    assert [one["round"] for one in refill["refilled"]["rounds"]] == [1]
    assert all("measured" in one for one in refill["refilled"]["rounds"])
    assert refill["removed"] is None


def test_clock_adds_up_over_interruptions(tmp_path: Path) -> None:
    path = tmp_path / "clock.json"
    path.write_text(
        '{"seconds": 100.0, "processor_seconds": 50.0, "peak_mb": 1e9, "stages": {"explore": 40.0}}'
    )
    clock = Clock(path)
    assert 100 <= clock.seconds < 110 and clock.peak_mb == 1e9
    assert 50 <= (clock.processor_seconds or 0) < 60
    clock("train", None)
    clock("train", None)
    assert clock.stages["explore"] == 40 and 0 < clock.stages["train"] <= clock.seconds - 100
    clock.note()
    again = Clock(path)
    assert again.seconds >= clock.seconds - 1 and again.stages == clock.stages
    assert (again.processor_seconds or 0) >= (clock.processor_seconds or 0) - 1 > 48


def test_clock_does_not_guess_what_an_earlier_version_left_out(tmp_path: Path) -> None:
    path = tmp_path / "clock.json"
    assert Clock(path).processor_seconds is not None
    path.write_text('{"seconds": 100.0, "peak_mb": 500.0, "stages": {}}')
    assert Clock(path).processor_seconds is None


def test_missampling_is_a_rate_for_each_epoch() -> None:
    rows = [{"step": 1, "loss": 2.0}, {"epoch": 1.0, "drawn": 200, "missampled": 5},
            {"epoch": 2.0, "drawn": 100, "missampled": 1}, {"epoch": 3.0, "drawn": 0}]  # fmt: skip
    assert missampling(rows) == [0.025, 0.01]
    assert missampling([{"epoch": 1.0, "drawn": 5}]) is None
