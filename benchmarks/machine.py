"""What machine a benchmark runs on. Imports nothing heavy: some benchmarks measure memory."""

from __future__ import annotations

import platform
from pathlib import Path


def process_memory(field: str) -> float:
    """A field of this process's status, such as VmRSS, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "")
