"""The loop learns, resumes bit for bit, and stops in good order."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from lacuner.models.batch import Batch, Output
from lacuner.objectives.cross_entropy import SpanCrossEntropy
from lacuner.objectives.loss import Loss
from lacuner.training.events import Step
from lacuner.training.loop import Diverged, Interrupted, step_seed
from lacuner.training.run_folder import Run
from lacuner.training.state import load_best, save_best
from tests.training import tiny_training


def _weights(model: torch.nn.Module) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def _same(first: dict[str, Tensor], second: dict[str, Tensor]) -> bool:
    return first.keys() == second.keys() and all(
        torch.equal(first[name], second[name]) for name in first
    )


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tensor]:
    """The weights of the training that nobody disturbed."""
    return _weights(tiny_training.train(tmp_path_factory.mktemp("reference") / "run"))


def test_training_learns_the_corpus(tmp_path: Path) -> None:
    run = tmp_path / "run"
    tiny_training.train(run, epochs=12, accumulate=1, head_rate=2e-2, encoder_rate=2e-2)
    rows = Run(run).metrics()
    scores = [row["dev"] for row in rows if "dev" in row]
    losses = [row["loss"] for row in rows if "loss" in row]
    assert scores[-1] > 0.6
    assert losses[-1] < 0.3 * losses[0]


def test_training_is_the_same_every_time(reference: dict[str, Tensor], tmp_path: Path) -> None:
    assert _same(reference, _weights(tiny_training.train(tmp_path / "run")))
    assert not _same(reference, _weights(tiny_training.train(tmp_path / "other", seed=6)))


@pytest.mark.parametrize("steps", [1, 5, 8, 13])
def test_stopped_training_resumes_to_the_same_weights(
    reference: dict[str, Tensor], tmp_path: Path, steps: int
) -> None:
    run = tmp_path / "run"
    left = iter(range(steps, -1, -1))
    with pytest.raises(Interrupted, match="--resume"):
        tiny_training.train(run, stopped=lambda: next(left) <= 1)
    whole = [row["step"] for row in Run(run).metrics() if "loss" in row]
    assert _same(reference, _weights(tiny_training.train(run, resume=True)))
    again = [row["step"] for row in Run(run).metrics() if "loss" in row]
    assert again == sorted(set(again)) and again[: len(whole)] == whole


def test_killed_process_resumes_to_the_same_weights(
    reference: dict[str, Tensor], tmp_path: Path
) -> None:
    draw = random.Random(11)
    run, result = tmp_path / "run", tmp_path / "result.safetensors"
    command = [sys.executable, "-m", "tests.training.tiny_training", str(run), str(result)]
    kills = 0
    while not result.exists():
        process = subprocess.Popen(command)
        if kills < 3:
            _wait_for_steps(process, run, draw.randint(1, 5))
            time.sleep(draw.random() * 0.05)
            process.send_signal(signal.SIGKILL)
            kills += 1
        assert process.wait(timeout=120) in (0, -signal.SIGKILL)
    assert kills == 3
    assert _same(reference, load_file(result))
    assert not list((run / "stages" / "train").glob(".*"))


def _wait_for_steps(process: subprocess.Popen[bytes], run: Path, steps: int) -> None:
    """Waits until the process has made some steps of its own."""
    latest = run / "stages" / "train" / "latest.json"
    begin = latest.stat().st_mtime_ns if latest.exists() else 0
    limit = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < limit:
        if latest.exists() and latest.stat().st_mtime_ns != begin:
            time.sleep(0.02 * steps)
            return
        time.sleep(0.005)


class _Poisoned:
    """Cross-entropy until a step, then no number."""

    def __init__(self, step: int) -> None:
        self.left = step
        self.clean = SpanCrossEntropy()

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        self.left -= 1
        loss = self.clean(output, batch, rng)
        return loss if self.left >= 0 else Loss(loss.total * float("nan"))


def test_loss_that_is_no_number_stops_and_keeps_the_state_before(
    reference: dict[str, Tensor], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with pytest.raises(Diverged, match=r"loss of step 6 is nan"):
        tiny_training.train(run, objective=_Poisoned(10))  # two batches a step
    assert _same(reference, _weights(tiny_training.train(run, resume=True)))


def test_patience_ends_a_training_that_gets_no_better(tmp_path: Path) -> None:
    run = tmp_path / "run"
    tiny_training.train(run, epochs=8, patience=1, head_rate=0.0, encoder_rate=0.0)
    evaluations = [row for row in Run(run).metrics() if "dev" in row]
    assert [row["best"] for row in evaluations] == [True, False]


def test_best_model_is_taken_not_the_last(tmp_path: Path) -> None:
    run = tmp_path / "run"
    # A rate that first helps and then destroys: the best evaluation is not the last one.
    trained = tiny_training.train(run, epochs=6, head_rate=0.3, encoder_rate=0.3, clip=100.0)
    rows = [row for row in Run(run).metrics() if "dev" in row]
    from lacuner.corpus.alignment import aligned
    from lacuner.evaluation.scores import score_entities
    from lacuner.inference.predictor import NeuralPredictor

    data = tiny_training.corpus()
    predicted = data.with_sentences(NeuralPredictor(trained).predict(data))
    score = score_entities(aligned(predicted, data)).total.f1
    assert score == max(row["dev"] for row in rows)


def test_limit_of_steps_ends_a_training_with_a_last_evaluation(tmp_path: Path) -> None:
    run = tmp_path / "run"
    tiny_training.train(run, most_steps=7, score_steps=3)
    rows = Run(run).metrics()
    assert [row["step"] for row in rows if "dev" in row] == [3, 6, 7]
    assert max(row["step"] for row in rows if "loss" in row) == 7


def test_tied_weights_are_saved_once_and_come_back_tied(tmp_path: Path) -> None:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
            self.second.weight = self.first.weight

    model, again = Tied(), Tied()
    stage = Run(tmp_path / "run").stage("train")
    save_best(stage, model, 1)
    load_best(stage, again, 1)
    assert _same(_weights(model), _weights(again))
    assert again.second.weight is again.first.weight


def test_full_disk_is_one_clear_sentence(tmp_path: Path, monkeypatch: Any) -> None:
    from lacuner.errors import LacunerError
    from lacuner.training import state

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(state, "save_file", full)
    with pytest.raises(LacunerError, match="No space left on device"):
        tiny_training.train(tmp_path / "run")


def test_step_seed_depends_on_every_part() -> None:
    seeds = {step_seed(1, "a", 2), step_seed(1, "a", 3), step_seed(2, "a", 2), step_seed(1, "b", 2)}
    assert len(seeds) == 4


def test_steps_are_logged_now_and_then() -> None:
    rows = [Step(n, 25, 0.1, 1.0, {"ce": 1.0}, 0.1).as_row() for n in range(1, 26)]
    assert [row["step"] for row in rows if row] == [10, 20, 25]
