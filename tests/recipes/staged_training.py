"""Trainings of several stages that are as small as can be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lacuner import Corpus
from lacuner.demo import gold
from lacuner.inference.predictor import NeuralPredictor
from lacuner.labelling.masking import mask
from lacuner.recipes import RECIPES
from lacuner.recipes.stages import resolve, train_in_stages
from lacuner.training.run_folder import Run

CORPUS = mask(
    gold("train").with_sentences(gold("train").sentences[:24]), 0.4, np.random.default_rng(0)
).corpus
TRAINING = {"epochs": 2, "batch_size": 8, "head_rate": 2e-2, "checkpoint_steps": 2}
STAGES: dict[str, Any] = {
    "ensemble": {"members": 2},
    "self_training": {"rounds": 1, "epochs": 2, "interval": 2, "confidence": 0.1},
}
STEPS = {"member-1.train": 6, "member-2.train": 6, "ensemble": 6, "self_training-1": 6}


def train(
    folder: Path,
    recipe: str = "roster",
    *,
    corpus: Corpus = CORPUS,
    dev: Corpus | None = None,
    resume: bool = False,
    stop_after: int | None = None,
    listeners: Any = (),
    **settings: Any,
) -> NeuralPredictor:
    """Trains in stages, asked to stop after so many steps."""
    chosen = resolve(RECIPES[recipe], {"training": TRAINING, **STAGES, **settings})
    made = iter(range(1, 10_000))

    def stopped() -> bool:
        return next(made) == stop_after

    run = Run.create(
        folder, recipe, chosen.as_dict(), corpus, dev,
        resume=resume, stopped=stopped, listeners=listeners,
    )  # fmt: skip
    predictor = train_in_stages(RECIPES[recipe], corpus, dev, chosen, run)
    assert isinstance(predictor, NeuralPredictor)
    return predictor


def train_alone(
    recipe: str,
    folder: Path,
    corpus: Corpus,
    *,
    hidden: Corpus | None = None,
    resume: bool = False,
    listeners: Any = (),
    stopped: Any = lambda: False,
    **settings: Any,
) -> NeuralPredictor:
    """Trains with a recipe, after which nothing follows, and without dev."""
    chosen = resolve(RECIPES[recipe], {"training": TRAINING, **settings})
    run = Run.create(
        folder, recipe, chosen.as_dict(), corpus, None,
        resume=resume, listeners=listeners, hidden=hidden, stopped=stopped,
    )  # fmt: skip
    predictor = train_in_stages(RECIPES[recipe], corpus, None, chosen, run)
    assert isinstance(predictor, NeuralPredictor)
    return predictor


class Killed(Exception):
    """As if the process were gone: nothing is saved on the way out."""


def killed_after(steps: int) -> Callable[[str, Any], None]:
    """A listener that kills the training after so many steps."""
    left = iter(range(steps, -10_000, -1))

    def kill(stage: str, event: Any) -> None:
        if hasattr(event, "loss") and next(left) == 1:
            raise Killed

    return kill


def weights(predictor: NeuralPredictor) -> dict[str, Tensor]:
    """The weights of its model."""
    return {name: tensor.clone() for name, tensor in predictor.model.state_dict().items()}


def same(first: dict[str, Tensor], second: dict[str, Tensor]) -> bool:
    """Are they the same, bit for bit?"""
    return all(torch.equal(first[name], second[name]) for name in first)
