"""`lacuner show-removed`, on a run folder made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lacuner import Entity, Sentence
from lacuner.training.removed_words import RemovedRow, write_removed
from tests.cli.conftest import Run

Lacuner = Callable[..., Run]
SUMMARY: dict[str, Any] = {
    "ell": 0.05, "auto": True, "candidates": 1200, "removed": 3, "sentences": 2,
    "emptied_sentences": 0,
    "expected": {"share": 0.05, "missing": 0.04, "precision": 0.5, "recall": 0.25},
    "measured": {"precision": 0.667, "recall": 0.1, "hidden_words": 20, "grid": []},
}  # fmt: skip
ROWS = [
    RemovedRow(
        Sentence("a", ("Holt", "left", "[Bergen]", "."), (Entity(0, 1, "PER"),)),
        (1, 2), (3.0, 1.25), ((2, 3),),
    ),
    RemovedRow(Sentence("b", ("张", "三", "来")), (0,), (-2.0,), ((0, 2),)),
]  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose first stage is over."""
    folder = tmp_path / "run" / "stages" / "explore"
    folder.mkdir(parents=True)
    (tmp_path / "run" / "settings.toml").write_text('recipe = "two_step"\n')
    write_removed(folder, ROWS, SUMMARY)
    return tmp_path / "run"


def test_likeliest_gaps_come_first_with_values_and_measures(lacuner: Lacuner, run: Path) -> None:
    shown = lacuner("show-removed", run)
    assert shown.code == 0, shown.err
    first, second, *rest = shown.out.splitlines()
    assert first.startswith("b: [+张]三来") and "(张 -2.00)" in first
    assert second.startswith("a: Holt [-left] [+[Bergen]] .")
    assert "left 3.00, [Bergen] 1.25" in second
    text = "\n".join(rest)
    assert "3 of 1,200 words" in text and "ell 0.05, chosen by itself" in text
    assert "expected: precision about 0.500, recall 0.250" in text
    assert "measured: precision 0.667, recall 0.100 of 20 words" in text


def test_json_and_limit(lacuner: Lacuner, run: Path) -> None:
    found = json.loads(lacuner("show-removed", run, "--json", "--limit", 1).out)
    assert found["removed"] == 3 and found["measured"]["recall"] == 0.1
    assert [row["id"] for row in found["shown"]] == ["b"]
    assert found["shown"][0]["removed"] == [[0, -2.0]]
    assert "[+" not in lacuner("show-removed", run, "--limit", 0).out


def test_without_hidden_labels_nothing_is_called_right_or_wrong(
    lacuner: Lacuner, tmp_path: Path
) -> None:
    folder = tmp_path / "stages" / "member-1.explore"
    folder.mkdir(parents=True)
    summary = {**SUMMARY, "expected": None, "measured": None, "auto": False}
    write_removed(folder, [RemovedRow(ROWS[0].sentence, (1,), (3.0,))], summary)
    out = lacuner("show-removed", tmp_path).out
    assert "[?left]" in out and "measured" not in out and "as set" in out
    assert lacuner("show-removed", tmp_path, "--stage", "member-1.explore").out == out
    wrong = lacuner("show-removed", tmp_path, "--stage", "member-3.explore")
    assert wrong.code == 2 and "it has member-1.explore" in wrong.err


def test_damaged_files_are_one_sentence(lacuner: Lacuner, run: Path) -> None:
    folder = run / "stages" / "explore"
    (folder / "removed.json").write_text('{"ell": 0.05}')
    damaged = lacuner("show-removed", run)
    assert damaged.code == 1 and "removed.json: 'auto' is missing" in damaged.err
    write_removed(folder, ROWS, SUMMARY)
    with open(folder / "removed.jsonl", "a") as file:
        file.write('{"id": "c", "tokens": ["x"], "entities": [], "removed": [["0", "low"]]}\n')
    damaged = lacuner("show-removed", run)
    assert damaged.code == 1 and "line 3: the line holds no removed words" in damaged.err


def test_runs_without_removed_words_are_one_sentence(
    lacuner: Lacuner, run: Path, tmp_path: Path
) -> None:
    nowhere = lacuner("show-removed", tmp_path / "nowhere")
    assert nowhere.code == 1 and "this is no folder of a run" in nowhere.err
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "settings.toml").write_text('recipe = "span_ce"\n')
    other = lacuner("show-removed", tmp_path / "other")
    assert other.code == 1 and "exploration.ell" in other.err
    assert lacuner("show-removed", run, "--limit", -1).code == 2
