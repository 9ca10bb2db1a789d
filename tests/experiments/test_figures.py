"""Figures show what the rows hold, and only what they allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lacuner.experiments import figures
from lacuner.experiments.tables import StudyTable, make_tables
from tests.experiments.tiny_study import row

pytest.importorskip("matplotlib")

EPOCHS = [{"epoch": 1.0, "dev": 0.2}, {"epoch": 2.0, "dev": 0.4}]


def _table(rows: list[dict[str, Any]]) -> StudyTable:
    (table,) = make_tables(rows, {})
    return table


def _masked(**changes: Any) -> list[dict[str, Any]]:
    return [
        row(
            f"{masking}{seed}",
            0.9 - masking / 2 + seed / 100,
            masking=masking,
            seed=seed,
            **changes,
        )
        for masking in (0.5, 0.9)
        for seed in (1, 2)
    ]


def _lines(axes: Any) -> list[list[float]]:
    return [list(line.lines[0].get_ydata()) for line in axes.containers]


def _texts(axes: Any) -> set[str]:
    return {text.get_text() for text in axes.texts}


def test_rows_allow_what_they_hold(tmp_path: Path) -> None:
    ceiling = row("c", 0.9, masking=0.0, system="top", recipe="supervised")
    everything = [*_masked(missampling=[0.03, 0.02, 0.01], curve=EPOCHS), ceiling]
    written = figures.write_figures([_table(everything)], tmp_path)
    assert {path.name for path in written} == {
        "f1-by-masking.svg", "missampling-by-masking.svg", "missampling-by-epoch.svg",
        "learning-curves.svg", "retention.svg",
    }  # fmt: skip
    assert all(path.stat().st_size > 1000 for path in written)
    assert figures.study_figures(_table([row("a", 0.5)])) == {}


def test_f1_by_masking_draws_means_and_the_ceiling() -> None:
    ceiling = row("c", 0.9, masking=0.0, system="top", recipe="supervised")
    figure = figures.f1_by_masking(_table([*_masked(), ceiling]), "conll03")
    assert figure is not None
    (axes,) = figure.axes
    assert _lines(axes) == [pytest.approx([66.5, 46.5])]
    assert {"ours: 46.5", "all labels: 90.0"} <= _texts(axes)
    assert list(axes.get_xticks()) == [0.5, 0.9]


def test_f1_by_masking_begins_where_nothing_is_hidden() -> None:
    figure = figures.f1_by_masking(_table([*_masked(), row("w", 0.8, masking=0.0)]), "conll03")
    assert figure is not None
    assert _lines(figure.axes[0]) == [pytest.approx([80.0, 66.5, 46.5])]


def test_a_line_that_ends_early_says_where() -> None:
    short = row("s", 0.6, masking=0.5, system="one rate")
    figure = figures.f1_by_masking(_table([*_masked(), short]), "conll03")
    assert figure is not None
    assert {"ours: 46.5", "one rate: 60.0 (at 0.5)"} <= _texts(figure.axes[0])


def test_missampling_is_drawn_in_percent() -> None:
    table = _table(_masked(missampling=[0.5, 0.5, 0.02, 0.04]))
    by_masking = figures.missampling_by_masking(table, "conll03")
    by_epoch = figures.missampling_by_epoch(table, "conll03")
    assert by_masking is not None and by_epoch is not None
    assert _lines(by_masking.axes[0]) == [pytest.approx([3.0, 3.0])]
    assert [_lines(axes) for axes in by_epoch.axes] == [[pytest.approx([50, 50, 2, 4])]] * 2


def test_learning_curves_are_means_over_seeds_that_got_there() -> None:
    rows = [
        row("a", 0.5, seed=1, curve=[*EPOCHS, {"epoch": 3.0, "dev": 0.5}]),
        row("b", 0.5, seed=2, curve=[{"epoch": 1.0, "dev": 0.4}, {"epoch": 2.0, "dev": 0.6}]),
    ]
    figure = figures.learning_curves(_table(rows), "conll03")
    assert figure is not None
    assert _lines(figure.axes[0]) == [pytest.approx([30, 50, 50])]


def test_retention_leaves_the_ceiling_out() -> None:
    ceiling = row("c", 0.8, masking=0.0, system="top", recipe="supervised")
    figure = figures.retention_by_system(_table([row("a", 0.6), ceiling]))
    assert figure is not None
    (axes,) = figure.axes
    assert [patch.get_width() for patch in axes.patches] == pytest.approx([75.0])  # type: ignore[attr-defined]
    assert "ours" in _texts(axes) and "top" not in _texts(axes)


def test_several_corpora_and_encoders_have_files_of_their_own(tmp_path: Path) -> None:
    rows = _masked(encoder="minilm") + [
        r | {"run": r["run"] + "x", "encoder": "bert"} for r in _masked()
    ]
    names = {path.name for path in figures.write_figures(make_tables(rows, {}), tmp_path)}
    assert names == {"cpu-minilm-f1-by-masking.svg", "cpu-bert-f1-by-masking.svg"}
    both = _masked() + [r | {"run": r["run"] + "y", "corpus": "ec"} for r in _masked()]
    assert set(figures.study_figures(_table(both))) == {"f1-by-masking-conll03", "f1-by-masking-ec"}


def test_removed_words_have_a_figure_where_hidden_ones_are_known() -> None:
    def removed(at_first: float) -> dict[str, Any]:
        grid = [
            {"ell": 0.01, "precision": at_first, "recall": 0.1},
            {"ell": 0.1, "precision": 0.5, "recall": 0.8},
        ]
        return {"ell": 0.1, "removed": 1, "candidates": 10, "measured": {"grid": grid}}

    stages = {"explore": 1.0, "train": 4.0}
    rows = [
        row("a", 0.5, removed=removed(0.8), stages=stages),
        row("b", 0.5, seed=2, removed=removed(0.6), stages=stages),
    ]
    figure = figures.study_figures(_table(rows))["removed-by-share-conll03-0.5"]
    precision, recall = figure.axes
    assert _lines(precision) == [pytest.approx([70, 50])]
    assert _lines(recall) == [pytest.approx([10, 80])]
    unknown = row("a", 0.5, removed=removed(0.8) | {"measured": None}, stages=stages)
    assert figures.study_figures(_table([unknown])) == {}
