"""Two real processes train as one: same step, one run folder, resumed after a kill of both."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import lacuner
from lacuner.demo import gold
from lacuner.errors import LacunerError
from lacuner.training import processes
from lacuner.training.run_folder import Run
from tests.training import tiny_training
from tests.training.two_processes import ONE_STEP, without_dropout

Pair = list[subprocess.Popen[str]]


def _start(*arguments: object) -> Pair:
    """Starts a module twice, as launchers do."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2",
        "LOCAL_WORLD_SIZE": "2", "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    return [
        subprocess.Popen(
            [sys.executable, "-m", *map(str, arguments)],
            env={**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]


def _finish(pair: Pair) -> list[str]:
    """What both said, once both are done and well."""
    try:
        said = [process.communicate(timeout=120)[1] for process in pair]
    finally:
        for process in pair:
            process.kill()
    assert [process.returncode for process in pair] == [0, 0], said
    return said


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes left."""
    folder = tmp_path_factory.mktemp("together")
    _finish(_start("tests.training.two_processes", folder))
    return folder


def test_two_processes_take_the_step_of_one(together: Path, tmp_path: Path) -> None:
    tiny_training.train(tmp_path / "run", trained=without_dropout(), **ONE_STEP)
    # The moments of the optimiser are the gradients, times a constant; the first step of Adam
    # itself shows little more than their signs.
    for file in ("model.safetensors", "optimiser.safetensors"):
        place = Path("stages") / "train" / "state-1" / file
        both, alone = load_file(together / "step" / place), load_file(tmp_path / "run" / place)
        assert both.keys() == alone.keys()
        for name in alone:
            torch.testing.assert_close(both[name], alone[name], rtol=1e-3, atol=1e-6)
    losses = [Run(run).metrics()[0]["loss"] for run in (together / "step", tmp_path / "run")]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_two_killed_processes_resume_to_the_same_weights(together: Path, tmp_path: Path) -> None:
    run, result = tmp_path / "run", tmp_path / "result.safetensors"
    pair = _start("tests.training.tiny_training", run, result)
    limit = time.monotonic() + 60
    while not (run / "stages" / "train" / "latest.json").exists() and time.monotonic() < limit:
        time.sleep(0.01)
    for process in pair:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert not result.exists()
    _finish(_start("tests.training.tiny_training", run, result))
    whole, resumed = load_file(together / "whole.safetensors"), load_file(result)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert Run(run).metrics() == Run(together / "whole").metrics()


def test_processes_that_stop_or_fail_do_so_together(together: Path) -> None:
    for name in ("stopped", "poisoned"):
        latest = json.loads((together / name / "stages" / "train" / "latest.json").read_bytes())
        assert latest["place"]["step"] == (1 if name == "stopped" else 0)


def test_command_in_two_processes_writes_and_speaks_once(tmp_path: Path) -> None:
    source, run = tmp_path / "mine.jsonl", tmp_path / "run"
    lacuner.write(gold("train").with_sentences(gold("train").sentences[:20]), source)
    said = _finish(
        _start("lacuner", "train", source, "--dev", source, "-o", run, "--recipe", "token_ce",
               "--set", "encoder.name=bilstm", "--set", "model.head=crf",
               "--set", "training.epochs=2")
    )  # fmt: skip
    assert said[0].count("dev F1") == 2 and "finished" in said[0]
    assert said[1] == ""
    assert sorted(path.name for path in run.iterdir()) == [
        "metrics.jsonl", "model", "run.json", "settings.toml", "stages",
    ]  # fmt: skip
    steps = [row["step"] for row in Run(run).metrics() if "loss" in row]
    assert steps == sorted(set(steps))
    assert lacuner.load(run).labels == gold("train").labels


def test_single_process_does_everything_itself() -> None:
    assert processes.is_alone() and processes.is_main()
    assert processes.everywhere(3) == [3]
    assert processes.on_main(lambda: "done") == "done"


def test_processes_that_know_nothing_of_each_other_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    processes.processes.cache_clear()
    try:
        with pytest.raises(LacunerError, match="3 processes were started"):
            processes.processes()
    finally:
        processes.processes.cache_clear()
