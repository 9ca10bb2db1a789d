"""The mathematics of tables, by hand."""

from __future__ import annotations

import csv
import io
from math import sqrt
from typing import Any

import numpy as np
import pytest

from lacuner.errors import UsageError
from lacuner.experiments import table_formats as formats
from lacuner.experiments.results import Counts
from lacuner.experiments.tables import StudyTable, make_tables, settled_missampling
from tests.experiments.tiny_study import row

COLUMN = ("conll03", 0.5)


def _ceiling(run: str, f1: float, **changes: Any) -> dict[str, Any]:
    return row(run, f1, masking=0.0, system="supervised", recipe="supervised", **changes)


def _one(rows: list[dict[str, Any]], counts: dict[str, Counts] | None = None) -> StudyTable:
    tables = make_tables(rows, counts or {})
    assert len(tables) == 1
    return tables[0]


def test_cell_is_the_mean_and_the_sample_deviation() -> None:
    rows = [row(str(seed), f1, seed=seed) for seed, f1 in ((1, 0.70), (2, 0.80), (3, 0.75))]
    cell = _one(rows).cells["ours", COLUMN]
    assert cell.f1.value == pytest.approx(0.75)
    assert cell.f1.deviation == pytest.approx(sqrt((0.05**2 + 0.05**2) / 2))
    assert cell.f1.count == 3
    alone = _one(rows[:1]).cells["ours", COLUMN]
    assert alone.f1.deviation is None and not alone.best


def test_scores_without_the_offset_stand_beside_those_with_it() -> None:
    plain = {"dev": None, "test": {"p": 0.9, "r": 0.3, "f1": 0.4}}
    none = {"dev": None, "test": None}  # the best offset was 0
    rows = [row("a", 0.8, seed=1, unshifted=plain), row("b", 0.6, seed=2, unshifted=none)]
    rows.append(_ceiling("c", 0.9, unshifted=none))
    table = _one(rows)
    found = table.cells["ours", COLUMN].unshifted
    assert found is not None and found.value == pytest.approx(0.5)
    assert table.cells["supervised", ("conll03", 0.0)].unshifted is None
    text = formats.to_markdown([table])
    assert "without offset" in text and "50.00 ± 14.14" in text
    assert "without offset" not in formats.to_markdown([_one([row("a", 0.8)])])


def test_retention_is_the_share_of_the_supervised_ceiling() -> None:
    rows = [row("a", 0.70, seed=1), row("b", 0.76, seed=2)]
    rows += [_ceiling("c", 0.90, seed=1), _ceiling("d", 0.80, seed=2)]
    table = _one(rows)
    assert table.cells["ours", COLUMN].retention == pytest.approx(0.73 / 0.85)
    assert table.cells["supervised", ("conll03", 0.0)].retention == pytest.approx(1.0)
    other_size = [row("a", 0.7), _ceiling("c", 0.9, train_sentences=999)]
    assert _one(other_size).cells["ours", COLUMN].retention is None
    assert make_tables([row("a", 0.7), _ceiling("c", 0.9, encoder="bert")], {})[0].cells[
        "ours", COLUMN
    ].retention is None  # fmt: skip


def test_retention_of_distant_labels_is_measured_by_gold_alone() -> None:
    rows = [
        row("a", 0.6, corpus="ec", masking=0.0, ceiling="ec-gold", train_sentences=300),
        _ceiling("b", 0.8, corpus="ec-gold", ceiling="ec-gold"),
        _ceiling("c", 0.9, corpus="news-gold", ceiling="news-gold"),
    ]
    assert _one(rows).cells["ours", ("ec", 0.0)].retention == pytest.approx(0.75)


def test_newer_settings_replace_the_whole_cell() -> None:
    rows = [row(f"old{seed}", 0.1, seed=seed) for seed in (1, 2, 3)]
    new = {"training": {"epochs": 9, "seed": 1}}
    newer = {"training": {"epochs": 9, "seed": 2}}
    rows += [row("x", 0.5, seed=1, settings=new), row("y", 0.7, seed=2, settings=newer)]
    table = _one(rows)
    assert table.cells["ours", COLUMN].f1.value == pytest.approx(0.6)
    assert table.superseded == 3
    assert "3 older rows" in formats.to_markdown([table])


