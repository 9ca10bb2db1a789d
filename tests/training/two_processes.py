"""What two processes do together, in one start; the test looks at what they leave."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from lacuner.errors import LacunerError
from lacuner.models.batch import Batch, Output
from lacuner.models.span_classifier import SpanClassifier
from lacuner.objectives.cross_entropy import SpanCrossEntropy
from lacuner.objectives.loss import Loss
from lacuner.training.loop import Diverged, Interrupted
from lacuner.training.processes import everywhere, is_main, processes
from tests.neural import HashedWords
from tests.training import tiny_training

# One step of five batches of 25, 25, 25, 25 and 20 sentences: the shares of two are not even.
ONE_STEP: dict[str, Any] = {"epochs": 1, "batch_size": 25, "accumulate": 5, "clip": 1e9}


def without_dropout() -> SpanClassifier:
    """A model whose steps do not depend on random numbers."""
    torch.manual_seed(2)
    labels = tiny_training.corpus().labels
    return SpanClassifier(HashedWords(32, 4096), labels, max_width=4, hidden=32, dropout=0.0)


class _PoisonedElsewhere:
    """No number, but in the second process only."""

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        loss = SpanCrossEntropy()(output, batch, rng)
        return loss if is_main() else Loss(loss.total * float("nan"))


def all_raise(kind: type[LacunerError], action: Callable[[], object]) -> None:
    """Checks that every process gets the error; one that does not would leave others waiting."""
    raised = False
    try:
        action()
    except kind:
        raised = True
    assert everywhere(raised) == [True, True]


def main(folder: Path) -> None:
    """Trains in several ways."""
    assert processes().num_processes == 2
    train = tiny_training.train
    train(folder / "step", trained=without_dropout(), **ONE_STEP)
    tiny_training.keep(train(folder / "whole"), folder / "whole.safetensors")
    all_raise(Interrupted, lambda: train(folder / "stopped", stopped=lambda: not is_main()))
    all_raise(Diverged, lambda: train(folder / "poisoned", objective=_PoisonedElsewhere()))
    all_raise(LacunerError, lambda: train(folder / "whole"))  # is there already


if __name__ == "__main__":
    main(Path(sys.argv[1]))
