"""Runs a study: several runs at once, each in its own process, none twice.

It can be killed at any moment. What is finished has a row; what was begun goes on from its folder.
Two benches on one results file share the work: a run is made by whoever locks it first.
"""

from __future__ import annotations

import fcntl
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import orjson

from lacuner.experiments.job import BUSY, INTERRUPTED, Job
from lacuner.experiments.results import Results

_WAIT = 0.5  # seconds between two looks at the processes


@dataclass(frozen=True)
class Begun:
    """A run was begun, or is gone on with."""

    job: Job


@dataclass(frozen=True)
class Progress:
    """A run is so far.

    Attributes:
        job: Which.
        done: The share of its steps; None when it did not change.
        epoch: Epochs made.
        dev: F1 on dev, when it was just measured.
    """

    job: Job
    done: float | None
    epoch: float
    dev: float | None


@dataclass(frozen=True)
class Finished:
    """A run has its row. `made` is false when somebody else wrote it."""

    job: Job
    test: dict[str, float] | None
    seconds: float | None
    made: bool = True


@dataclass(frozen=True)
class Failed:
    """A run failed; the others go on."""

    job: Job
    message: str


Event = Begun | Progress | Finished | Failed


@dataclass
class _Child:
    job: Job
    process: subprocess.Popen[bytes]
    said: dict[str, Any] = field(default_factory=dict)
    rest: bytes = b""


class Bench:
    """Makes the runs of jobs.

    Args:
        jobs: What to run, in this order.
        results: Where rows go; runs that have one are passed over.
        parallel: Runs at once.
        threads: Threads of each; None shares the cores out, unless OMP_NUM_THREADS says it.
        seconds: Begin nothing and let running ones save and stop after so long; None for no limit.

    Attributes:
        stopped: Did somebody, or the limit, stop it before all was done?
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        results: Results,
        *,
        parallel: int = 1,
        threads: int | None = None,
        seconds: float | None = None,
    ) -> None:
        self._waiting = list(jobs)
        self._results = results
        self._parallel = max(1, parallel)
        self._threads = threads or max(1, (os.cpu_count() or 1) // self._parallel)
        self._limit = None if seconds is None else time.monotonic() + seconds
        self._children: list[_Child] = []
        self._selector = selectors.DefaultSelector()
        self.stopped = False

    def run(self) -> Iterator[Event]:
        """Makes all runs and yields what happens.

        When the generator is closed or interrupted, running processes are asked to save and stop,
        and waited for.
        """
        try:
            while self._waiting or self._children:
                if self._limit is not None and time.monotonic() > self._limit:
                    self.stopped = bool(self._waiting or self._children)
                    return
                yield from self._begin()
                yield from self._listen()
                yield from self._reap()
        finally:
            self._stop()

    def _begin(self) -> Iterator[Event]:
        """Fills the free places with runs that nobody else is making."""
        if len(self._children) >= self._parallel or not self._waiting:
            return
        finished = self._results.finished()
        for job in list(self._waiting):
            if job.run in finished:
                self._waiting.remove(job)
                yield Finished(job, None, None, made=False)
            elif len(self._children) < self._parallel and not _is_locked(job):
                self._waiting.remove(job)
                self._children.append(self._spawn(job))
                yield Begun(job)

    def _spawn(self, job: Job) -> _Child:
        job.lock.parent.mkdir(parents=True, exist_ok=True)
        environment = {"OMP_NUM_THREADS": str(self._threads), **os.environ}
        with open(job.log, "ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "lacuner.experiments.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
            )
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write(job.to_json())
            process.stdin.close()
        child = _Child(job, process)
        os.set_blocking(process.stdout.fileno(), False)
        self._selector.register(process.stdout, selectors.EVENT_READ, child)
        return child

    def _listen(self) -> Iterator[Event]:
        if not self._children:
            time.sleep(_WAIT)
            return
        for key, _ in self._selector.select(timeout=_WAIT):
            yield from self._hear(key.data)

    def _hear(self, child: _Child) -> Iterator[Event]:
        assert child.process.stdout is not None
        piece = child.process.stdout.read() or b""
        *lines, child.rest = (child.rest + piece).split(b"\n")
        for line in lines:
            message = orjson.loads(line)
            child.said.update(message)
            if "epoch" in message:
                yield Progress(child.job, message.get("done"), message["epoch"], message.get("dev"))
        if not piece:  # it has closed its end: do not spin until it is reaped
            with suppress(KeyError):
                self._selector.unregister(child.process.stdout)

    def _reap(self) -> Iterator[Event]:
        for child in list(self._children):
            if child.process.poll() is None:
                continue
            yield from self._hear(child)
            self._children.remove(child)
            assert child.process.stdout is not None
            child.process.stdout.close()
            code = child.process.returncode
            if code == 0:
                row = child.said.get("row", {})
                yield Finished(child.job, row.get("test"), row.get("seconds"), made=bool(row))
            elif code == BUSY:
                self._waiting.append(child.job)
            else:
                yield Failed(child.job, _reason(child, code))

    def _stop(self) -> None:
        """Asks the running processes to save and stop, and waits; a second Ctrl-C kills them."""
        for child in self._children:
            with suppress(ProcessLookupError):
                child.process.send_signal(signal.SIGINT)
        try:
            while any(child.process.poll() is None for child in self._children):
                for _ in self._listen():
                    pass
        except KeyboardInterrupt:
            for child in self._children:
                child.process.kill()
        finally:
            for child in self._children:
                child.process.wait()
            self._selector.close()


def _reason(child: _Child, code: int) -> str:
    if "failed" in child.said:
        return str(child.said["failed"])
    if code == INTERRUPTED:
        return "somebody interrupted it; its state is saved"
    if code < 0:
        return f"its process was killed by signal {-code} ({signal.Signals(-code).name})"
    lines = (
        child.job.log.read_text("utf-8", "replace").splitlines() if child.job.log.exists() else []
    )
    last = next((line for line in reversed(lines) if line.strip()), f"exit code {code}")
    return f"{last} (see {child.job.log})"


def _is_locked(job: Job) -> bool:
    """Is some process making this run?"""
    try:
        with open(job.lock, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
