"""What sampling and loss cost, as a share of a step of training.

    python -m benchmarks.objective_cost [--rounds 9]

MiniLM, batches of 16 sentences of CoNLL-2003's lengths, one entity in five is labelled; all spans
up to 10 words, or, for `roster`, all words, with a weight for each. For each recipe: the seconds
from the model's scores to the gradient of the loss on them, over the seconds of the whole step
(forward, loss, backward, clip, optimiser), recipes in turns in one run. The contrastive loss is
measured on 512 spans, too.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import torch

from benchmarks.neural_material import (
    conll_lengths,
    machine_line,
    sentences_of,
    table,
)
from benchmarks.timed_loss import TimedLoss, in_turns, run
from benchmarks.training_step import BATCH_SIZE, BATCHES, batches
from benchmarks.training_step_models import SEED, WIDEST
from lacuner import Corpus, demo
from lacuner.encoders import build_encoder
from lacuner.labelling.masking import mask
from lacuner.models.batching import Examples
from lacuner.models.label_numbers import number_labels
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.contrastive import ContrastiveCrossEntropy, contrastive_loss
from lacuner.objectives.cross_entropy import SpanCrossEntropy
from lacuner.objectives.generalized_cross_entropy import NoiseRobustTagging
from lacuner.objectives.label_removal import DROPPED
from lacuner.objectives.loss import Objective
from lacuner.objectives.negative_sampling import (
    SampledCrossEntropy,
    UniformSampler,
    WeightedSampler,
)
from lacuner.objectives.nrces import NoiseRobustCrossEntropy
from lacuner.training.label_removal import LabelRemoval

MASKING = 0.8
ROSTER = "roster"
SPANS, FEATURES = 512, 256
TARGET, ROSTER_TARGET, SPANS_TARGET = 0.10, 0.03, 0.15
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


def timed(name: str) -> TimedLoss:
    """The model and the objective of a recipe."""
    torch.manual_seed(SEED)
    features, objective = RECIPES[name]
    encoder = build_encoder("minilm", (), freeze="embeddings")
    model = SpanClassifier(encoder, demo.LABELS, max_width=WIDEST, features=features, dropout=0.1)
    return TimedLoss(model, objective())


def timed_roster(examples: Examples) -> TimedLoss:
    """The same for `roster`: its loss asks for the weights of words, which are in a file."""
    torch.manual_seed(SEED)
    encoder = build_encoder("minilm", (), freeze="embeddings")
    model = TokenTagger(encoder, demo.LABELS, scheme="io", head="two_part", dropout=0.1)
    removal = LabelRemoval(model, examples, dropped=DROPPED, seed=SEED, batch_words=4096)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "weights.npy"
        removal.make(file, 0)
        removal.use(file)  # the file stays readable as long as it is mapped
    return TimedLoss(model, NoiseRobustTagging(model, warmup=0, weights=removal.weights))


def measure(rounds: int) -> dict[str, Any]:
    """All recipes in turns on the same batches."""
    sentences = sentences_of(conll_lengths(BATCH_SIZE * 4 * BATCHES, SEED), SEED)
    gaps = mask(Corpus(tuple(sentences)), MASKING, np.random.default_rng(SEED)).corpus
    recipes = {name: timed(name) for name in RECIPES}
    encoder = recipes["span_ce"].model.encoder
    examples = Examples(gaps.sentences, encoder, number_labels(demo.LABELS))
    recipes[ROSTER] = timed_roster(examples)
    drawn = batches(examples)
    found = in_turns(recipes, drawn, rounds)
    contrast = median(_contrast() for _ in range(rounds * 4))
    step = found["scl_rai"]["step_milliseconds"] / 1000
    return {
        "batches": len(drawn),
        "rounds": rounds,
        "recipes": found,
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
                 f"{of['share']:.1%}", f"≤ {ROSTER_TARGET if name == ROSTER else TARGET:.0%}")
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


if __name__ == "__main__":
    run("objective_cost", measure, as_markdown, rounds=9, description=__doc__)
