"""How many steps an adaptation makes: those that were asked for, or as many as fit into a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from lacuner.adaptation.gaps import GapExamples
from lacuner.adaptation.settings import AdaptationSettings
from lacuner.files import read_json, write_json
from lacuner.models.gap_filler import GapFiller
from lacuner.objectives.gap_filling import GapCrossEntropy

_TRIED = 3  # steps that are timed
_MEASURING = 0.2  # most of the time that goes to measuring


@dataclass(frozen=True)
class Plan:
    """Steps of training, and how often to measure on the way."""

    steps: int
    evaluations: int


def plan_steps(
    model: GapFiller,
    examples: GapExamples,
    score: Callable[[], Any],
    settings: AdaptationSettings,
    folder: Path,
) -> Plan:
    """The plan of a training; one that was made from the clock is kept, and found again.

    Args:
        model: What is trained; it is not changed.
        examples: What it is trained on.
        score: Measures it.
        settings: Say the steps, or the minutes.
        folder: Where a plan is kept, so that a resumed training makes as many steps.
    """
    if settings.minutes is None:
        return Plan(settings.steps, settings.evaluations)
    path = folder / "plan.json"
    if not path.exists():
        seconds = settings.minutes * 60
        measuring = _seconds(score)
        evaluations = min(settings.evaluations, max(1, int(_MEASURING * seconds / measuring)))
        left = max(seconds - evaluations * measuring, 0.0)
        steps = max(1, int(left / _seconds_a_step(model, examples, settings)))
        write_json(asdict(Plan(steps, evaluations)), path)
    return Plan(**read_json(path))


def _seconds_a_step(model: GapFiller, examples: GapExamples, settings: AdaptationSettings) -> float:
    """Tries a few steps without changing anything; the middle one counts."""
    order = sorted(range(len(examples)), key=lambda number: -examples.lengths[number])
    rows = order[: max(1, settings.training.batch_pieces // examples.lengths[order[0]])]

    def try_step() -> None:
        batch = examples.batch(rows).to(next(model.parameters()).device)
        loss = GapCrossEntropy()(model(batch), batch, torch.Generator())
        torch.autograd.backward(loss.total)
        model.zero_grad(set_to_none=True)

    model.train()
    taken = sorted(_seconds(try_step) for _ in range(_TRIED))
    return taken[_TRIED // 2] * settings.training.accumulate


def _seconds(action: Callable[[], Any]) -> float:
    began = time.monotonic()
    action()
    return time.monotonic() - began
