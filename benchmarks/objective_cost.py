"""What sampling and loss cost, as a share of a step of training.

    python -m benchmarks.objective_cost [--rounds 9]

MiniLM, batches of 16 sentences of CoNLL-2003's lengths, all spans up to 10 words, of which one
entity in five is labelled. For each recipe: the seconds from the model's scores to the gradient of
the loss on them, over the seconds of the whole step (forward, loss, backward, clip, optimiser),
recipes in turns in one run. The contrastive loss is measured on 512 spans, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.neural_material import (
    RESULTS,
    THREADS,
    conll_lengths,
    machine,
    machine_line,
    sentences_of,
    table,
    write_results,
)
from benchmarks.training_step import BATCH_SIZE, BATCHES, batches
from benchmarks.training_step_models import SEED, WIDEST
from lacuner import Corpus, demo
from lacuner.encoders import build_encoder
from lacuner.labelling.masking import mask
from lacuner.models.batch import Batch
from lacuner.models.batching import Examples
from lacuner.models.label_numbers import number_labels
from lacuner.models.span_classifier import SpanClassifier
from lacuner.objectives.contrastive import ContrastiveCrossEntropy, contrastive_loss
from lacuner.objectives.cross_entropy import SpanCrossEntropy
from lacuner.objectives.loss import Objective
from lacuner.objectives.negative_sampling import (
    SampledCrossEntropy,
    UniformSampler,
    WeightedSampler,
)
from lacuner.objectives.nrces import NoiseRobustCrossEntropy
from lacuner.training.loop import make_optimiser

MASKING = 0.8
SPANS, FEATURES = 512, 256
TARGET, SPANS_TARGET = 0.10, 0.15
RECIPES: dict[str, tuple[str, Callable[[], Objective]]] = {
    "span_ce": ("endpoints", SpanCrossEntropy),
    "negative_sampling": ("interaction", lambda: SampledCrossEntropy(UniformSampler())),
    "weighted_negative_sampling": ("interaction", lambda: SampledCrossEntropy(WeightedSampler(5))),
    "nrces": ("endpoints", NoiseRobustCrossEntropy),
    "scl_rai": (
        "interaction",
        lambda: ContrastiveCrossEntropy(SampledCrossEntropy(UniformSampler())),
    ),
}


class Recipe:
    """A model and an objective, and how long a step and its loss take."""

    def __init__(self, name: str) -> None:
        torch.manual_seed(SEED)
        features, objective = RECIPES[name]
        encoder = build_encoder("minilm", (), freeze="embeddings")
        self.model = SpanClassifier(
            encoder, demo.LABELS, max_width=WIDEST, features=features, dropout=0.1
        )
        self.objective, self.rng = objective(), torch.Generator().manual_seed(SEED)
        self.optimiser = make_optimiser(self.model, 1.5e-4, 1e-3, 0.01)
        self.model.train()

    def step(self, batch: Batch) -> tuple[float, float]:
        """Seconds of the whole step, and of sampling and loss with their gradient."""
        begin = perf_counter()
        output = self.model(batch)
        assert output.spans is not None
        given = perf_counter()
        leaves = [said.detach().requires_grad_() for said in (output.scores, output.spans)]
        cut = replace(output, scores=leaves[0], spans=leaves[1])
        self.objective(cut, batch, self.rng).total.backward()  # type: ignore[no-untyped-call]
        lost = perf_counter()
        said = [(output.scores, leaves[0].grad), (output.spans, leaves[1].grad)]
        some = [(of, by) for of, by in said if by is not None]
        torch.autograd.backward([of for of, _ in some], [by for _, by in some])
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return perf_counter() - begin, lost - given


def measure(rounds: int) -> dict[str, Any]:
    """All recipes in turns on the same batches."""
    sentences = sentences_of(conll_lengths(BATCH_SIZE * 4 * BATCHES, SEED), SEED)
    gaps = mask(Corpus(tuple(sentences)), MASKING, np.random.default_rng(SEED)).corpus
    recipes = {name: Recipe(name) for name in RECIPES}
    encoder = recipes["span_ce"].model.encoder
    drawn = batches(Examples(gaps.sentences, encoder, number_labels(demo.LABELS)))
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in RECIPES}
    for turn in range(-1, rounds):
        for batch in drawn:
            for name, recipe in recipes.items():
                found = recipe.step(batch)
                if turn >= 0:
                    times[name].append(found)
        print(f"… round {turn + 1} of {rounds}", flush=True)
    contrast = median(_contrast() for _ in range(rounds * 4))
    step = sum(whole for whole, _ in times["scl_rai"]) / len(times["scl_rai"])
    return {
        "batches": len(drawn),
        "rounds": rounds,
        "recipes": {
            name: {
                "step_milliseconds": 1000 * sum(w for w, _ in of) / len(of),
                "loss_milliseconds": 1000 * sum(part for _, part in of) / len(of),
                "share": sum(part for _, part in of) / sum(whole for whole, _ in of),
            }
            for name, of in times.items()
        },
        "contrast": {
            "spans": SPANS,
            "milliseconds": 1000 * contrast,
            "share": contrast / (step + contrast),
        },
    }


def _contrast() -> float:
    spans = torch.randn(SPANS, FEATURES, requires_grad=True)
    labels = torch.arange(SPANS) % (1 + len(demo.LABELS))
    begin = perf_counter()
    torch.autograd.grad(contrastive_loss(spans, labels), spans)
    return perf_counter() - begin


def as_markdown(results: dict[str, Any]) -> str:
    """The results as a table."""
    contrast = results["contrast"]
    lines = [
        "# What sampling and loss cost",
        "",
        f"Written by `python -m benchmarks.objective_cost`: {results['batches']} batches of "
        f"{BATCH_SIZE}, {results['rounds']} rounds, recipes in turns, seed {SEED}. The share is "
        "that of the whole step, means over all steps.",
        "",
        *table(
            ("recipe", "ms a step", "ms of sampling and loss", "share", "target"),
            [
                (name, f"{of['step_milliseconds']:.0f}", f"{of['loss_milliseconds']:.1f}",
                 f"{of['share']:.1%}", f"≤ {TARGET:.0%}")
                for name, of in results["recipes"].items()
            ]
            + [
                (f"contrastive loss alone, {contrast['spans']} spans, as a share of a step of "
                 "scl_rai with it", "", f"{contrast['milliseconds']:.1f}",
                 f"{contrast['share']:.1%}", f"≤ {SPANS_TARGET:.0%}"),
            ],
        ),
        "",
        machine_line(results["machine"]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(THREADS)
    results = {"machine": machine(), **measure(given.rounds)}
    write_results("objective_cost", results, as_markdown(results), given.results)


if __name__ == "__main__":
    main()
