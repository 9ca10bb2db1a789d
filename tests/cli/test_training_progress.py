"""What people see of a training."""

from __future__ import annotations

import logging

import pytest

from lacuner.cli.training_progress import TrainingProgress
from lacuner.training.events import Epoch, Evaluation, Step


def test_every_event_of_the_loop_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with TrainingProgress(quiet=False) as progress:
        progress("train", Step(1, 2, 0.5, 3.0, {}, 1e-3))
        progress("train", Epoch(1, 1.0, {"drawn": 7}))
        progress("train", Evaluation(1, 1.0, 0.25, True))
    said = capsys.readouterr().err
    assert said.splitlines() == ["train: epoch 1, loss 3.000, dev F1 0.250 (best so far)"]


@pytest.mark.parametrize(("quiet", "said"), [(False, ["found 3", "warning: lost 2"]),
                                             (True, ["warning: lost 2"])])  # fmt: skip
def test_what_the_library_remarks_is_said_at_once(
    quiet: bool, said: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    logger = logging.getLogger("lacuner.corpus.findings")
    with TrainingProgress(quiet=quiet):
        logger.info("found 3")
        logger.warning("lost %d", 2)
        assert capsys.readouterr().err.splitlines() == said
    logger.info("found 4")  # of this nobody hears
    assert not capsys.readouterr().err and not logging.getLogger("lacuner").handlers
