"""Trainings that other processes make: what they do is known beforehand."""

from __future__ import annotations

import os
import time

import torch

from lacuner.corpus.findings import Findings
from lacuner.errors import UsageError
from lacuner.training.events import Epoch
from lacuner.training.loop import Interrupted
from lacuner.training.run_folder import Run


def tells(run: Run) -> None:
    """Says that it is there, and with how many threads; leaves a file."""
    findings = Findings()
    findings.remark(f"{run.inside} was here")
    run.report(findings)
    run.record(f"{run.inside}train", Epoch(1, 1.0, {"threads": torch.get_num_threads()}))
    (run.stage("train").folder / "done").touch()


def waits(run: Run) -> None:
    """Ends when it is asked to."""
    run.record("waiting", Epoch(1, 1.0, {}))
    limit = time.monotonic() + 600
    while not run.stopped():
        assert time.monotonic() < limit
        time.sleep(0.01)
    (run.stage("train").folder / "saved").touch()
    raise Interrupted("Stopped as asked.")


def fails(run: Run) -> None:
    """Cannot go on, and says why."""
    raise UsageError("This encoder cannot do that.")


def dies(run: Run) -> None:
    """Ends without a word, as when memory is short."""
    os._exit(9)
