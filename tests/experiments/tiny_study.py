"""A study of seconds: a part of the embedded corpus, a BiLSTM, one epoch or two."""

from __future__ import annotations

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
published = "span_ce"

[[systems]]
name = "ceiling"
recipe = "supervised"

[[systems]]
name = "names"
recipe = "dictionary"

[profiles.cpu]
encoders = ["bilstm"]
seeds = [1]
train_sentences = 20
settings.training = { epochs = EPOCHS, batch_size = 8, head_rate = 1e-2, checkpoint_steps = 2 }
"""


def write_tiny(folder: Path, *, epochs: int = 1, **changes: Any) -> Path:
    """Writes the study; `changes` replace text in it."""
    text = TINY.replace("EPOCHS", str(epochs))
    for before, after in changes.get("replace", {}).items():
        assert before in text
        text = text.replace(before, after)
    path = folder / "tiny.toml"
    path.write_text(text, "utf-8")
    return path
