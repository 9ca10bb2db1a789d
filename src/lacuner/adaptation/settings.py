"""What people may choose about an adaptation; every default lives here."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lacuner.adaptation.gaps import Masking
from lacuner.errors import UsageError
from lacuner.models.precision import AUTO, PRECISIONS
from lacuner.settings import check_range


@dataclass(frozen=True)
class AdaptationTraining:
    """How the loop runs; see `lacuner.training.loop.train`.

    Attributes:
        batch_pieces: Places for pieces in a batch, padding included.
        encoder_rate: Learning rate of what the checkpoint had.
        head_rate: Learning rate of a head that begins at random.

    Raises:
        UsageError: A number is out of range, or there is no such precision.
    """

    batch_pieces: int = 2048
    encoder_rate: float = 3e-4
    head_rate: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    accumulate: int = 1
    precision: str = AUTO
    checkpoint_steps: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        check_range(self, "training", ("batch_pieces", "accumulate", "checkpoint_steps"), 1)
        check_range(self, "training", ("encoder_rate", "head_rate", "weight_decay", "clip"), 0)
        check_range(self, "training", ("warmup",), 0, 1)
        if self.precision not in PRECISIONS:
            raise UsageError(
                f"training.precision is '{self.precision}', but must be one of: "
                f"{', '.join(PRECISIONS)}."
            )


@dataclass(frozen=True)
class AdaptationSettings:
    """Settings of `lacuner adapt`.

    Attributes:
        steps: Steps of training.
        minutes: Take as many steps as fit into this time instead; how many that are is found out
            at the beginning and kept, so that a resumed training makes the same.
        length: Pieces in a row of text, special ones included; at most what the encoder can see.
        masking: How gaps are drawn.
        freeze: `none`, `embeddings`, `all` but the head, or so many of the lowest layers. The last
            layer usually is the matrix of word embeddings, so that a head learns better with
            `none`.
        held_out: Share of the text that is kept to measure on, at most 200 rows.
        evaluations: How often to measure on the way.

    Raises:
        UsageError: A number is out of range.
    """

    steps: int = 1000
    minutes: float | None = None
    length: int = 128
    masking: Masking = field(default_factory=Masking)
    freeze: str | int = "none"
    held_out: float = 0.05
    evaluations: int = 10
    training: AdaptationTraining = field(default_factory=AdaptationTraining)

    def __post_init__(self) -> None:
        for name in ("steps", "length", "evaluations"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, but must be at least 1.")
        if self.minutes is not None and not (math.isfinite(self.minutes) and self.minutes > 0):
            raise UsageError(f"minutes is {self.minutes:g}, but must be a number above 0.")
        if not 0 < self.held_out < 1:
            raise UsageError(f"held_out is {self.held_out:g}, but must be between 0 and 1.")
