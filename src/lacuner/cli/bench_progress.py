"""A bench as people see it: all runs, those that are being made, and the time left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Self

from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from lacuner.cli.console import messages, say
from lacuner.experiments.bench import Begun, Event, Failed, Finished, Progress
from lacuner.experiments.job import Job
from lacuner.experiments.results import Row


class TimeLeft:
    """How long it will take, judged by the runs that are finished.

    Args:
        rows: Those that are finished already.
        parallel: Runs at once.
    """

    def __init__(self, rows: Iterable[Row], parallel: int) -> None:
        self._parallel = parallel
        self._seconds: dict[tuple[str, ...], list[float]] = {}
        for row in rows:
            self.learn(row, row["seconds"])

    def learn(self, facts: Row, seconds: float) -> None:
        """A run like this took so long."""
        for key in _likeness(facts):
            self._seconds.setdefault(key, []).append(seconds)

    def expected(self, job: Job) -> float | None:
        """Seconds of a run: those of its like, or of any run of the profile; None at first."""
        for key in _likeness(job.facts):
            if known := self._seconds.get(key):
                return sum(known) / len(known)
        return None

    def left(self, done: Iterable[tuple[Job, float]]) -> float | None:
        """Seconds for runs that are so far; None while nobody knows."""
        total = 0.0
        for job, share in done:
            seconds = self.expected(job)
            if seconds is None:
                return None
            total += seconds * (1 - share)
        return total / self._parallel


def _likeness(facts: Row) -> list[tuple[str, ...]]:
    profile, encoder = facts["profile"], facts["encoder"]
    corpus, recipe = facts["corpus"], facts["recipe"]
    return [(profile, encoder, corpus, recipe), (profile, encoder, corpus), (profile, encoder),
            (profile,)]  # fmt: skip


class BenchProgress:
    """Draws on a terminal; elsewhere it says a line for each run that ends."""

    def __init__(
        self, jobs: Sequence[Job], rows: Iterable[Row], *, parallel: int, quiet: bool
    ) -> None:
        self._quiet = quiet
        self._left = TimeLeft(rows, parallel)
        self._waiting = {job.run: (job, 0.0) for job in jobs}
        self._total, self._ended = len(jobs), 0
        console = messages()
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[note]}"),
            console=console,
            disable=quiet or not console.is_terminal,
        )
        self._all = self._bars.add_task("all runs", total=max(1, len(jobs)), note="")
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def __call__(self, event: Event) -> None:
        """Takes an event of the bench."""
        job = event.job
        if isinstance(event, Begun):
            self._tasks[job.run] = self._bars.add_task(job.title, total=1.0, note="reading")
        elif isinstance(event, Progress):
            self._show(event)
        else:
            self._end(event)
        self._update()

    def _show(self, event: Progress) -> None:
        job, done = self._waiting[event.job.run]
        self._waiting[job.run] = (job, event.done if event.done is not None else done)
        task = self._bars.tasks[self._bars.task_ids.index(self._tasks[job.run])]
        dev = f"dev F1 {event.dev:.3f}" if event.dev is not None else task.fields.get("dev", "")
        note = f"epoch {event.epoch:.1f}  {dev}"
        self._bars.update(task.id, completed=self._waiting[job.run][1], note=note, dev=dev)

    def _end(self, event: Finished | Failed) -> None:
        job = event.job
        self._waiting.pop(job.run, None)
        self._ended += 1
        if job.run in self._tasks:
            self._bars.remove_task(self._tasks.pop(job.run))
        if isinstance(event, Failed):
            text = f"failed: {event.message}"
        elif event.test is not None and event.seconds is not None:
            self._left.learn(job.facts, event.seconds)
            text = f"test F1 {event.test['f1']:.3f}, {event.seconds:,.0f} s"
        else:
            text = "made by another process"
        line = f"{self._ended}/{self._total} {job.title}: {text}; {self._remaining()}"
        if isinstance(event, Failed) or not self._quiet:
            if self._bars.disable:
                say(line, quiet=False)
            else:
                self._bars.console.print(line, markup=False, highlight=False)

    def _update(self) -> None:
        done = self._ended + sum(share for _, share in self._waiting.values())
        note = f"{self._ended}/{self._total}  {self._remaining()}"
        self._bars.update(self._all, completed=done, note=note)

    def _remaining(self) -> str:
        if not self._waiting:
            return "all done"
        seconds = self._left.left(self._waiting.values())
        return "time left unknown yet" if seconds is None else f"about {duration(seconds)} left"


def duration(seconds: float) -> str:
    """A time for people.

    Example:
        >>> duration(5400)
        '1 h 30 min'
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
