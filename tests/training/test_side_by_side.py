"""Trainings in processes of their own: what they say arrives, and none is left behind."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from lacuner.errors import LacunerError, UsageError
from lacuner.files import write_json
from lacuner.training import side_by_side
from lacuner.training.loop import Interrupted
from lacuner.training.run_folder import Run
from lacuner.training.side_by_side import check_jobs, device_of, train_side_by_side
from tests.training.side_trainings import dies, fails, tells, waits


def _run(folder: Path, **arguments: Any) -> Run:
    folder.mkdir(exist_ok=True)
    write_json({}, folder / "run.json")
    return Run(folder, **arguments)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_trainings_say_is_written_once_by_one(jobs: int, tmp_path: Path) -> None:
    heard: list[str] = []
    run = _run(tmp_path, jobs=jobs, listeners=[lambda stage, event: heard.append(stage)])
    with _threads(2):
        train_side_by_side({"a": tells, "b": tells, "c": tells}, run.within("part"))
    stages = {f"part.{name}.train" for name in "abc"}
    assert sorted(heard) == sorted(stages)
    assert {row["stage"] for row in run.metrics()} == stages
    assert {row["threads"] for row in run.metrics()} == {2 // jobs}
    assert sorted(run.remarks) == [f"part.{name}. was here" for name in "abc"]
    assert all((tmp_path / "stages" / stage / "done").exists() for stage in stages)


def test_run_that_is_asked_to_stop_has_all_of_them_save_and_stop(tmp_path: Path) -> None:
    heard: list[str] = []
    run = _run(
        tmp_path,
        jobs=2,
        listeners=[lambda stage, event: heard.append(stage)],
        stopped=lambda: len(heard) == 2,
    )
    with pytest.raises(Interrupted, match=r"Stopped as asked\."):
        train_side_by_side({"a": waits, "b": waits, "c": tells}, run)
    assert all((tmp_path / "stages" / f"{name}.train" / "saved").exists() for name in "ab")
    assert not (tmp_path / "stages" / "c.train").exists()


def test_run_that_is_asked_to_stop_before_anything_began_says_so(tmp_path: Path) -> None:
    run = _run(tmp_path, jobs=2, stopped=lambda: True)
    with pytest.raises(Interrupted, match="--resume"):
        train_side_by_side({"a": tells, "b": tells}, run)
    assert not (tmp_path / "stages").exists()


def test_failure_of_one_stops_the_others_and_is_what_is_told(tmp_path: Path) -> None:
    run = _run(tmp_path, jobs=2)
    with pytest.raises(LacunerError, match=r"^This encoder cannot do that\.$") as caught:
        train_side_by_side({"a": waits, "b": fails, "c": tells}, run)
    assert caught.value.exit_code == 2
    assert (tmp_path / "stages" / "a.train" / "saved").exists()
    assert not (tmp_path / "stages" / "c.train").exists()


def test_process_that_ends_without_a_word_is_missed(tmp_path: Path) -> None:
    with pytest.raises(LacunerError, match=r"exit code 9 .* --resume"):
        train_side_by_side({"a": dies, "b": tells}, _run(tmp_path, jobs=2))


def test_no_process_is_left_behind_where_this_one_gives_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    begin = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(begin(*arguments, **options))
        return started[-1]

    monkeypatch.setattr("lacuner.training.side_by_side.subprocess.Popen", start)

    def give_up(stage: str, event: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_side_by_side({"a": waits, "b": waits}, _run(tmp_path, jobs=2, listeners=[give_up]))
    assert len(started) == 2
    assert all(process.poll() is not None for process in started)


def test_each_gets_a_gpu_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    assert [device_of(slot)["CUDA_VISIBLE_DEVICES"] for slot in range(3)] == ["3", "5", "3"]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert device_of(1) == {"CUDA_VISIBLE_DEVICES": "1"}
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    assert device_of(1) == {}


def test_jobs_that_cannot_be_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    check_jobs(3)
    with pytest.raises(UsageError, match="jobs is 0"):
        check_jobs(0)
    monkeypatch.setattr(side_by_side, "is_alone", lambda: False)
    check_jobs(1)
    with pytest.raises(UsageError, match="one training after another"):
        check_jobs(2)
