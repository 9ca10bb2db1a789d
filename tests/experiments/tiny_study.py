"""A study of seconds, and rows as if runs had made them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

TINY = """
name = "tiny"
title = "For tests"

[[corpora]]
name = "demo"
embedded = true
masking = [0.5]

[[systems]]
name = "cross-entropy"
recipe = "span_ce"

[[systems]]
name = "ceiling"
recipe = "supervised"

[[systems]]
name = "names"
recipe = "dictionary"

[profiles.cpu]
encoders = ["bilstm"]
seeds = [1]
train_sentences = 40
dev_sentences = 30
settings.training = { epochs = 1, batch_size = 8, head_rate = 1e-2, checkpoint_steps = 2 }
"""


def write_tiny(folder: Path, changes: Mapping[str, str] | None = None) -> Path:
    """Writes the study to a folder, some of its text changed."""
    text = TINY
    for before, after in (changes or {}).items():
        assert before in text
        text = text.replace(before, after)
    path = folder / "tiny.toml"
    path.write_text(text, "utf-8")
    return path


def row(run: str, f1: float, **changes: Any) -> dict[str, Any]:
    """A row of a finished run."""
    score = {"p": f1, "r": f1, "f1": f1}
    return {
        "run": run,
        "study": "tiny",
        "profile": "cpu",
        "corpus": "conll03",
        "masking": 0.5,
        "system": "ours",
        "recipe": "nrces",
        "encoder": "minilm",
        "seed": 1,
        "ceiling": "conll03",
        "published": None,
        "settings": {"training": {"epochs": 8}},
        "train_sentences": 100,
        "selected_on": "dev",
        "dev": score,
        "test": score,
        "missampling": None,
        "seconds": 10.0,
        "peak_mb": 500.0,
        "version": {},
        "curve": [],
        **changes,
    }
