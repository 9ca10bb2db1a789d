"""What happens in a training: the events that the loop yields, and the sums they are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lacuner.objectives.loss import Loss
from lacuner.training.processes import everywhere

_LOGGED = 10  # steps between two rows of the metrics


@dataclass(frozen=True)
class Step:
    """One step was made."""

    step: int
    steps: int
    epoch: float
    loss: float
    parts: dict[str, float]
    rate: float

    def as_row(self) -> dict[str, Any] | None:
        """For the metrics; None for steps that are not logged."""
        if self.step % _LOGGED and self.step != self.steps:
            return None
        return {"step": self.step, "epoch": self.epoch, "loss": self.loss, **self.parts}


@dataclass(frozen=True)
class Evaluation:
    """The model was scored on dev."""

    step: int
    epoch: float
    score: float
    best: bool
    scores: dict[str, Any] = field(default_factory=dict)

    def as_row(self) -> dict[str, Any]:
        """For the metrics."""
        return {"step": self.step, "epoch": self.epoch, "dev": self.score, "best": self.best,
                **self.scores}  # fmt: skip


@dataclass(frozen=True)
class Epoch:
    """An epoch is over, in which the objective counted something."""

    step: int
    epoch: float
    counts: dict[str, int]

    def as_row(self) -> dict[str, Any]:
        """For the metrics."""
        return {"step": self.step, "epoch": self.epoch, **self.counts}


@dataclass
class Tally:
    """The loss of a step, its parts and its counts, added up over batches."""

    loss: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def take(self, found: Loss, weight: float) -> None:
        """Adds what an objective found in a batch; without weight it is not this process's."""
        if weight:
            self._add(float(found.total.detach()), found.parts, found.counts, weight)

    def of_all(self) -> Tally:
        """The mean of losses and parts, and the sum of counts, of all processes."""
        tallies = everywhere(self)
        whole = Tally()
        for tally in tallies:
            whole._add(tally.loss, tally.parts, tally.counts, 1 / len(tallies))
        return whole

    def counts_since(self, before: dict[str, int]) -> dict[str, int]:
        """The counts, added to earlier ones."""
        return {name: before.get(name, 0) + self.counts.get(name, 0)
                for name in {**before, **self.counts}}  # fmt: skip

    def _add(
        self, loss: float, parts: dict[str, float], counts: dict[str, int], weight: float
    ) -> None:
        self.loss += loss * weight
        for name, part in parts.items():
            self.parts[name] = self.parts.get(name, 0.0) + part * weight
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
