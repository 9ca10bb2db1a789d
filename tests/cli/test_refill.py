"""`lacuner refill`, on a run folder made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lacuner import Corpus, Entity, Sentence, read
from lacuner.refilling.candidates import Candidate
from lacuner.refilling.filling import FillingSettings
from lacuner.refilling.gap_estimate import GapEstimate
from lacuner.refilling.outcome import keep_outcome
from lacuner.refilling.rounds import Look, Round
from lacuner.refilling.verdicts import Verdict
from lacuner.training.run_folder import Run as RunFolder
from tests.cli.conftest import Run

Lacuner = Callable[..., Run]
CORPUS = Corpus(
    (
        Sentence("a", ("Holt", "left", "Bergen", "."), (Entity(0, 1, "PER"),)),
        Sentence("b", ("Oslo", "and", "Ada")),
    ),
    ("LOC", "PER"),
)
HIDDEN = Corpus(
    (
        Sentence("a", CORPUS.sentences[0].tokens, (Entity(2, 3, "LOC"),)),
        Sentence("b", CORPUS.sentences[1].tokens, (Entity(0, 1, "LOC"), Entity(2, 3, "PER"))),
    ),
    ("LOC", "PER"),
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose only round is over; of its labels twelve were held back."""
    gaps = GapEstimate(0.0, 4.0, 2.0, 8.0, 12)
    monkeypatch.setattr("lacuner.refilling.rounds.estimate_gaps", lambda *_, **__: gaps)
    look = Look(np.zeros(0), np.zeros(0, dtype=bool), 12)
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "settings.toml").write_text('recipe = "refill"\n')
    one = Round(RunFolder(folder).stage("round-1"), 1, FillingSettings())
    found = [
        Candidate(0, 2, 3, "LOC", 3.0, 0.99),
        Candidate(1, 0, 1, "LOC", 4.0, 0.98),
        Candidate(1, 2, 3, "PER", 0.0, 0.9),
    ]
    rival = Candidate(0, 0, 2, "LOC", -2.0, 0.9)
    against = Verdict(Candidate(0, 0, 1, "PER", -7.0, 0.9), (rival,))
    believed = Verdict(Candidate(1, 2, 3, "PER", 7.0, 0.9))
    one.estimate([look], 1, np.random.default_rng(0))
    one.keep(found, [against, believed])
    keep_outcome(folder, CORPUS, [one], HIDDEN)
    return folder


def test_table_counts_and_measures(lacuner: Lacuner, run: Path) -> None:
    shown = lacuner("refill", run)
    assert shown.code == 0, shown.err
    rows = {line.split()[0]: line.split() for line in shown.out.splitlines() if line.strip()}
    assert rows["LOC"][1:5] == ["0", "2", "0", "1"]
    assert rows["PER"][1:5] == ["1", "0", "1", "1"]
    assert rows["all"][1:5] == ["1", "2", "1", "3"]  # what is taken out is a doubt, too
    assert "4 (2 to 8)" in shown.out
    assert "put back: precision 1.000, recall 0.667 of 3 hidden labels" in shown.out


def test_writes_the_filled_corpus_and_the_changes_the_surest_first(
    lacuner: Lacuner, run: Path, tmp_path: Path
) -> None:
    filled, changes = tmp_path / "filled.jsonl", tmp_path / "changes.jsonl"
    assert lacuner("refill", run, "-o", filled, "--changes", changes).code == 0
    again = read(filled)
    assert [e.key for e in again.sentences[0].entities] == [(2, 3, "LOC")]
    assert again.sentences[0].entities[0].source == "refill:1"
    assert not again.sentences[1].ambiguous  # a doubt is no knowledge
    rows = [json.loads(line) for line in changes.read_text().splitlines()]
    assert [(row["text"], row["action"]) for row in rows] == [
        ("Holt", "removed"),
        ("Oslo", "added"),
        ("Bergen", "added"),
        ("Ada", "doubtful"),
        ("Holt left", "doubtful"),
    ]
    assert rows[0]["reason"] == (
        "an entity with probability 0.00, then PER with 0.90; rather 'Holt left' LOC"
    )
    assert rows[1]["reason"] == "an entity with probability 0.98, then LOC with 0.98"
    assert lacuner("refill", run, "-o", filled).code != 0  # it is there
    assert lacuner("refill", run, "-o", tmp_path / "filled.conll", "--quiet").code == 0


def test_json(lacuner: Lacuner, run: Path) -> None:
    facts = json.loads(lacuner("refill", run, "--json").out)
    assert facts["given"] == 1 and facts["rounds"][0]["added"] == 2
    assert facts["labels"]["LOC"]["added"] == 2


def test_other_runs_and_no_run_are_told_apart(lacuner: Lacuner, tmp_path: Path) -> None:
    assert "this is no folder of a run" in lacuner("refill", tmp_path / "none").err
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "settings.toml").write_text('recipe = "nrces"\n')
    told = lacuner("refill", tmp_path / "other")
    assert told.code == 1 and "put back no labels" in told.err and "refill" in told.err


def test_picture_of_the_rounds(lacuner: Lacuner, run: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "rounds.svg"
    shown = lacuner("refill", run, "--plot", picture)
    assert shown.code == 0 and f"{picture} is written" in shown.err
    assert picture.read_text().lstrip().startswith("<?xml")
    assert "rounds.txt" in lacuner("refill", run, "--plot", tmp_path / "rounds.txt").err


def test_what_another_version_left_is_said_and_no_traceback(lacuner: Lacuner, run: Path) -> None:
    path = run / "refill" / "gaps.json"
    facts = json.loads(path.read_text())
    del facts["rounds"][0]["removed"]
    damages: list[dict[str, object]] = [facts, {}]
    for damaged in damages:
        path.write_text(json.dumps(damaged))
        told = lacuner("refill", run)
        assert told.code == 1 and "train again" in told.err and "gaps.json" in told.err
