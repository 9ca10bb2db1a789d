"""The training loop: a generator that yields events and never prints.

The device is Accelerate's. Every step is a function of the weights, the seed and its
number, so a killed training resumes to the same weights. Several processes share the sentences of
every batch and take the same step (see `processes`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn

from lacuner.errors import LacunerError
from lacuner.models import Model
from lacuner.models.batching import Examples, shuffled_batches
from lacuner.models.precision import SINGLE, compute_in, precision_on
from lacuner.objectives.loss import Objective
from lacuner.training.events import Epoch, Evaluation, Step, Tally
from lacuner.training.processes import (
    average_gradients,
    everywhere,
    on_main,
    processes,
    share_weights,
)
from lacuner.training.run_folder import Stage
from lacuner.training.state import (
    Place,
    load_best,
    load_state,
    save_best,
    save_state,
)


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
    precision: str = SINGLE,
    batch_words: int = 4096,
    score: Scorer | None = None,
    patience: int | None = None,
    checkpoint_steps: int = 200,
    most_steps: int | None = None,
    score_steps: int | None = None,
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
        precision: What the encoder computes in: one of `models.precision.PRECISIONS`.
        batch_words: Most places for words in a batch, padding included.
        score: Scores the model on dev, after every epoch; the best model is kept. Without it the
            last one is.
        patience: Stop after so many evaluations without a better one.
        checkpoint_steps: Steps between two saved states.
        most_steps: End after so many steps, though the epochs would make more.
        score_steps: Score after so many steps, and in the end, in place of after every epoch.

    Raises:
        Diverged: The loss is not finite; the state before that step is saved.
        Interrupted: The run was asked to stop; the state is saved.
    """
    team = processes()
    accelerator = Accelerator()
    optimiser = make_optimiser(model, encoder_rate, head_rate, weight_decay)
    place = load_state(stage, model, optimiser)
    on_main(lambda: stage.run.forget_metrics_after(stage.name, place.step))
    # Not prepared by Accelerate: its wrapper for several processes would see only what the model's
    # own forward uses (gradients are averaged below), and in half precision it would compute scores
    # and losses, too.
    model.to(accelerator.device)
    precision = precision_on(accelerator.device, precision)
    compute_in(model, precision)
    scaler = torch.amp.GradScaler(accelerator.device.type, enabled=precision == "fp16")
    optimiser = accelerator.prepare(optimiser)
    share_weights(model)

    epoch, plan = -1, list[list[list[int]]]()
    steps_an_epoch = _steps_an_epoch(examples, batch_size, accumulate, batch_words, seed)
    steps = min(epochs * steps_an_epoch, most_steps or epochs * steps_an_epoch)
    while place.step < steps and not _patience_is_over(place, patience):
        if epoch != place.step // steps_an_epoch:
            epoch = place.step // steps_an_epoch
            plan = _plan(examples, batch_size, accumulate, batch_words, seed, epoch)
        factor = _rate_factor(place.step, steps, warmup)
        for group in optimiser.param_groups:
            group["lr"] = group["full_rate"] * factor
        torch.manual_seed(step_seed(seed, "dropout", place.step, team.process_index))
        rng = torch.Generator().manual_seed(
            step_seed(seed, "objective", place.step, team.process_index)
        )
        model.train()
        tally = Tally()
        numbers = plan[place.step % steps_an_epoch % len(plan)]
        for batch_numbers in numbers:
            mine = batch_numbers[team.process_index :: team.num_processes]
            # Losses are means over sentences, gradients means over processes: weighted by its
            # share, each sentence counts as in a single process. Who has none goes through the
            # motions.
            weight = len(mine) * team.num_processes / len(batch_numbers) / len(numbers)
            batch = examples.batch(mine or batch_numbers[:1], epoch=epoch).to(accelerator.device)
            found = objective(model(batch), batch, rng)
            scaler.scale(found.total * weight).backward()
            tally.take(found, weight)
        average_gradients(model.parameters())
        tally = tally.of_all()
        scaler.unscale_(optimiser)
        norm = float(nn.utils.clip_grad_norm_(model.parameters(), clip))
        if not math.isfinite(tally.loss) or (not math.isfinite(norm) and precision != "fp16"):
            on_main(lambda: save_state(stage, model, optimiser, place))
            raise Diverged(
                f"The loss of step {place.step + 1} is {tally.loss} (gradient {norm}). The state "
                f"before it is kept in {stage.folder}. Smaller learning rates "
                "(training.encoder_rate, training.head_rate) usually help."
            )
        scaler.step(optimiser)
        scaler.update()
        optimiser.zero_grad(set_to_none=True)
        place.step += 1
        place.counts = tally.counts_since(place.counts)
        done = place.step / steps_an_epoch
        yield Step(place.step, steps, done, tally.loss, tally.parts, encoder_rate * factor)

        if place.step % steps_an_epoch == 0 and place.counts:
            yield Epoch(place.step, done, place.counts)
            place.counts = {}
        is_due = place.step % (score_steps or steps_an_epoch) == 0 or place.step == steps
        if score is not None and is_due:
            yield _evaluate(score, model, stage, place, done)
        stopping = any(everywhere(stage.run.stopped()))
        if stopping or place.step % checkpoint_steps == 0 or place.step % steps_an_epoch == 0:
            on_main(lambda: save_state(stage, model, optimiser, place))
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
        value, scores = on_main(score)
    best = place.best is None or value > place.best
    if best:
        on_main(lambda: save_best(stage, model, place.step))
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
    batches = shuffled_batches(
        examples.lengths, batch_size, rng, max_words=batch_words, sizes=examples.sizes
    )
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
