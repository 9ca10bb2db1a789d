"""`lacuner train`, `predict`, `recipes` and `encoders`, as a user calls them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import lacuner as library
from lacuner.corpus.splits import concatenate
from lacuner.demo import gold
from lacuner.recipes import RECIPES
from tests.cli.conftest import Run

Lacuner = Callable[..., Run]
FAST = ["--encoder", "bilstm", "--set", "training.head_rate=1e-2",
        "--set", "training.batch_size=8"]  # fmt: skip


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    """Columns as a newcomer has them."""
    path = tmp_path / "mine.conll"
    part = gold("train").with_sentences(gold("train").sentences[:20])
    library.write(concatenate([part, part]), path)
    return path


def test_newcomer_trains_on_columns_and_predicts_text(
    lacuner: Lacuner, columns: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    trained = lacuner("train", columns, "--dev", columns, "-o", run, *FAST,
                      "--set", "training.epochs=25")  # fmt: skip
    assert trained.code == 0, trained.err
    assert "refill: 40 sentences" in trained.err and "labels are put back" in trained.err
    assert "say so by --complete" in trained.err
    assert "dev √(P·R)" in trained.err and "nobody vouches" in trained.err
    text = tmp_path / "text.txt"
    text.write_text("Maren Holt left Bergen.\n\nNothing here.\n")
    found = tmp_path / "found.jsonl"
    assert lacuner("predict", run, text, "-o", found).code == 0
    assert len(library.read(found)) == 2
    scores = tmp_path / "predicted.jsonl"
    assert lacuner("predict", run, columns, "-o", scores).code == 0
    total = json.loads(lacuner("evaluate", scores, "--gold", columns, "--json").out)
    assert total["exact"]["micro"]["f1"] > 0.5


def test_settings_of_a_run_can_be_used_again(
    lacuner: Lacuner, columns: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    made = lacuner("train", columns, "-o", first, "--recipe", "nrces", *FAST,
                   "--set", "training.epochs=1")  # fmt: skip
    assert made.code == 0, made.err
    again = lacuner("train", columns, "-o", second, "--settings", first / "settings.toml")
    assert again.code == 0, again.err
    weights = Path("model") / "weights.safetensors"
    assert (first / weights).read_bytes() == (second / weights).read_bytes()


def test_ensemble_and_self_training_follow_any_recipe(
    lacuner: Lacuner, columns: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    trained = lacuner("train", columns, "-o", run, "--recipe", "nrces", *FAST,
                      "--set", "training.epochs=1", "--set", "ensemble.members=2",
                      "--set", "self_training.rounds=1",
                      "--set", "self_training.epochs=1")  # fmt: skip
    assert trained.code == 0, trained.err
    assert "without augmented sentences" in trained.err
    assert {path.name for path in (run / "stages").iterdir()} == {
        "member-1.train", "member-2.train", "ensemble", "self_training-1",
    }  # fmt: skip
    assert "members = 2" in (run / "settings.toml").read_text()
    assert library.load(run).labels
    assert "[self_training]" in lacuner("recipes", "nrces").out
    assert "[self_training]" not in lacuner("recipes", "dictionary").out


@pytest.mark.parametrize(
    ("extra", "code", "message"),
    [
        (["--recipe", "span_xe"], 2, "Did you mean span_ce"),
        (["--set", "training.epoch=2"], 2, "Did you mean training.epochs"),
        (["--set", "training.epochs=two"], 2, "a whole number"),
        (["--set", "encoder.name=minilmm"], 2, "minilm"),
        (["--encoder", "minilmm"], 2, "minilm"),
        (["--recipe", "supervised"], 2, "--complete"),
        (["--dev", "nowhere.conll"], 1, "there is no such file"),
        (["--settings", "nowhere.toml"], 1, "there is no such file"),
        (["--set", "training.epochs=0"], 2, "training.epochs is 0, but must be at least 1"),
        (["--set", "training.batch_size=0"], 2, "training.batch_size is 0"),
        (["--set", "training.head_rate=nan"], 2, "training.head_rate is nan"),
        (["--set", "training.precision=fp8"], 2, "There are: auto, no, fp16, bf16"),
        (
            ["--set", "ensemble.members=2", "--set", "ensemble.epochs=-1"],
            2,
            "ensemble.epochs is -1",
        ),
        (["--recipe", "roster", "--set", "self_training.interval=0"], 2, "at least 1"),
        (["--recipe", "roster", "--set", "loss.q=2"], 2, "loss.q is 2, but must be from 0 to 1"),
        (["--jobs", "0"], 2, "jobs is 0, but must be at least 1"),
    ],
)
def test_wrong_trainings_say_what_is_wrong(
    lacuner: Lacuner, columns: Path, tmp_path: Path, extra: list[str], code: int, message: str
) -> None:
    run = lacuner("train", columns, "-o", tmp_path / "run", *extra)
    assert run.code == code, run.err
    assert message in run.err
    assert "Traceback" not in run.err


def test_run_that_is_there_is_kept(lacuner: Lacuner, columns: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("mine")
    assert lacuner("train", columns, "-o", tmp_path / "run", *FAST).code == 1
    resumed = lacuner("train", columns, "-o", tmp_path / "run", "--resume", *FAST)
    assert resumed.code == 2 and "holds no run" in resumed.err


def test_interrupted_training_says_how_to_resume(columns: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-c", "import sys; from lacuner.cli import main; sys.exit(main())",
               "train", str(columns), "-o", str(run), *FAST,
               "--set", "training.epochs=400"]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 120
    while not (run / "metrics.jsonl").exists() and time.monotonic() < limit:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "--resume" in said and "Traceback" not in said
    assert any((run / "stages").glob("*/latest.json"))


def test_recipes_and_encoders_are_listed(lacuner: Lacuner) -> None:
    rows = {row["name"]: row for row in json.loads(lacuner("recipes", "--json").out)}
    assert list(rows) == list(RECIPES)
    assert rows["partial_crf"]["needs_negatives"] and not rows["span_ce"]["needs_negatives"]
    assert rows["weighted_partial_crf"]["stages"] == 7
    assert rows["nrces"]["robust_to"] == ["missing"]
    listed = lacuner("recipes").out
    assert "needed" in listed and "robust to" in listed and "weighted_partial_crf" in listed
    assert "batch_size = 16" in lacuner("recipes", "span_ce").out
    assert lacuner("recipes", "span_cee").code == 2
    assert "minilm" in lacuner("encoders").out


def test_predict_refuses_what_is_no_run(lacuner: Lacuner, columns: Path, tmp_path: Path) -> None:
    run = lacuner("predict", tmp_path, columns, "-o", tmp_path / "out.jsonl")
    assert run.code == 1 and "no finished run" in run.err


def test_complete_labels_are_learnt_in_one_training(
    lacuner: Lacuner, columns: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    trained = lacuner("train", columns, "--complete", "-o", run, *FAST,
                      "--set", "training.epochs=1")  # fmt: skip
    assert trained.code == 0, trained.err
    assert "refill: 40 sentences" in trained.err and "--complete" not in trained.err
    assert {path.name for path in (run / "stages").iterdir()} == {"train"}
