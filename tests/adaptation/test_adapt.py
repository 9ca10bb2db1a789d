"""Adapting learns, resumes bit for bit, and leaves a folder for encoders and augmenters."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import lacuner
from lacuner import Corpus, Sentence
from lacuner.adaptation.adapt import adapt
from lacuner.augmentation import Augmenter
from lacuner.augmentation.capitals import read_capitals
from lacuner.errors import DataError, LacunerError, OutputExists, UsageError
from lacuner.files import read_json, write_json
from lacuner.training.loop import Interrupted
from lacuner.training.run_folder import Run
from tests.adaptation import tiny_adaptation
from tests.adaptation.tiny_adaptation import run, text
from tests.language_models import word_piece, write_bert, write_roberta


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT without a head."""
    return write_bert(tmp_path_factory.mktemp("models") / "headless", head=False)


@pytest.fixture(scope="module")
def adapted(encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The adaptation that nobody disturbed."""
    return run(encoder, tmp_path_factory.mktemp("adapted") / "reference").folder


def _same(first: Path, second: Path) -> bool:
    one, other = (load_file(folder / "model.safetensors") for folder in (first, second))
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(("write", "whole_words"), [(write_bert, False), (write_roberta, True)])
def test_masked_accuracy_rises(write: Any, whole_words: bool, tmp_path: Path) -> None:
    encoder = write(tmp_path / "headless", head=False)
    settings = {"steps": 80, "held_out": 0.4, "masking": {"whole_words": whole_words}}
    result = run(encoder, tmp_path / "adapted", settings=settings)
    assert result.steps == 80
    assert result.before.accuracy < 0.15 < 0.3 < result.after.accuracy
    assert result.after.perplexity < 0.2 * result.before.perplexity


@pytest.mark.parametrize("freeze", ["none", "embeddings"])
def test_embeddings_stay_if_they_are_frozen(freeze: str, encoder: Path, tmp_path: Path) -> None:
    result = run(encoder, tmp_path / "adapted", settings={"freeze": freeze})
    assert result.after.loss < result.before.loss
    before = load_file(encoder / "model.safetensors")["embeddings.word_embeddings.weight"]
    after = load_file(result.folder / "model.safetensors")["bert.embeddings.word_embeddings.weight"]
    assert torch.equal(before, after) == (freeze == "embeddings")


def test_folder_is_plain_and_keeps_the_curve(adapted: Path) -> None:
    names = {path.name for path in adapted.iterdir()}
    assert names == {
        "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "adaptation",
    }  # fmt: skip
    record = adapted / "adaptation"
    assert {path.name for path in record.iterdir()} == {
        "run.json", "settings.toml", "metrics.jsonl", "curve.svg",
    }  # fmt: skip
    measured = [row for row in _metrics(adapted) if "held_out_loss" in row]
    assert [row["step"] for row in measured] == [0, 4, 8, 12]
    assert "masked accuracy" in (record / "curve.svg").read_text("utf-8")
    assert read_json(adapted / "config.json")["architectures"] == ["BertForMaskedLM"]


def test_folder_serves_as_encoder_and_as_augmenting_model(
    adapted: Path, tmp_path: Path, small_corpus: Corpus
) -> None:
    settings = {"encoder": {"name": str(adapted)}, "training": {"epochs": 1}}
    recogniser = lacuner.train(small_corpus, "span_ce", out=tmp_path / "run", settings=settings)
    assert set(recogniser.labels) == set(small_corpus.labels)
    augmented = Augmenter(adapted).augment(small_corpus, 1)
    assert [len(sentence) for sentence in augmented] == [len(s) for s in small_corpus]


def test_capitals_of_the_text_are_kept_beside_an_uncased_model(
    adapted: Path, tmp_path: Path
) -> None:
    uncased = write_bert(tmp_path / "uncased", word_piece(lower=True))
    made = run(uncased, tmp_path / "out", settings={"steps": 1, "evaluations": 1}).folder
    assert {"gdynia", "oslo", "may"} <= read_capitals(made)
    assert not {"the", "ferry", "."} & read_capitals(made)
    assert not read_capitals(adapted)


def test_adapting_again_keeps_the_head(adapted: Path, tmp_path: Path) -> None:
    again = run(adapted, tmp_path / "again", settings={"steps": 1, "evaluations": 1})
    first = [row for row in _metrics(adapted) if row.get("best")][-1]
    assert again.before.loss == pytest.approx(first["held_out_loss"], rel=1e-4)


def _metrics(folder: Path) -> list[dict[str, Any]]:
    return Run(folder / "adaptation").metrics()


def test_adapting_is_decided_by_its_seed(adapted: Path, encoder: Path, tmp_path: Path) -> None:
    assert _same(adapted, run(encoder, tmp_path / "same").folder)
    training = {**tiny_adaptation.SETTINGS["training"], "seed": 1}
    other = run(encoder, tmp_path / "other", settings={"training": training}).folder
    assert not _same(adapted, other)


@pytest.mark.parametrize("steps", [1, 5])
def test_stopped_adaptation_resumes_to_the_same_weights(
    adapted: Path, encoder: Path, tmp_path: Path, steps: int
) -> None:
    left = iter(range(steps, -1, -1))
    with pytest.raises(Interrupted, match="--resume"):
        run(encoder, tmp_path / "out", stopped=lambda: next(left) <= 1)
    with pytest.raises(UsageError, match=r"no config\.json"):
        Augmenter(tmp_path / "out")
    run(encoder, tmp_path / "out", resume=True)
    assert _same(adapted, tmp_path / "out")
    steps_of = [[row["step"] for row in _metrics(f)] for f in (adapted, tmp_path / "out")]
    assert steps_of[0] == steps_of[1]


def test_killed_process_resumes_to_the_same_weights(
    adapted: Path, encoder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "tests.adaptation.tiny_adaptation", str(encoder), str(out)]
    process = subprocess.Popen(command)
    latest = out / "adaptation" / "stages" / "fill" / "latest.json"
    limit = time.monotonic() + 120
    while not latest.exists() and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert latest.exists() and not (out / "config.json").exists()
    run(encoder, out, resume=True)
    assert _same(adapted, out)


def test_minutes_become_steps_that_a_resumed_run_finds_again(encoder: Path, tmp_path: Path) -> None:
    settings = {"minutes": 0.02, "evaluations": 1}
    with pytest.raises(Interrupted):
        run(encoder, tmp_path / "out", settings=settings, stopped=lambda: True)
    plan = read_json(tmp_path / "out" / "adaptation" / "plan.json")
    assert 1 < plan["steps"] < 1000
    assert run(encoder, tmp_path / "out", settings=settings, resume=True).steps == plan["steps"]


def test_finished_adaptation_is_not_trained_again(adapted: Path, encoder: Path) -> None:
    before = (adapted / "model.safetensors").stat().st_mtime_ns
    result = run(encoder, adapted, resume=True)
    assert (adapted / "model.safetensors").stat().st_mtime_ns == before
    assert result.steps == 12


def test_resuming_with_another_text_or_setting_is_refused(encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        run(encoder, tmp_path / "out", stopped=lambda: True)
    with pytest.raises(UsageError, match="another corpus"):
        adapt(
            text(13), encoder, out=tmp_path / "out", settings=tiny_adaptation.SETTINGS, resume=True
        )
    with pytest.raises(UsageError, match="other settings"):
        run(encoder, tmp_path / "out", settings={"steps": 9}, resume=True)


def test_resuming_what_is_finished_with_something_else_is_refused(
    adapted: Path, encoder: Path, tmp_path: Path
) -> None:
    def other_text() -> None:
        adapt(text(13), encoder, out=adapted, settings=tiny_adaptation.SETTINGS, resume=True)

    def other_encoder() -> None:
        run(write_bert(tmp_path / "other", head=False), adapted, resume=True)

    def other_settings() -> None:
        run(encoder, adapted, settings={"steps": 13}, resume=True)

    refusals = {other_text: "another corpus", other_encoder: "other", other_settings: "other set"}
    before = _content(adapted)
    for action, message in refusals.items():
        with pytest.raises(UsageError, match=f"had {message}"):
            action()
    assert _content(adapted) == before


def test_finished_adaptation_of_another_version_may_be_resumed(
    encoder: Path, tmp_path: Path
) -> None:
    out = run(encoder, tmp_path / "out", settings={"steps": 1, "evaluations": 1}).folder
    record = out / "adaptation" / "run.json"
    facts = read_json(record)
    facts["versions"]["lacuner"] = "0.0.0"
    write_json(facts, record)
    again = run(encoder, out, settings={"steps": 1, "evaluations": 1}, resume=True)
    assert again.steps == 1


def _content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _unreadable() -> Iterator[Sentence]:
    yield from text(1)
    raise DataError(Path("raw.txt"), "there is no such file")


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": []},
        {"text": text(1)[:1]},
        {"text": _unreadable()},
        {"encoder": "./nowhere"},
        {"settings": {"steps": 0}},
        {"settings": {"length": 2}},
        {"settings": {"freeze": "everything"}},
        {"settings": {"training": {"precision": "fp16"}}},
    ],
    ids=["empty", "short", "unreadable", "encoder", "steps", "length", "freeze", "precision"],
)
def test_what_would_be_overwritten_stays_if_anything_is_refused(
    adapted: Path, encoder: Path, wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_cpu = SimpleNamespace(device=torch.device("cpu"))  # which has no fp16
    monkeypatch.setattr("lacuner.adaptation.adapt.processes", lambda: on_cpu)
    before = _content(adapted)
    given: dict[str, Any] = {"text": text(), "encoder": encoder, **wrong}
    with pytest.raises(LacunerError):
        adapt(out=adapted, overwrite=True, **given)
    assert _content(adapted) == before != {}


def test_output_is_never_removed_by_accident(adapted: Path, encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputExists):
        run(encoder, adapted)
    with pytest.raises(UsageError, match="is the encoder itself"):
        run(encoder, encoder, overwrite=True)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("Dear")
    for how, said in (("overwrite", "overwritten"), ("resume", "resumed")):
        with pytest.raises(UsageError, match=f"holds no adaptation that could be {said}"):
            run(encoder, tmp_path / "letters", **{how: True})
    with pytest.raises(OutputExists):
        run(encoder, tmp_path / "letters" / "dear.txt")
    assert (tmp_path / "letters" / "dear.txt").exists()


def test_overwriting_replaces_an_adaptation(encoder: Path, tmp_path: Path) -> None:
    settings = {"steps": 1, "evaluations": 1}
    run(encoder, tmp_path / "out", settings=settings)
    result = run(encoder, tmp_path / "out", settings={**settings, "steps": 2}, overwrite=True)
    assert result.steps == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [([], "no words"), ([()], "no words"), ([("Ghent",)], "too short.*smaller length")],
)
def test_text_that_is_too_short_is_refused(
    encoder: Path, tmp_path: Path, words: list[tuple[str, ...]], message: str
) -> None:
    given = [Sentence(str(number), tokens) for number, tokens in enumerate(words)]
    with pytest.raises(UsageError, match=message):
        adapt(given, encoder, out=tmp_path / "out")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"length": 2}, "no room"),
        ({"freeze": "everything"}, "Nothing to freeze"),
        ({"stepz": 1}, "steps"),
    ],
)
def test_settings_that_do_not_fit_are_refused(
    encoder: Path, tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        adapt(text(2), encoder, out=tmp_path / "out", settings=settings)


def test_encoder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        adapt(text(2), "./nowhere", out=tmp_path / "out")
    with pytest.raises(UsageError, match="no transformer"):
        adapt(text(2), "bilstm", out=tmp_path / "out")
