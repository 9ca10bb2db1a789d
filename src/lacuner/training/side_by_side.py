"""Several trainings of one run at once, each in a process of its own.

The trainings must not depend on each other, and each writes to stages of its own. What all of them
write to, the metrics and what was found on the way, is written here alone: they send it. A training
that its parent does not listen to any more stops, as if somebody had asked it to.

Objects travel from memory to memory between processes of one program; no file holds a pickle.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Corpus
from lacuner.errors import LacunerError, UsageError
from lacuner.training.loop import Interrupted
from lacuner.training.processes import is_alone
from lacuner.training.run_folder import Run

Training = Callable[[Run], Any]
"""Trains in a part of the run. It can be pickled; what it returns is not looked at, so that what is
to be kept goes to the stages of its part."""

_DEVICES = "CUDA_VISIBLE_DEVICES"
_PATIENCE = 0.2  # seconds until the run is asked again whether to stop


def check_jobs(jobs: int) -> None:
    """Refuses a number of trainings that cannot be made at once.

    Raises:
        UsageError: It is not above 0, or above 1 where that cannot be.
    """
    if jobs < 1:
        raise UsageError(f"jobs is {jobs}, but must be at least 1.")
    if jobs > 1 and not is_alone():
        raise UsageError(
            "Processes that train together make one training after another: leave out jobs, or "
            "start a single process."
        )
    if jobs > 1 and os.name != "posix":
        raise UsageError("Several trainings at once need a POSIX system, such as Linux or macOS.")


def train_side_by_side(trainings: Mapping[str, Training], run: Run) -> None:
    """Makes trainings, as many at once as the run may have jobs; returns when all are finished.

    Each gets its share of the threads, and of several GPUs one.

    Args:
        trainings: Each by the name of the part of the run that it trains in.
        run: Whose parts they are.

    Raises:
        LacunerError: One of them failed, or the run was asked to stop. The others have then saved
            their state.
    """
    jobs = min(run.jobs, len(trainings))
    if jobs < 2:
        for name, training in trainings.items():
            training(run.within(name))
        return
    threads = max(1, torch.get_num_threads() // jobs)
    waiting = [
        _Order(training, run.folder, run.within(name).inside, run.hidden, threads)
        for name, training in trainings.items()
    ]
    failures: list[LacunerError] = []
    with _Workers() as workers:
        while waiting or len(workers):
            if failures or run.stopped():
                break
            while waiting and len(workers) < jobs:
                workers.start(waiting.pop(0))
            failures += workers.listen(run)
        unfinished = bool(waiting or len(workers))
        workers.ask_to_stop()
        while len(workers):
            failures += workers.listen(run)
    if failures:
        raise min(failures, key=lambda one: isinstance(one, Interrupted))
    if unfinished:
        raise Interrupted("Stopped. The same command with --resume goes on from there.")


@dataclass(frozen=True)
class _Order:
    """What a process is told."""

    training: Training
    folder: Path
    inside: str
    hidden: Corpus | None
    threads: int


class _Workers:
    """The processes that are at work."""

    def __init__(self) -> None:
        self._at_work: dict[Connection, tuple[subprocess.Popen[bytes], int]] = {}

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *error: object) -> None:
        for connection, (process, _) in self._at_work.items():
            connection.close()
            process.kill()
            process.wait()

    def __len__(self) -> int:
        return len(self._at_work)

    def start(self, order: _Order) -> None:
        """Has a new process carry out an order."""
        slot = min(set(range(len(self) + 1)) - {slot for _, slot in self._at_work.values()})
        mine, theirs = Pipe()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for this process, which asks them to stop
                env={**os.environ, **device_of(slot)},
            )
        self._at_work[mine] = process, slot
        mine.send(order)

    def ask_to_stop(self) -> None:
        """Has all of them save their state and stop."""
        for connection in self._at_work:
            with _unless_gone():
                connection.send("stop")

    def listen(self, run: Run) -> list[LacunerError]:
        """Passes on to the run what they say; returns what went wrong with those that ended."""
        failures: list[LacunerError] = []
        for connection in wait(list(self._at_work), _PATIENCE):
            assert isinstance(connection, Connection)
            try:
                what, *told = connection.recv()
            except (EOFError, ConnectionError):
                what, told = "lost", []
            if what in ("record", "report", "forget_metrics_after"):
                getattr(run, what)(*told)
                continue
            process, _ = self._at_work.pop(connection)
            connection.close()
            code = process.wait()
            if what == "interrupted":
                failures.append(Interrupted(*told))
            elif what == "failed":
                failures.append(_error(*told))
            elif what == "lost":
                failures.append(
                    LacunerError(
                        f"The process of a training ended with exit code {code} and did not say "
                        "why; if memory was short, fewer jobs need less. The same command with "
                        "--resume goes on from its last state."
                    )
                )
        return failures


def device_of(slot: int) -> dict[str, str]:
    """What a process has in its environment so that it takes the next one of several GPUs."""
    count = torch.cuda.device_count()
    if count < 2:
        return {}
    visible = os.environ.get(_DEVICES) or ",".join(map(str, range(count)))
    return {_DEVICES: visible.split(",")[slot % count]}


def _error(message: str, exit_code: int) -> LacunerError:
    error = LacunerError(message)
    error.exit_code = exit_code
    return error


@contextmanager
def _unless_gone() -> Iterator[None]:
    """What is said to a process that has just ended is lost."""
    try:
        yield
    except (BrokenPipeError, ConnectionError):
        return


class _SentRun(Run):
    """A run whose metrics and findings another process writes."""

    def __init__(self, connection: Connection, order: _Order) -> None:
        super().__init__(
            order.folder,
            inside=order.inside,
            hidden=order.hidden,
            stopped=connection.poll,  # whatever comes asks to stop: a word, or the parent's end
        )
        self._connection = connection

    def _say(self, *what: Any) -> None:
        with _unless_gone():
            self._connection.send(what)

    def record(self, stage: str, event: Any) -> None:
        self._say("record", stage, event)

    def report(self, findings: Findings) -> None:
        self._say("report", findings)

    def forget_metrics_after(self, stage: str, step: int) -> None:
        self._say("forget_metrics_after", stage, step)


def main(file_number: int) -> None:
    """Carries out the order that comes through a connection."""
    connection = Connection(file_number)
    order = connection.recv()
    torch.set_num_threads(order.threads)
    try:
        order.training(_SentRun(connection, order))
        connection.send(("finished",))
    except Interrupted as stopped:
        with _unless_gone():
            connection.send(("interrupted", str(stopped)))
    except LacunerError as error:
        connection.send(("failed", str(error), error.exit_code))


if __name__ == "__main__":
    main(int(sys.argv[1]))
