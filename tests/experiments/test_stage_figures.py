"""What each stage of a training reaches is read off the curves of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lacuner.experiments.stage_figures import best_by_stage, f1_by_stage
from lacuner.experiments.tables import StudyTable, make_tables
from tests.experiments.tiny_study import row

pytest.importorskip("matplotlib")

STAGES = {"member-1.train": 1.0, "member-2.train": 1.0, "ensemble": 1.0, "self_training-1": 1.0}


def _curve(*stages: tuple[float, ...]) -> list[dict[str, float]]:
    return [
        {"epoch": float(epoch), "dev": dev}
        for stage in stages
        for epoch, dev in enumerate(stage, 1)
    ]


def _staged(run: str, seed: int, *stages: tuple[float, ...]) -> dict[str, Any]:
    return row(run, 0.8, seed=seed, curve=_curve(*stages), stages=STAGES)


def _table(*rows: dict[str, Any]) -> StudyTable:
    (table,) = make_tables(rows, {})
    return table


def test_the_best_epoch_of_each_stage_counts() -> None:
    found = best_by_stage(_staged("a", 1, (0.5, 0.7, 0.6), (0.6,), (0.8,), (0.7, 0.9)))
    assert found == {
        "member-1.train": 0.7, "member-2.train": 0.6, "ensemble": 0.8, "self_training-1": 0.9,
    }  # fmt: skip


def test_stages_without_a_curve_cannot_be_told_apart() -> None:
    one = row("a", 0.8, curve=_curve((0.5, 0.6)), stages={"train": 1.0})
    unclear = row("b", 0.8, curve=_curve((0.5,), (0.6,)), stages=STAGES)
    without = row("c", 0.8, curve=[], stages=STAGES)
    assert [best_by_stage(each) for each in (one, unclear, without)] == [{}, {}, {}]
    assert f1_by_stage(_table(one), ("conll03", one["masking"])) is None


def test_members_of_all_seeds_are_dots_of_one_group() -> None:
    rows = [
        _staged("a", 1, (0.70,), (0.72,), (0.80,), (0.82,)),
        _staged("b", 2, (0.74,), (0.76,), (0.80,), (0.84,)),
    ]
    figure = f1_by_stage(_table(*rows), ("conll03", rows[0]["masking"]))
    assert figure is not None
    (axes,) = figure.axes
    dots = [np.asarray(each.get_offsets())[:, 0].tolist() for each in axes.collections[::2]]
    assert dots[0] == pytest.approx([70, 72, 74, 76])
    assert [text.get_text() for text in axes.texts] == ["73.0 ± 2.6", "80.0 ± 0.0", "83.0 ± 1.4"]
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == ["ours: single models", "ours: ensemble", "ours: self-training"]
