"""How long a training took, and how much memory, over all its interruptions."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import Any

from lacuner.files import read_json, write_json

_TICK = 2.0  # seconds between two notes


class Clock:
    """Seconds and peak memory of a training, added up over its interruptions.

    Args:
        path: Where they are kept.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        before = read_json(path) if path.exists() else {}
        self._seconds = float(before.get("seconds", 0.0))
        self._processor: float | None = before.get("processor_seconds", None if before else 0.0)
        self._peak = float(before.get("peak_mb", 0.0))
        self._stages: dict[str, float] = before.get("stages", {})
        self._begin = self._noted = self._heard = time.perf_counter()
        self._processor_begin = time.process_time()

    def __call__(self, stage: str, event: Any) -> None:
        """Notes the time now and then; a listener of the run."""
        now = time.perf_counter()
        self._stages[stage] = self._stages.get(stage, 0.0) + now - self._heard
        self._heard = now
        if now - self._noted > _TICK:
            self._noted = now
            self.note()

    @property
    def seconds(self) -> float:
        """By the clock on the wall, up to now."""
        return self._seconds + time.perf_counter() - self._begin

    @property
    def processor_seconds(self) -> float | None:
        """Those of the processor, whatever else it did meanwhile; None if not all are known."""
        if self._processor is None:
            return None
        return self._processor + time.process_time() - self._processor_begin

    @property
    def stages(self) -> dict[str, float]:
        """Seconds of each stage, up to its last event; what lies between two is the later one's."""
        return dict(self._stages)

    @property
    def peak_mb(self) -> float:
        """The most memory that the process, or one before it, had."""
        unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
        return max(self._peak, own)

    def note(self) -> None:
        """Writes them down."""
        facts = {"seconds": self.seconds, "peak_mb": self.peak_mb, "stages": self._stages}
        write_json({**facts, "processor_seconds": self.processor_seconds}, self._path)
