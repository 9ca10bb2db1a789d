"""`lacuner adapt` and `lacuner augment` as people run them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from lacuner import Entity, Sentence, read
from lacuner.cli.augment import print_pairs
from tests.language_models import TEXT, byte_pairs, write_bert, write_decided

Lacuner = Callable[..., Any]
_SMALL = (
    "--steps", 4, "--set", "evaluations=2", "--set", "length=32",
    "--set", "training.batch_pieces=256",
)  # fmt: skip


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("models") / "headless", head=False)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "raw.txt"
    path.write_text("\n".join([" ".join(TEXT)] * 6), "utf-8")
    return path


def test_adapt_makes_a_folder_that_augment_takes(
    lacuner: Lacuner, raw: Path, encoder: Path, small_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "adapted"
    run = lacuner("adapt", raw, "--encoder", encoder, "-o", out, *_SMALL)
    assert run.code == 0, run.err
    lines = run.err.strip().splitlines()
    assert lines[0] == f"{raw}: read as text (plain text, a document a line)"
    assert lines[1].startswith("fill: before, masked accuracy ")
    assert lines[2].startswith("fill: step 2, loss ")
    assert lines[-1].startswith(f"{out}: masked accuracy on held-out text ")
    assert "after 4 steps" in lines[-1]
    run = lacuner("augment", small_file, "--model", out, "--limit", 3)
    assert run.code == 0
    assert "3 sentences" in run.err and "of 22 words changed" in run.err


def test_adapt_speaks_json(lacuner: Lacuner, raw: Path, encoder: Path, tmp_path: Path) -> None:
    run = lacuner("adapt", raw, "-e", encoder, "-o", tmp_path / "out", *_SMALL, "--json")
    result = orjson.loads(run.out)
    assert result["steps"] == 4
    assert set(result["before"]) == set(result["after"]) >= {"accuracy", "perplexity"}


def test_adapt_resumes_and_overwrites_only_when_told(
    lacuner: Lacuner, raw: Path, encoder: Path, tmp_path: Path
) -> None:
    command = ("adapt", raw, "-e", encoder, "-o", tmp_path / "out", *_SMALL, "-q")
    assert lacuner(*command).code == 0
    refused = lacuner(*command)
    assert refused.code == 1 and "exists already" in refused.err
    assert lacuner(*command, "--resume").code == 0
    assert lacuner(*command, "--overwrite").code == 0


def test_adapt_keeps_what_is_there_if_text_or_encoder_are_missing(
    lacuner: Lacuner, raw: Path, encoder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert lacuner("adapt", raw, "-e", encoder, "-o", out, *_SMALL, "-q").code == 0
    for text, model, message in (
        (tmp_path / "nofile.txt", encoder, "no such file"),
        (raw, tmp_path / "nowhere", "no folder"),
    ):
        run = lacuner("adapt", text, "-e", model, "-o", out, *_SMALL, "--overwrite")
        assert run.code in (1, 2) and message in run.err
        assert (out / "model.safetensors").exists()


def test_adapt_names_a_setting_that_is_out_of_range(
    lacuner: Lacuner, raw: Path, encoder: Path, tmp_path: Path
) -> None:
    run = lacuner("adapt", raw, "-e", encoder, "-o", tmp_path / "out", "--minutes", "nan")
    assert run.code == 2 and "minutes is nan, but must be a number above 0." in run.err
    assert not (tmp_path / "out").exists()


def test_adapt_takes_steps_or_minutes(lacuner: Lacuner, raw: Path, tmp_path: Path) -> None:
    run = lacuner("adapt", raw, "-o", tmp_path / "out", "--steps", 3, "--minutes", 1)
    assert run.code == 2 and "not both" in run.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "message"), [("", "the file is empty"), ("Ghent", "too short"), ("\u200b", "no")]
)
def test_adapt_refuses_text_that_is_no_text(
    lacuner: Lacuner, encoder: Path, tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "raw.txt"
    path.write_text(content, "utf-8")
    run = lacuner("adapt", path, "-e", encoder, "-o", tmp_path / "out")
    assert run.code in (1, 2) and message in run.err
    assert "Traceback" not in run.err
    assert not (tmp_path / "out" / "config.json").exists()


@pytest.fixture(scope="module")
def oslo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that always says Oslo."""
    return write_decided(tmp_path_factory.mktemp("models") / "oslo", {"Oslo": 1.0})


