"""How a training runs, and how long it is where nobody says."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lacuner.errors import UsageError
from lacuner.models.precision import AUTO, PRECISIONS
from lacuner.settings import check_range
from lacuner.suggestions import unknown_name

_EPOCHS, _STEPS = (4, 15), 1200  # the least and the most epochs, and the steps they should make


@dataclass(frozen=True)
class TrainingSettings:
    """How the loop runs; see `lacuner.training.loop.train`.

    Attributes:
        epochs: How often each sentence is seen; none takes as many as make 1,200 steps, at least
            4 and at most 15, so that small corpora are seen more often.
        precision: What the encoder computes in: `no` is single precision, `bf16` and `fp16` half,
            `auto` bf16 where the device is faster by it.
    """

    epochs: int | None = None
    batch_size: int = 16
    encoder_rate: float = 1.5e-4
    head_rate: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    accumulate: int = 1
    precision: str = AUTO
    batch_words: int = 4096
    patience: int | None = None
    checkpoint_steps: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        whole = ("epochs", "batch_size", "accumulate", "batch_words", "patience")
        check_range(self, "training", (*whole, "checkpoint_steps"), 1)
        check_range(self, "training", ("encoder_rate", "head_rate", "weight_decay", "clip"), 0)
        check_range(self, "training", ("warmup",), 0, 1)
        if self.precision not in PRECISIONS:
            raise UsageError(unknown_name("training.precision", self.precision, PRECISIONS))


def epochs_for(sentences: int, settings: TrainingSettings) -> int:
    """How often to see a corpus of that size: as often as the settings say, if they do."""
    if settings.epochs is not None:
        return settings.epochs
    steps = steps_an_epoch(sentences, settings)
    return min(max(math.ceil(_STEPS / steps), _EPOCHS[0]), _EPOCHS[1])


def steps_an_epoch(sentences: int, settings: TrainingSettings) -> int:
    """About how many steps an epoch has; more where long sentences make smaller batches."""
    return math.ceil(sentences / (settings.batch_size * settings.accumulate))
