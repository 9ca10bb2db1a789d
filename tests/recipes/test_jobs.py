"""Recipes of several trainings make them at once, to the weights of one after another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import lacuner
from lacuner.training.loop import Interrupted
from lacuner.training.run_folder import Run
from tests.recipes.staged_training import CORPUS, STAGES, TRAINING, same

SMALL: dict[str, Any] = {"encoder": {"name": "bilstm"}, "training": TRAINING}
OF: dict[str, dict[str, Any]] = {
    "roster": {**SMALL, **STAGES},
    "refill": {**SMALL, "rounds": {"held_back": 0.3, "unit": "mention"}},
    "refill, members": {**SMALL, "rounds": {"held_back": 0.3, "unit": "name", "members": 2}},
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The number of threads moves last digits, and jobs share them."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _weights(run: Path, name: str, **arguments: Any) -> dict[str, torch.Tensor]:
    recipe = name.partition(",")[0]
    lacuner.train(CORPUS, recipe, out=run, settings=OF[name], **arguments)
    return load_file(run / "model" / "weights.safetensors")


@pytest.mark.parametrize("name", OF)
def test_two_at_once_come_to_the_weights_of_one_after_another(name: str, tmp_path: Path) -> None:
    alone = _weights(tmp_path / "alone", name)
    assert same(alone, _weights(tmp_path / "both", name, jobs=2))

    def by_stage(run: str) -> list[Any]:
        return sorted(Run(tmp_path / run).metrics(), key=lambda row: row["stage"])

    assert by_stage("both") == by_stage("alone")


def test_members_that_were_stopped_go_on_one_after_another(tmp_path: Path) -> None:
    heard: list[str] = []

    def listen(stage: str, event: Any) -> None:
        heard.append(stage)

    with pytest.raises(Interrupted):
        _weights(
            tmp_path / "cut",
            "roster",
            jobs=2,
            listeners=[listen],
            stopped=lambda: len(set(heard)) == 2,
        )
    assert set(heard) == {"member-1.train", "member-2.train"}
    whole = _weights(tmp_path / "whole", "roster")
    assert same(whole, _weights(tmp_path / "cut", "roster", resume=True))