def test_augment_shows_sentences_one_above_the_other(
    lacuner: Lacuner, oslo: Path, tmp_path: Path
) -> None:
    path = tmp_path / "raw.txt"
    path.write_text("Lisbon was late.\nit was late.\nGhent", "utf-8")
    run = lacuner("augment", path, "--model", oslo, "--rate", 1, "--top", 1, "--limit", 2)
    assert run.out == "- [Lisbon] was late.\n+ [Oslo] was late.\n\n  it was late.\n\n"
    assert "2 sentences, 1 of 8 words changed" in run.err


def test_augment_writes_the_whole_corpus(
    lacuner: Lacuner, oslo: Path, small_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "augmented.jsonl"
    command = ("augment", small_file, "-m", oslo, "-o", out, "--rate", 1, "--top", 1)
    run = lacuner(*command, "--limit", 1, "--json")
    told = orjson.loads(run.out)
    before, after = read(small_file), read(out)
    assert told["sentences"] == len(before) == len(after)
    assert [s.entities for s in before] == [s.entities for s in after]
    assert len(told["examples"]) == 1
    example = told["examples"][0]
    assert example["original"] == list(before.sentences[0].tokens)
    assert example["augmented"] == list(after.sentences[0].tokens)
    assert {example["augmented"][n] for n in example["changed"]} == {"Oslo"}
    refused = lacuner(*command)
    assert refused.code == 1 and "exists already" in refused.err


def test_augment_is_the_same_by_seed(lacuner: Lacuner, small_file: Path, tmp_path: Path) -> None:
    model = write_bert(tmp_path / "random")
    command = ("augment", small_file, "-m", model, "--rate", 0.9, "--limit", 20, "--json")
    first, again, other = (lacuner(*command, "--seed", seed).out for seed in (1, 1, 2))
    assert first == again != other


def test_augment_refuses_a_model_without_a_head(
    lacuner: Lacuner, small_file: Path, encoder: Path
) -> None:
    run = lacuner("augment", small_file, "--model", encoder)
    assert run.code == 2
    assert f"lacuner adapt TEXT --encoder {encoder} -o FOLDER" in run.err


def test_model_whose_tokeniser_does_not_fit_is_one_sentence(
    lacuner: Lacuner, raw: Path, small_file: Path, tmp_path: Path
) -> None:
    model = write_bert(tmp_path / "swapped")
    commands = (
        ("augment", small_file, "--model", model),
        ("adapt", raw, "-e", model, "-o", tmp_path / "adapted"),
        ("train", small_file, "--set", f"encoder.name={model}", "-o", tmp_path / "run"),
    )

    def check(message: str) -> None:
        for command in commands:
            run = lacuner(*command)
            assert run.code == 2 and message in run.err, run.err

    byte_pairs().save_pretrained(model)
    check("they do not belong together")
    for path in model.glob("token*"):
        path.unlink()
    check("has no tokeniser that knows any words")


def test_augment_marks_by_colour_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    before = Sentence("1", ("in", "Ghent"), (Entity(1, 2, "LOC"),))
    after = Sentence("1", ("in", "Oslo"), (Entity(1, 2, "LOC"),))
    console = Console(force_terminal=True, color_system="standard", width=80, no_color=False)
    print_pairs([(before, after)], console)
    old, new, *_ = capsys.readouterr().out.splitlines()
    assert "\x1b[4;31mGhent\x1b[0m" in old and "\x1b[1;4;32mOslo\x1b[0m" in new
    assert "[" not in old.replace("\x1b[", "")
