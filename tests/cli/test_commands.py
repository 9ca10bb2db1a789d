"""convert, stats, mask, split, formats: what they print, write and refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import lacuner as library
from lacuner.corpus.formats import FORMATS
from tests.cli.conftest import Run

Lacuner = Callable[..., Run]


def test_help_names_every_command(lacuner: Lacuner) -> None:
    run = lacuner("--help")
    assert run.code == 0
    for command in ("convert", "stats", "mask", "split", "label", "formats", "demo"):
        assert command in run.out


def test_version_is_the_package_version(lacuner: Lacuner) -> None:
    assert lacuner("--version").out.strip() == f"lacuner {library.__version__}"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device", "out.conll"), "out.conll: No space left on device"),
        (OSError(28, "No space left on device"), "error: No space left on device"),
        (FileNotFoundError("result.safetensors is away"), "error: result.safetensors is away"),
    ],
)
def test_error_of_the_system_is_said_whatever_it_brings(
    error: OSError, said: str, lacuner: Lacuner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **named: object) -> None:
        raise error

    monkeypatch.setattr("lacuner.cli.app", fail)
    run = lacuner("stats")
    assert run.code == 1 and said in run.err and "None" not in run.err


def test_formats_lists_the_table(lacuner: Lacuner) -> None:
    assert [row["name"] for row in json.loads(lacuner("formats", "--json").out)] == list(FORMATS)
    assert all(name in lacuner("formats").out for name in FORMATS)


def test_convert_to_columns_and_back_keeps_the_labels(
    lacuner: Lacuner, small_file: Path, tmp_path: Path
) -> None:
    there, back = tmp_path / "small.conll", tmp_path / "back.jsonl"
    assert lacuner("convert", small_file, "-o", there).code == 0
    run = lacuner("convert", there, "-o", back)
    assert run.code == 0
    assert "read as conll" in run.err
    assert library.read(back) == library.read(small_file)


def test_convert_keeps_labels_that_only_the_header_names(lacuner: Lacuner, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    library.write(library.Corpus((library.Sentence("1", ("a",)),), ("GHOST",)), first)
    assert lacuner("convert", first, "-o", second).code == 0
    assert library.read(second).labels == ("GHOST",)


def test_convert_says_what_is_lost_sentence_by_sentence(lacuner: Lacuner, tmp_path: Path) -> None:
    nested = tmp_path / "nested.jsonl"
    entities = (library.Entity(0, 3, "ORG"), library.Entity(2, 3, "LOC"))
    sentence = library.Sentence("s7", ("University", "of", "Ghent"), entities, complete=True)
    library.write([sentence], nested)
    counted = lacuner("convert", nested, "-o", tmp_path / "a.conll")
    assert counted.code == 0
    assert "warning: nested" in counted.err
    every = lacuner("convert", nested, "-o", tmp_path / "b.conll", "--losses")
    assert "sentence s7: nested" in every.err
    assert "Ghent" in every.err


def test_convert_reports_losses_to_programs(
    lacuner: Lacuner, small_file: Path, tmp_path: Path
) -> None:
    run = lacuner("convert", small_file, "-o", tmp_path / "a.conll", "--json")
    found = json.loads(run.out)
    assert found["sentences"] == 20
    assert sum(found["lost"].values()) > 0
    assert run.err == ""


def test_convert_vouches_for_labels_when_told(
    lacuner: Lacuner, small_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    lacuner("convert", small_file, "-o", out, "--complete")
    assert all(sentence.complete for sentence in library.read(out))


def test_output_that_exists_is_kept_unless_told(lacuner: Lacuner, small_file: Path) -> None:
    before = small_file.read_bytes()
    run = lacuner("convert", small_file, "-o", small_file)
    assert run.code == 1
    assert "exists already" in run.err and "--overwrite" in run.err
    assert small_file.read_bytes() == before
    assert lacuner("convert", small_file, "-o", small_file, "--overwrite").code == 0


def test_stats_counts_and_scores(lacuner: Lacuner, small_file: Path, tmp_path: Path) -> None:
    masked = tmp_path / "masked.jsonl"
    assert lacuner("mask", small_file, "-o", masked, "--rate", 0.5, "--seed", 3).code == 0
    counts = json.loads(lacuner("stats", masked, "--gold", small_file, "--json").out)
    left = library.read(masked).entity_count
    total = counts["against_gold"]["micro"]
    assert (total["right"], total["found"], total["gold"]) == (left, left, 29)
    assert total["precision"] == 1
    shown = lacuner("stats", masked, "--gold", small_file).out
    assert f"{total['recall']:.3f}" in shown and "PRODUCT" in shown and "√n" in shown


def test_mask_keeps_the_hidden_aside(lacuner: Lacuner, small_file: Path, tmp_path: Path) -> None:
    masked = tmp_path / "masked.jsonl"
    run = lacuner("mask", small_file, "-o", masked, "-p", 0.5, "--rate-of", "PER=1", "--json")
    found = json.loads(run.out)
    hidden = library.read(tmp_path / "masked.hidden.jsonl")
    assert found["hidden"] == hidden.entity_count
    assert found["left"] + found["hidden"] == 29
    assert not any(e.label == "PER" for s in library.read(masked) for e in s.entities)


def test_split_writes_parts(lacuner: Lacuner, small_file: Path, tmp_path: Path) -> None:
    run = lacuner("split", small_file, "-o", tmp_path / "parts", "--part", "train=0.75",
                  "--part", "dev=5", "--json")  # fmt: skip
    assert {name: part["sentences"] for name, part in json.loads(run.out).items()} == {
        "train": 15,
        "dev": 5,
    }
    ids = {s.id for s in library.read(tmp_path / "parts" / "train.jsonl")}
    assert not ids & {s.id for s in library.read(tmp_path / "parts" / "dev.jsonl")}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["convert", "nowhere.conll", "-o", "x.jsonl"], 1, "nowhere.conll: there is no such file"),
        (["convert", "{file}", "-o", "x.nothing"], 2, "says no format"),
        (["convert", "{file}", "-o", "x.jsonl", "--from", "conl"], 2, "Did you mean conll"),
        (["convert", "{file}"], 2, "--output"),
        (["mask", "{file}", "-o", "x.jsonl", "--rate", "2"], 2, "between 0 and 1"),
        (["mask", "{file}", "-o", "x.jsonl", "--rate-of", "PER"], 2, "takes NAME=NUMBER"),
        (["split", "{file}", "-o", "x", "--part", "a=0.9", "--part", "b=0.9"], 2, "add up to"),
        (["split", "{file}", "-o", "x", "--part", "a=0.9", "--part", "a=0.1"], 2, "twice"),
        (["stats", "{file}", "--gold", "nowhere.conll"], 1, "there is no such file"),
        (["nonsense"], 2, "nonsense"),
    ],
)
def test_wrong_calls_say_what_is_wrong_and_write_nothing(
    lacuner: Lacuner,
    small_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(small_file.parent)
    run = lacuner(*(argument.format(file=small_file.name) for argument in arguments))
    assert run.code == code
    assert message in run.err
    assert "Traceback" not in run.err
    assert [path.name for path in small_file.parent.iterdir()] == [small_file.name]