def test_bootstrap_marks_what_cannot_be_told_from_the_best() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(1, 4, 300)
    good = np.stack([rng.binomial(gold, 0.9), gold, gold], axis=1)
    like = good.copy()
    like[0, 0], like[1, 0] = good[0, 0] - 1, good[1, 0]
    bad = np.stack([rng.binomial(gold, 0.5), gold, gold], axis=1)
    rows = []
    counts = {}
    for name, f1, array in (("good", 0.9, good), ("like", 0.899, like), ("bad", 0.5, bad)):
        for seed in (1, 2):
            run = f"{name}{seed}"
            rows.append(row(run, f1, system=name, seed=seed))
            counts[run] = array
    cells = _one(rows, counts).cells
    assert cells["good", COLUMN].best and cells["good", COLUMN].tied is False
    assert cells["like", COLUMN].tied is True and cells["bad", COLUMN].tied is False
    text = formats.to_markdown(make_tables(rows, counts))
    assert "**90.00 ± 0.00**" in text and "89.90 ± 0.00 †" in text and "| 50.00 ± 0.00 |" in text
    assert _one(rows).cells["like", COLUMN].tied is None
    apart = [r | {"seed": 7} if r["system"] == "like" else r for r in rows if r["seed"] == 1]
    assert _one(apart, counts).cells["like", COLUMN].tied is None


def test_missampling_is_averaged_after_two_epochs() -> None:
    assert settled_missampling([0.9, 0.8, 0.2, 0.4]) == pytest.approx(0.3)
    assert settled_missampling([0.4, 0.2]) == pytest.approx(0.3)


def test_exploration_is_measured_by_the_training_after_it() -> None:
    counted = {"removed": 30, "candidates": 400}
    rows = [
        row("a", 0.7, seed=1, removed=counted, stages={"explore": 10.0, "train": 100.0}),
        row("b", 0.7, seed=2, removed=counted, stages={"explore": 30.0, "train": 90.0, "more": 10}),
    ]
    cell = _one(rows).cells["ours", COLUMN]
    assert cell.exploration is not None and cell.exploration.value == pytest.approx(0.2)
    assert cell.removed is not None and cell.removed.value == pytest.approx(0.075)
    text = formats.to_markdown([_one(rows)], ("removed", "exploration"))
    assert "| ours | 7.5 ± 0.0 | 20 ± 14 |" in text
    plain = _one([row("c", 0.7, removed=None)]).cells["ours", COLUMN]
    assert plain.exploration is None and plain.removed is None


def test_cost_is_measured_by_plain_trainings_in_the_same_circumstances() -> None:
    one, two = {"train": 1.0}, {"prior": 1.0, "train": 1.0}
    slow = {"computed_in": "no", "seed": 2}
    rows = [
        row("a", 0.7, system="one", seconds=10.0, stages=one),
        row("b", 0.7, system="two", seconds=20.0, stages=one),
        row("c", 0.7, system="three", seconds=12.0, stages=one),
        row("d", 0.7, system="many", seconds=36.0, stages=two),
        row("e", 0.7, system="one", seconds=99.0, stages=one, processor_seconds=50.0, **slow),
        row("f", 0.7, system="many", seconds=10.0, stages=two, processor_seconds=75.0, **slow),
        row("g", 0.7, system="elsewhere", masking=0.9, stages=two),
        row("h", 0.2, system="names", encoder="none", seconds=0.1, stages={}),
    ]
    table = _one(rows)
    costs = {name: cell.cost for (name, _), cell in table.cells.items()}
    assert costs["two"] is not None and costs["two"].value == pytest.approx(20 / 12)
    assert costs["many"] is not None and costs["many"].value == pytest.approx(75 / 50)
    assert costs["many"].count == 1  # where the processor's seconds are known, only they count
    assert costs["elsewhere"] is None and costs["names"] is None
    assert "| many | 1.5 |" in formats.to_markdown([table], ("cost",))
    without = _one(rows[:4]).cells["many", COLUMN].cost
    assert without is not None and without.value == pytest.approx(36 / 12)


