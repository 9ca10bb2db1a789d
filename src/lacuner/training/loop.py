"""The training loop: a generator that yields events and never prints.

Device, precision, gradient accumulation and several processes are Accelerate's. Every step is a
function of the weights, the seed and its number, so a killed training resumes to the same weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn

from lacuner.errors import LacunerError
from lacuner.models import Model
from lacuner.models.batching import Examples, shuffled_batches
from lacuner.objectives.loss import Objective
from lacuner.training.run_folder import Stage
from lacuner.training.state import (
    Place,
    forget_other_bests,
    load_best,
    load_state,
    save_best,
    save_state,
)

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


class Diverged(LacunerError):
    """The loss is no number any more."""


class Interrupted(LacunerError):
    """Somebody asked the training to stop; its state is saved."""

    exit_code = 130


Scorer = Callable[[], tuple[float, dict[str, Any]]]


def train(
    model: Model,
    examples: Examples,
    objective: Objective,
    stage: Stage,
    *,
    epochs: int,
    batch_size: int,
    encoder_rate: float,
    head_rate: float,
    seed: int,
    warmup: float = 0.1,
    weight_decay: float = 0.01,
    clip: float = 1.0,
    accumulate: int = 1,
    precision: str = "no",
    batch_words: int = 4096,
    score: Scorer | None = None,
    patience: int | None = None,
    checkpoint_steps: int = 200,
) -> Iterator[Step | Epoch | Evaluation]:
    """Trains a model, yields what happens, and leaves the chosen weights in it.

    Args:
        model: A model with an `encoder`.
        examples: What to train on.
        objective: What to minimise.
        stage: Where the state is kept; a training that was killed is continued from there.
        epochs: How often each sentence is seen.
        batch_size: Sentences in a batch.
        encoder_rate: Learning rate of pretrained parameters.
        head_rate: Learning rate of all others.
        seed: All randomness comes from it.
        warmup: Share of the steps in which the rates rise; then they fall to 0, both linearly.
        weight_decay: Of all weights but biases and norms.
        clip: Largest norm of the gradient.
        accumulate: Batches whose gradients are added up for one step.
        precision: `no`, `fp16` or `bf16`.
        batch_words: Most places for words in a batch, padding included.
        score: Scores the model on dev, after every epoch; the best model is kept. Without it the
            last one is.
        patience: Stop after so many evaluations without a better one.
        checkpoint_steps: Steps between two saved states.

    Raises:
        Diverged: The loss is not finite; the state before that step is saved.
        Interrupted: The run was asked to stop; the state is saved.
    """
    accelerator = Accelerator(mixed_precision=precision)
    optimiser = make_optimiser(model, encoder_rate, head_rate, weight_decay)
    place = load_state(stage, model, optimiser)
    stage.run.forget_metrics_after(stage.name, place.step)
    prepared = accelerator.prepare(model)
    optimiser = accelerator.prepare(optimiser)

    epoch, plan = -1, list[list[list[int]]]()
    steps_an_epoch = _steps_an_epoch(examples, batch_size, accumulate, batch_words, seed)
    steps = epochs * steps_an_epoch
    while place.step < steps and not _patience_is_over(place, patience):
        if epoch != place.step // steps_an_epoch:
            epoch = place.step // steps_an_epoch
            plan = _plan(examples, batch_size, accumulate, batch_words, seed, epoch)
        factor = _rate_factor(place.step, steps, warmup)
        for group in optimiser.param_groups:
            group["lr"] = group["full_rate"] * factor
        torch.manual_seed(step_seed(seed, "dropout", place.step, accelerator.process_index))
        rng = torch.Generator().manual_seed(
            step_seed(seed, "objective", place.step, accelerator.process_index)
        )
        prepared.train()
        loss, parts, counts = 0.0, dict[str, float](), dict(place.counts)
        numbers = plan[place.step % steps_an_epoch % len(plan)]
        for batch_numbers in numbers:
            mine = batch_numbers[accelerator.process_index :: accelerator.num_processes]
            batch = examples.batch(mine or batch_numbers[:1], epoch=epoch).to(accelerator.device)
            found = objective(prepared(batch), batch, rng)
            accelerator.backward(found.total / len(numbers))
            loss += float(found.total.detach()) / len(numbers)
            for name, value in found.parts.items():
                parts[name] = parts.get(name, 0.0) + value / len(numbers)
            for name, count in found.counts.items():
                counts[name] = counts.get(name, 0) + count
        norm = float(accelerator.clip_grad_norm_(prepared.parameters(), clip))
        if not math.isfinite(loss) or (not math.isfinite(norm) and precision != "fp16"):
            save_state(stage, model, optimiser, place)
            raise Diverged(
                f"The loss of step {place.step + 1} is {loss} (gradient {norm}). The state before "
                f"it is kept in {stage.folder}. Smaller learning rates (training.encoder_rate, "
                "training.head_rate) usually help."
            )
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        place.step += 1
        place.counts = counts
        done = place.step / steps_an_epoch
        yield Step(place.step, steps, done, loss, parts, encoder_rate * factor)

        if place.step % steps_an_epoch == 0 and counts:
            yield Epoch(place.step, done, counts)
            place.counts = {}
        if score is not None and place.step % steps_an_epoch == 0:
            yield _evaluate(score, model, stage, place, done)
        stopping = stage.run.stopped()
        if stopping or place.step % checkpoint_steps == 0 or place.step % steps_an_epoch == 0:
            save_state(stage, model, optimiser, place)
            if place.best_step is not None:
                forget_other_bests(stage, place.best_step)
        if stopping and place.step < steps:
            raise Interrupted(
                f"Stopped after step {place.step} of {steps}; the state is saved. "
                "The same command with --resume goes on from there."
            )
    if place.best_step is not None:
        load_best(stage, model, place.best_step)


def _evaluate(
    score: Scorer, model: nn.Module, stage: Stage, place: Place, epoch: float
) -> Evaluation:
    model.eval()
    with torch.inference_mode():
        value, scores = score()
    best = place.best is None or value > place.best
    if best:
        save_best(stage, model, place.step)
        place.best, place.best_step, place.waited = value, place.step, 0
    else:
        place.waited += 1
    return Evaluation(place.step, epoch, value, best, scores)


def _patience_is_over(place: Place, patience: int | None) -> bool:
    return patience is not None and place.waited >= patience


def _plan(
    examples: Examples, batch_size: int, accumulate: int, batch_words: int, seed: int, epoch: int
) -> list[list[list[int]]]:
    """The batches of each step of an epoch."""
    rng = np.random.default_rng(step_seed(seed, "order", epoch))
    batches = shuffled_batches(examples.lengths, batch_size, rng, max_words=batch_words)
    return [batches[begin : begin + accumulate] for begin in range(0, len(batches), accumulate)]


def _steps_an_epoch(
    examples: Examples, batch_size: int, accumulate: int, batch_words: int, seed: int
) -> int:
    # Where long sentences are cut by words the number of batches depends a little on the order:
    # the first epoch's number stands for all; a later epoch drops its end or repeats its beginning.
    return len(_plan(examples, batch_size, accumulate, batch_words, seed, 0))


def _rate_factor(step: int, steps: int, warmup: float) -> float:
    rising = max(1, round(warmup * steps))
    if step < rising:
        return (step + 1) / rising
    return max(0.0, (steps - step) / max(1, steps - rising))


def step_seed(*parts: Any) -> int:
    """A seed of its own for every use: the same parts give the same seed, on any machine."""
    digest = sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def make_optimiser(
    model: Model, encoder_rate: float, head_rate: float, weight_decay: float
) -> torch.optim.Optimizer:
    """Fused AdamW over what is trained: a rate for pretrained weights, another for all others."""
    pretrained = {id(parameter) for parameter in model.encoder.pretrained_parameters()}
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for parameter in model.parameters():
        if parameter.requires_grad:
            key = (id(parameter) in pretrained, parameter.ndim > 1)
            groups.setdefault(key, []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": parameters,
                "full_rate": encoder_rate if is_pretrained else head_rate,
                "weight_decay": weight_decay if decays else 0.0,
            }
            for (is_pretrained, decays), parameters in groups.items()
        ],
        lr=head_rate,
        fused=True,
    )
