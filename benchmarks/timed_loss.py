"""How long a step of training takes, and what part of it the loss is."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch import nn

from benchmarks.neural_material import RESULTS, THREADS, machine, write_results
from benchmarks.training_step_models import SEED
from lacuner.models import Model
from lacuner.models.batch import Batch
from lacuner.objectives.loss import Objective
from lacuner.training.loop import make_optimiser


class TimedLoss:
    """A model and an objective, whose steps are cut where the model ends and the loss begins."""

    def __init__(self, model: Model, objective: Objective) -> None:
        self.model, self.objective = model.train(), objective
        self._rng = torch.Generator().manual_seed(SEED)
        self._optimiser = make_optimiser(model, 1.5e-4, 1e-3, 0.01)

    def step(self, batch: Batch) -> tuple[float, float]:
        """Seconds of the whole step, and of the loss with its gradient."""
        begin = perf_counter()
        output = self.model(batch)
        given = perf_counter()
        said = {"scores": output.scores, "spans": output.spans}
        leaves = {
            name: tensor.detach().requires_grad_()
            for name, tensor in said.items()
            if tensor is not None
        }
        cut = replace(output, **leaves)
        self.objective(cut, batch, self._rng).total.backward()  # type: ignore[no-untyped-call]
        lost = perf_counter()
        some = [(said[name], leaf.grad) for name, leaf in leaves.items() if leaf.grad is not None]
        torch.autograd.backward([of for of, _ in some], [by for _, by in some])
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        return perf_counter() - begin, lost - given


def in_turns(
    timed: Mapping[str, TimedLoss], drawn: list[Batch], rounds: int
) -> dict[str, dict[str, float]]:
    """Means over all steps of several losses, on the same batches; the first round warms up."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in timed}
    for turn in range(-1, rounds):
        for batch in drawn:
            for name, each in timed.items():
                found = each.step(batch)
                if turn >= 0:
                    times[name].append(found)
        print(f"… round {turn + 1} of {rounds}", flush=True)
    return {
        name: {
            "step_milliseconds": 1000 * sum(whole for whole, _ in of) / len(of),
            "loss_milliseconds": 1000 * sum(part for _, part in of) / len(of),
            "share": sum(part for _, part in of) / sum(whole for whole, _ in of),
        }
        for name, of in times.items()
    }


def run(
    name: str,
    measure: Callable[[int], dict[str, Any]],
    as_markdown: Callable[[dict[str, Any]], str],
    *,
    rounds: int,
    description: str | None,
) -> None:
    """The command of a benchmark: measures and writes the results."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    results = {"machine": machine(), **measure(given.rounds)}
    write_results(name, results, as_markdown(results), given.results)
