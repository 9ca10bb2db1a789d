"""`lacuner evaluate`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import lacuner as library
from lacuner.evaluation.evaluation import evaluate
from tests.cli.conftest import Run

Lacuner = Callable[..., Run]


@pytest.fixture
def predicted(lacuner: Lacuner, small_file: Path, tmp_path: Path) -> Path:
    path = tmp_path / "predicted.jsonl"
    assert lacuner("mask", small_file, "-o", path, "--rate", 0.5, "--seed", 3).code == 0
    return path


def test_evaluate_prints_what_the_library_finds(
    lacuner: Lacuner, predicted: Path, small_file: Path
) -> None:
    run = lacuner("evaluate", predicted, "--gold", small_file, "--json")
    expected = evaluate(library.read(predicted), library.read(small_file)).as_dict()
    assert json.loads(run.out) == expected
    assert not run.err


def test_evaluate_shows_tables(lacuner: Lacuner, predicted: Path, small_file: Path) -> None:
    run = lacuner("evaluate", predicted, "--gold", small_file, "--train", small_file)
    found = evaluate(library.read(predicted), library.read(small_file))
    assert run.code == 0
    for text in ("PRODUCT", "micro", "macro", "boundaries", "seen in training", "words of an"):
        assert text in run.out
    assert f"{found.exact.total.f1:.3f}" in run.out
    assert f"{found.exact.macro.f1:.3f}" in run.out
    assert "not vouched complete" in run.err


def test_evaluate_fits_a_narrow_terminal(
    lacuner: Lacuner, predicted: Path, small_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = lacuner("evaluate", predicted, "--gold", small_file, "--train", small_file).out
    found = evaluate(library.read(predicted), library.read(small_file))
    assert f"{found.exact.total.f1:.3f}" in out
    assert "…" not in out


def test_evaluate_takes_the_word_for_complete_gold(
    lacuner: Lacuner, predicted: Path, small_file: Path
) -> None:
    run = lacuner("evaluate", predicted, "--gold", small_file, "--complete")
    assert "not vouched" not in run.err


def test_evaluate_tests_against_another_system(
    lacuner: Lacuner, predicted: Path, small_file: Path
) -> None:
    call = ("evaluate", predicted, "--gold", small_file, "--against", small_file)
    found = json.loads(lacuner(*call, "--json", "--seed", 1, "--resamples", 500).out)["difference"]
    assert found["second_f1"] == 1
    assert found["difference"] == found["first_f1"] - 1
    assert found["low"] <= found["difference"] <= found["high"] < 0
    again = lacuner(*call, "--seed", 1, "--resamples", 500).out
    assert f"{found['difference']:+.3f}" in again and f"{found['low']:+.3f}" in again
    assert "leaves out zero" in again
    same = lacuner("evaluate", predicted, "--gold", small_file, "--against", predicted).out
    assert "may well be chance" in same


def test_evaluate_mends_tags_as_conlleval_does(lacuner: Lacuner, tmp_path: Path) -> None:
    gold, guess = tmp_path / "gold.conll", tmp_path / "guess.conll"
    gold.write_text("Maren B-PER\nHolt I-PER\nleft O\nBergen B-LOC\n", "utf-8")
    guess.write_text("Maren I-PER\nHolt I-PER\nleft O\nBergen B-LOC\n", "utf-8")
    run = lacuner("evaluate", guess, "--gold", gold, "--scheme", "bio", "--repair", "--json")
    assert json.loads(run.out)["exact"]["micro"]["f1"] == 1


def test_evaluate_reads_gold_of_another_format(
    lacuner: Lacuner, predicted: Path, small_file: Path, tmp_path: Path
) -> None:
    gold = tmp_path / "gold.conll"
    lacuner("convert", small_file, "-o", gold)
    run = lacuner("evaluate", predicted, "--from", "lacuner", "--gold", gold, "--json")
    assert json.loads(run.out)["exact"]["micro"]["gold"] == 29


def test_evaluate_says_when_gold_has_more(
    lacuner: Lacuner, small_file: Path, tmp_path: Path
) -> None:
    part = tmp_path / "part.jsonl"
    library.write(library.Corpus(library.read(small_file).sentences[:4]), part)
    run = lacuner("evaluate", part, "--gold", small_file)
    assert run.code == 0
    assert "warning: 16 sentences of the gold have no prediction" in run.err


@pytest.mark.parametrize("name", ["scores.svg", "scores.png"])
def test_evaluate_draws(
    lacuner: Lacuner, predicted: Path, small_file: Path, tmp_path: Path, name: str
) -> None:
    plot = tmp_path / name
    call = ("evaluate", predicted, "--gold", small_file, "--plot", plot)
    assert lacuner(*call).code == 0
    assert plot.stat().st_size > 1000
    assert lacuner(*call).code == 1
    assert lacuner(*call, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--gold", "nowhere.jsonl"], 1, "nowhere.jsonl: there is no such file"),
        ([], 2, "--gold"),
        (["--gold", "{gold}", "--plot", "x.pdf"], 2, ".svg or .png"),
        (["--gold", "{gold}", "--resamples", "0"], 2, "--resamples is 0"),
        (["--gold", "{gold}", "--against", "nowhere.jsonl"], 1, "there is no such file"),
        (["--gold", "{other}"], 1, "do not agree"),
    ],
)
def test_evaluate_says_what_is_wrong(
    lacuner: Lacuner,
    predicted: Path,
    small_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(small_file.parent)
    other = small_file.parent / "other.jsonl"
    library.write([library.Sentence("x", ("Other", "words"))], other)
    names = {"gold": small_file.name, "other": other.name}
    run = lacuner("evaluate", predicted, *(argument.format(**names) for argument in arguments))
    assert run.code == code
    assert message in run.err
    assert "Traceback" not in run.err
