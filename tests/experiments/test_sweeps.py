"""A setting that varies alone has a figure; one that varies with others has none."""

from __future__ import annotations

from typing import Any

import pytest

from lacuner.experiments.sweeps import sweep_figures
from lacuner.experiments.tables import make_tables
from tests.experiments.tiny_study import row

pytest.importorskip("matplotlib")


def _figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    (table,) = make_tables(rows, {})
    return sweep_figures(table, "conll03")


def _rows(values: list[float], masking: float, **others: Any) -> list[dict[str, Any]]:
    return [
        row(
            f"{value}{masking}{others}",
            0.9 - value / 100 - masking / 10,
            system=f"w = {value}{others}",
            masking=masking,
            dev=None,
            settings={"loss": {"w": value, **others}, "training": {"seed": 1}},
        )
        for value in values
    ]


def test_a_line_for_each_masking_rate() -> None:
    figures = _figures(_rows([10.0, 2.0, 5.0], 0.3) + _rows([2.0, 5.0, 10.0], 0.9))
    assert set(figures) == {"nrces-by-w"}
    (axes,) = figures["nrces-by-w"].axes
    lines = [list(container.lines[0].get_ydata()) for container in axes.containers]
    assert lines == [pytest.approx([85, 82, 77]), pytest.approx([79, 76, 71])]
    assert {"p = 0.3: 77.0", "p = 0.9: 71.0"} <= {text.get_text() for text in axes.texts}
    assert list(axes.get_xticks()) == [2, 5, 10]
    assert axes.get_xscale() == "log"


def test_evenly_spread_values_stand_on_an_even_axis() -> None:
    (axes,) = _figures(_rows([0.1, 0.3, 0.5], 0.3))["nrces-by-w"].axes
    assert axes.get_xscale() == "linear"


def test_models_with_an_offset_are_also_shown_without() -> None:
    rows = _rows([2.0, 5.0, 10.0], 0.3)
    rows[0]["unshifted"] = {"dev": None, "test": {"p": 0.1, "r": 0.1, "f1": 0.1}}
    shifted, plain = _figures(rows)["nrces-by-w"].axes
    assert list(shifted.containers[0].lines[0].get_ydata()) == pytest.approx([85, 82, 77])
    assert list(plain.containers[0].lines[0].get_ydata()) == pytest.approx([10, 82, 77])


def test_dev_stands_above_where_there_is_one() -> None:
    rows = _rows([2.0, 5.0, 10.0], 0.3)
    for one, f1 in zip(rows, (0.5, 0.6, 0.7), strict=True):
        one["dev"] = {"p": f1, "r": f1, "f1": f1}
    dev, test = _figures(rows)["nrces-by-w"].axes
    assert dev.get_ylabel() == "F1 on dev (%)" and test.get_ylabel() == "F1 on test (%)"
    assert list(dev.containers[0].lines[0].get_ydata()) == pytest.approx([50, 60, 70])
    assert list(test.containers[0].lines[0].get_ydata()) == pytest.approx([85, 82, 77])


def test_two_values_are_no_curve() -> None:
    assert _figures(_rows([2.0, 5.0], 0.3)) == {}


def test_cells_that_differ_in_something_else_do_not_join_a_curve() -> None:
    figures = _figures(_rows([2.0, 5.0, 10.0], 0.3) + _rows([20.0], 0.3, keep=1.0))
    (axes,) = figures["nrces-by-w"].axes
    assert list(axes.get_xticks()) == [2, 5, 10]
    mixed = [*_rows([2.0], 0.3, keep=0.5), *_rows([5.0], 0.3, keep=0.6), *_rows([9.0], 0.3, keep=1)]
    assert _figures(mixed) == {}


def test_settings_that_are_no_numbers_are_no_axis() -> None:
    rows = [
        row(form, 0.5, system=form, settings={"loss": {"form": form, "trust": form == "a"}})
        for form in ("a", "b", "c")
    ]
    assert _figures(rows) == {}
