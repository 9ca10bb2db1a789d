"""A small real adaptation, as a module for the tests and as a process that can be killed."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import torch

from lacuner import Sentence
from lacuner.adaptation.adapt import Adapted, adapt
from tests.language_models import TEXT

SETTINGS: dict[str, Any] = {
    "steps": 12,
    "evaluations": 3,
    "length": 48,
    "training": {
        "batch_pieces": 256, "encoder_rate": 5e-3, "head_rate": 5e-3, "checkpoint_steps": 3,
    },
}  # fmt: skip


def text(copies: int = 12) -> list[Sentence]:
    """Documents of seven sentences that tell the same."""
    return [
        Sentence(f"{document}.{number}", tuple(line.split()), document=str(document))
        for document in range(copies)
        for number, line in enumerate(TEXT)
    ]


def run(encoder: Path, out: Path, *, pause: float = 0.0, **arguments: Any) -> Adapted:
    """Adapts with small settings."""
    torch.set_num_threads(1)
    settings = {**SETTINGS, **arguments.pop("settings", {})}
    wait = [lambda stage, event: time.sleep(pause)]
    return adapt(text(), encoder, out=out, settings=settings, listeners=wait, **arguments)


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]), resume=True, pause=0.05)
