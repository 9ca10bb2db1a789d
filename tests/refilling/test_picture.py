"""The picture of a refilling shows what is known of each label, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from lacuner.refilling.picture import labels_figure


def _facts(**row: Any) -> dict[str, Any]:
    first = {"given": 100, "added": 40, "removed": 0, "doubtful": 3, "missing": None}
    return {"labels": {"PER": first, "LOC": {**first, **row}}}


def _texts(figure: Any) -> list[str]:
    (axes,) = figure.axes
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    return [*(text.get_text() for text in axes.texts), *legend]


def _bars(figure: Any) -> list[tuple[float, float]]:
    return [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in figure.axes[0].patches]


def test_without_gold_what_was_put_back_is_one_bar() -> None:
    figure = labels_figure(_facts(added=60, missing=80.0, removed=5))
    assert _texts(figure) == [
        "40 put back", "60 put back; 5 taken out", "given", "put back", "missing, by estimate"
    ]  # fmt: skip
    assert (100, 160) in _bars(figure) and (100, 180) in _bars(figure)
    assert figure.axes[0].get_xlim()[1] > 180


def test_with_gold_right_and_wrong_are_told_apart_and_all_labels_marked() -> None:
    measured = {"precision": 0.9, "recall": 0.45, "hidden": 120}
    figure = labels_figure(_facts(added=60, measured=measured))
    texts = _texts(figure)
    assert "60 put back, precision 0.900, recall 0.450" in texts
    assert "all labels" in texts and "put back, wrong" in texts
    assert "missing, by estimate" not in texts
    assert {(100, 154), (154, 160)} <= set(_bars(figure))
    (mark,) = figure.axes[0].lines
    assert np.asarray(mark.get_xdata()).tolist() == [220, 220]
