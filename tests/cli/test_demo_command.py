"""`lacuner demo`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Run


def test_demo_shows_what_the_dictionary_does(lacuner: Callable[..., Run]) -> None:
    counts = json.loads(lacuner("demo", "--quick", "--json").out)
    assert counts["sentences"] == 600
    total = counts["micro"]
    assert 0.30 <= total["recall"] <= 0.45
    shown = lacuner("demo", "--quick").out
    assert f"{total['recall']:.3f}" in shown
    for mark in ("[+ ", "[? ", "[! "):
        assert mark in shown


def test_demo_writes_files_to_play_with(lacuner: Callable[..., Run], tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert lacuner("demo", "--files", folder).code == 0
    assert lacuner("demo", "--files", folder).code == 1
    assert lacuner("demo", "--files", folder, "--overwrite").code == 0
    labelled = tmp_path / "labelled.jsonl"
    run = lacuner("label", folder / "train.txt", "--names", folder / "names", "-o", labelled)
    assert run.code == 0, run.err
    stats = lacuner("stats", labelled, "--gold", folder / "train_gold.jsonl", "--json")
    assert 0.30 <= json.loads(stats.out)["against_gold"]["micro"]["recall"] <= 0.45
