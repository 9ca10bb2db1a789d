"""A training as people see it: one bar with loss, a score on dev and the time left; remarks."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Any, Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from lacuner.cli.console import messages, say


class _Remarks(logging.Handler):
    """Says at once what the library tells Python's logging; warnings even if nothing is wanted."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__()
        self._quiet = quiet

    def emit(self, record: logging.LogRecord) -> None:
        is_warning = record.levelno >= logging.WARNING
        text = record.getMessage()
        say(f"warning: {text}" if is_warning else text, quiet=self._quiet and not is_warning)


class TrainingProgress:
    """Listens to a run; on a terminal it draws, elsewhere it says a line for each evaluation.

    Within it, what the library remarks is said when it happens.

    Args:
        quiet: Say nothing.
        measure: What an evaluation measures.
        scored: The part of an evaluation to show; None takes its score.
    """

    def __init__(self, *, quiet: bool, measure: str = "dev F1", scored: str | None = None) -> None:
        self._quiet, self._measure, self._scored = quiet, measure, scored
        console = messages()
        self._drawing = console.is_terminal and not quiet
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]}  " + measure + " {task.fields[dev]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not self._drawing,
        )
        self._tasks: dict[str, Any] = {}
        self._losses: dict[str, float] = {}
        self._logger, self._level = logging.getLogger("lacuner"), logging.NOTSET
        self._remarks = _Remarks(quiet=quiet)

    def __enter__(self) -> Self:
        self._level = self._logger.level
        self._logger.setLevel(logging.INFO)
        self._logger.addHandler(self._remarks)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()
        self._logger.removeHandler(self._remarks)
        self._logger.setLevel(self._level)

    def __call__(self, stage: str, event: Any) -> None:
        """Takes an event of the loop."""
        self._progress.start()  # only now: the corpus may have been read with a bar of its own
        if stage not in self._tasks:
            total = getattr(event, "steps", None)
            self._tasks[stage] = self._progress.add_task(stage, total=total, loss="…", dev="…")
        task = self._tasks[stage]
        if hasattr(event, "loss"):
            # A running mean: single batches jump.
            before = self._losses.get(stage, event.loss)
            loss = self._losses[stage] = 0.95 * before + 0.05 * event.loss
            self._progress.update(task, completed=event.step, total=event.steps, loss=f"{loss:.3f}")
            return
        if not hasattr(event, "score"):  # the counts of an epoch, for the metrics
            return
        value = event.score if self._scored is None else event.scores[self._scored]
        self._progress.update(task, dev=f"{value:.3f}")
        if not self._drawing:
            mark = " (best so far)" if event.best else ""
            say(f"{stage}: {self._where(stage, event)}, {self._measure} {value:.3f}{mark}",
                quiet=self._quiet)  # fmt: skip

    def _where(self, stage: str, event: Any) -> str:
        """The epoch (or the step, where epochs are of no concern) and the loss there."""
        if not event.step:
            return "before"
        place = f"epoch {event.epoch:g}" if self._scored is None else f"step {event.step}"
        return f"{place}, loss {self._losses.get(stage, 0.0):.3f}"