def test_recipes_without_encoder_stand_in_every_table() -> None:
    rows = [
        row("a", 0.5, encoder="bilstm"),
        row("b", 0.6, encoder="minilm"),
        row("c", 0.2, encoder="none", system="names", recipe="dictionary"),
    ]
    tables = make_tables(rows, {})
    assert [table.encoder for table in tables] == ["bilstm", "minilm"]
    assert all(("names", COLUMN) in table.cells for table in tables)
    assert make_tables(rows[2:], {})[0].systems == ("names",)


def test_published_figures_stand_beside_ours() -> None:
    rows = [
        row("a", 0.8, published="nrces"),
        row("b", 0.7, masking=0.8, published="nrces, full"),
        row("c", 0.7, system="mine"),
    ]
    text = formats.to_markdown(make_tables(rows, {}))
    assert "| 89.70 |" in text and "90.40 (dev)" in text and "Kang et al. 2022" in text


def test_columns_are_sorted_and_empty_ones_left_out() -> None:
    rows = [row("a", 0.5, masking=0.9), row("b", 0.6, masking=0.5)]
    table = _one(rows)
    assert table.columns == (("conll03", 0.5), ("conll03", 0.9))
    head = formats.to_markdown([table], ["f1", "retention", "missampling"]).splitlines()[2]
    assert head.count("F1") == 2 and "retention" not in head and "missampling" not in head
    with pytest.raises(UsageError, match="Did you mean retention"):
        formats.find_measures(["retentoin"])


def test_a_wide_table_is_one_a_corpus() -> None:
    rows = [row(f"{n}", 0.5, corpus=f"corpus-{n}", system=f"system-{n}") for n in range(5)]
    (table,) = make_tables(rows, {})
    narrow = formats.to_markdown([table], ["f1"])
    assert narrow.count("| system |") == 1 and narrow.count("corpus-3") == 2  # and in a note
    wide = formats.to_markdown([table], ["f1", "dev"])
    assert wide.count("| system |") == 5 and "corpus-3, p = 0.5:" in wide
    assert wide.count("system-3") == 1, "systems stand where they have a cell"


def test_latex_is_escaped_and_balanced() -> None:
    rows = [row("a", 0.5, system="50 % & more_x"), row("b", 0.6)]
    text = formats.to_latex(make_tables(rows, {}))
    assert r"50 \% \& more\_x" in text and r"\textbf{60.00}" in text
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.replace(r"\&", "").count("&") for line in lines[1:]} == {1}


def test_csv_has_every_cell_unrounded() -> None:
    rows = [row("a", 1 / 3, seed=1), row("b", 2 / 3, seed=2), _ceiling("c", 0.8)]
    found = list(csv.DictReader(io.StringIO(formats.to_csv(make_tables(rows, {})))))
    assert [cell["system"] for cell in found] == ["ours", "supervised"]
    assert float(found[0]["f1"]) == 0.5 and found[0]["seeds"] == "2"
    assert float(found[0]["retention"]) == pytest.approx(0.5 / 0.8)
    assert found[1]["missampling"] == ""


def test_more_seeds_of_the_same_sentences_are_no_more_witnesses() -> None:
    first = np.array([[1, 1, 1]] * 6 + [[0, 1, 1]] * 2)
    second = np.array([[1, 1, 1]] * 3 + [[0, 1, 1]] * 5)
    seeds = range(1, 41)
    rows = [row(f"a{n}", 0.75, seed=n) for n in seeds]
    rows += [row(f"b{n}", 0.375, seed=n, system="theirs") for n in seeds]
    counts = {f"a{n}": first for n in seeds} | {f"b{n}": second for n in seeds}
    alone = [r for r in rows if r["seed"] == 1]
    assert _one(alone, counts).cells["theirs", COLUMN].tied is True
    assert _one(rows, counts).cells["theirs", COLUMN].tied is True
