"""A training as people see it: one bar with loss, dev F1 and the time left."""

from __future__ import annotations

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


class TrainingProgress:
    """Listens to a run; on a terminal it draws, elsewhere it says a line for each evaluation."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        console = messages()
        self._drawing = console.is_terminal and not quiet
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]}  dev F1 {task.fields[dev]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not self._drawing,
        )
        self._tasks: dict[str, Any] = {}
        self._loss = 0.0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def __call__(self, stage: str, event: Any) -> None:
        """Takes an event of the loop."""
        if stage not in self._tasks:
            total = getattr(event, "steps", None)
            self._tasks[stage] = self._progress.add_task(stage, total=total, loss="…", dev="…")
        task = self._tasks[stage]
        if hasattr(event, "loss"):
            # A running mean: single batches jump.
            self._loss = event.loss if not self._loss else 0.95 * self._loss + 0.05 * event.loss
            self._progress.update(task, completed=event.step, loss=f"{self._loss:.3f}")
            return
        if not hasattr(event, "score"):  # the counts of an epoch, for the metrics
            return
        self._progress.update(task, dev=f"{event.score:.3f}")
        if not self._drawing:
            mark = " (best so far)" if event.best else ""
            say(
                f"{stage}: epoch {event.epoch:g}, loss {self._loss:.3f}, "
                f"dev F1 {event.score:.3f}{mark}",
                quiet=self._quiet,
            )
