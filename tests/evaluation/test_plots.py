"""Figures: what they show, and that files are written whole, the same each time."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lacuner import Findings
from lacuner.errors import MissingExtra, OutputExists, UsageError
from lacuner.evaluation.curves import Curve
from lacuner.evaluation.plots import check_plot, curve_figure, label_figure, save
from lacuner.evaluation.scores import Average, Score, Scores

_SCORES = Scores(Score(30, 40, 50), {"LOC": Score(10, 20, 25), "PER": Score(20, 20, 25)})


def _texts(path: Path) -> set[str]:
    root = ElementTree.parse(path).getroot()
    return {"".join(e.itertext()).strip() for e in root.iter("{http://www.w3.org/2000/svg}text")}


def test_label_figure_says_every_score(tmp_path: Path) -> None:
    path = tmp_path / "labels.svg"
    save(label_figure(_SCORES), path)
    shown = _texts(path)
    assert {"LOC", "PER", "all", "mean", "precision", "recall", "F1", "25 true"} <= shown
    scores: list[Score | Average] = [*_SCORES.by_label.values(), _SCORES.total, _SCORES.macro]
    for score in scores:
        assert {f"{v:.3f}" for v in (score.precision, score.recall, score.f1)} <= shown


def test_label_figure_draws_bars_as_long_as_the_scores() -> None:
    (axes,) = label_figure(_SCORES).axes
    widths = [patch.get_width() for patch in axes.patches]  # type: ignore[attr-defined]
    assert widths[:3] == pytest.approx([0.5, 0.4, 4 / 9])
    assert len(widths) == 12


def test_curve_figure_names_every_line(tmp_path: Path) -> None:
    curves = {
        "distant": Curve(((1, 2.0), (2, 1.0)), ((2, 0.4), (4, 0.6))),
        "gold": Curve(((1, 2.0), (2, 0.5)), ((2, 0.9), (4, 0.8))),
        "no dev": Curve(((1, 1.0),)),
    }
    path = tmp_path / "curves.svg"
    figure = curve_figure(curves)
    save(figure, path)
    shown = _texts(path)
    assert {"distant", "gold", "no dev", "training steps", "training loss"} <= shown
    assert {"distant, best 0.600", "gold, best 0.900"} <= shown
    assert [len(axes.lines) for axes in figure.axes] == [3, 2]


def test_figures_of_nothing_can_be_written(tmp_path: Path) -> None:
    save(label_figure(Scores(Score(0, 0, 0))), tmp_path / "labels.png")
    save(curve_figure({}), tmp_path / "curves.png")


@pytest.mark.parametrize(("name", "head"), [("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG")])
def test_save_gives_the_same_file_each_time(tmp_path: Path, name: str, head: bytes) -> None:
    path = tmp_path / name
    save(label_figure(_SCORES), path)
    first = path.read_bytes()
    assert first.startswith(head)
    with pytest.raises(OutputExists):
        save(label_figure(_SCORES), path)
    save(label_figure(_SCORES), path, overwrite=True)
    assert path.read_bytes() == first
    assert list(tmp_path.iterdir()) == [path]


def test_save_refuses_other_endings(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.svg or \.png"):
        save(label_figure(_SCORES), tmp_path / "a.pdf")


def test_save_says_when_a_png_lacks_characters(tmp_path: Path) -> None:
    figure = label_figure(Scores(Score(1, 1, 1), {"\U00010450": Score(1, 1, 1)}))
    findings = Findings()
    save(figure, tmp_path / "a.svg", findings=findings)
    assert not findings.remarks
    assert "\U00010450" in _texts(tmp_path / "a.svg")
    save(figure, tmp_path / "a.png", findings=findings)
    assert "no font here" in findings.remarks[0]


def test_check_plot_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"lacuner\[plots\]"):
        check_plot(Path("a.svg"))
