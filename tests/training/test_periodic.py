"""Views of the corpus are made on time, survive kills, and go when nobody needs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lacuner import Corpus, Sentence
from lacuner.errors import UsageError
from lacuner.files import write_json
from lacuner.training.periodic import PeriodicView, renewal_interval
from lacuner.training.run_folder import Run, Stage

CORPUS = Corpus((Sentence("1", ("a",)),), ("A",))


class Watched:
    """A view that writes down what is asked of it."""

    def __init__(self, stage: Stage, interval: int | None) -> None:
        self.made: list[int] = []
        self.used: list[str] = []
        self.view = PeriodicView(stage, interval, self._make, lambda path: self._use(path))

    def _make(self, path: Path, step: int) -> dict[str, int]:
        self.made.append(step)
        path.write_bytes(b"")
        return {"found": step}

    def _use(self, path: Path) -> None:
        assert path.exists()
        self.used.append(path.stem)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Run.create(tmp_path / "run", "tiny", {}, CORPUS, None).stage("train")


def _save(stage: Stage, step: int) -> None:
    write_json({"state": f"state-{step}", "place": {"step": step}}, stage.folder / "latest.json")


def _views(stage: Stage) -> list[str]:
    return sorted(path.stem for path in stage.folder.glob("view-*"))


def test_view_is_made_before_the_first_step_and_every_so_many(stage: Stage) -> None:
    watched = Watched(stage, 4)
    watched.view.begin()
    renewals = [watched.view.after(step) for step in range(1, 9)]
    assert watched.made == [0, 4, 8]
    assert watched.used == ["view-0", "view-4", "view-8"]
    assert [renewal.as_row() for renewal in renewals if renewal] == [
        {"step": 4, "renewed": True, "found": 4},
        {"step": 8, "renewed": True, "found": 8},
    ]


def test_views_stay_as_long_as_a_saved_state_needs_them(stage: Stage) -> None:
    watched = Watched(stage, 2)
    watched.view.begin()
    for step in range(1, 9):
        watched.view.after(step)
        if step == 5:
            _save(stage, 5)
    assert _views(stage) == ["view-0", "view-4", "view-6", "view-8"]
    resumed = Watched(stage, 2)
    resumed.view.begin()
    assert (resumed.made, resumed.used) == ([], ["view-4"])
    resumed.view.clear()
    assert _views(stage) == []


def test_view_without_interval_is_made_once(stage: Stage) -> None:
    watched = Watched(stage, None)
    watched.view.begin()
    assert [watched.view.after(step) for step in range(1, 100)] == [None] * 99
    _save(stage, 7)
    resumed = Watched(stage, None)
    resumed.view.begin()
    assert (watched.made, resumed.made, resumed.used) == ([0], [], ["view-0"])


def test_interval_makes_six_renewals_unless_told() -> None:
    for steps in (699, 700, 701, 1756):
        interval = renewal_interval(None, steps)
        assert steps // interval == 6, "and none at the end"
        assert abs(interval - steps / 7) <= 1
    assert renewal_interval(None, 3) == 1
    assert renewal_interval(13, 700) == 13
    with pytest.raises(UsageError, match="at least 1 step"):
        renewal_interval(0, 700)
