"""What machine a benchmark runs on. Imports nothing heavy: some benchmarks measure memory."""

from __future__ import annotations

import platform
from pathlib import Path


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "")
