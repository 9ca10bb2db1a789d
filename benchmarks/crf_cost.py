"""What a CRF costs, as a share of a step of training.

    python -m benchmarks.crf_cost [--rounds 5]

MiniLM, batches of 16 sentences of CoNLL-2003's lengths, BIOES tags of eight types, of which one
entity in five is labelled and every tenth sentence complete. For each objective: the seconds from
the words' scores to the gradient on them, forward and backward, over the seconds of the whole step
(forward, loss, backward, clip, optimiser), objectives in turns in one run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
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
from benchmarks.training_step_models import SEED
from lacuner import Corpus, demo
from lacuner.encoders import build_encoder
from lacuner.labelling.masking import mask
from lacuner.models.batch import Batch
from lacuner.models.batching import Examples
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.cross_entropy import CrfLikelihood
from lacuner.objectives.expected_entity_ratio import ExpectedEntityRatio
from lacuner.objectives.loss import Objective
from lacuner.objectives.partial_crf import PartialCrfLikelihood
from lacuner.training.loop import make_optimiser

MASKING, COMPLETE = 0.8, 10
TYPES = 8
TARGET = 0.20
LABELS = (*demo.LABELS, *(f"TYPE{number}" for number in range(len(demo.LABELS), TYPES)))
OBJECTIVES: dict[str, Callable[[TokenTagger], Objective]] = {
    "CRF, complete labels (token_ce)": CrfLikelihood,
    "partial_crf": PartialCrfLikelihood,
    "expected_entity_ratio": lambda model: ExpectedEntityRatio(PartialCrfLikelihood(model)),
}


class Trained:
    """A tagger and an objective, and how long a step and its CRF take."""

    def __init__(self, name: str) -> None:
        torch.manual_seed(SEED)
        encoder = build_encoder("minilm", (), freeze="embeddings")
        self.model = TokenTagger(encoder, LABELS, scheme="bioes", head="crf")
        self.objective = OBJECTIVES[name](self.model)
        self.rng = torch.Generator().manual_seed(SEED)
        self.optimiser = make_optimiser(self.model, 1.5e-4, 1e-3, 0.01)
        self.model.train()

    def step(self, batch: Batch) -> tuple[float, float]:
        """Seconds of the whole step, and of the CRF with its gradient."""
        begin = perf_counter()
        output = self.model(batch)
        given = perf_counter()
        scores = output.scores.detach().requires_grad_()
        cut = replace(output, scores=scores)
        self.objective(cut, batch, self.rng).total.backward()  # type: ignore[no-untyped-call]
        lost = perf_counter()
        torch.autograd.backward([output.scores], [scores.grad])
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return perf_counter() - begin, lost - given


def measure(rounds: int) -> dict[str, Any]:
    """All objectives in turns on the same batches."""
    sentences = sentences_of(conll_lengths(BATCH_SIZE * 4 * BATCHES, SEED), SEED)
    gaps = mask(Corpus(tuple(sentences)), MASKING, np.random.default_rng(SEED)).corpus
    told = [
        replace(sentence, complete=number % COMPLETE == 0) for number, sentence in enumerate(gaps)
    ]
    trained = {name: Trained(name) for name in OBJECTIVES}
    some = next(iter(trained.values())).model
    drawn = batches(Examples(told, some.encoder, some.label_numbers))
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in OBJECTIVES}
    for turn in range(-1, rounds):
        for batch in drawn:
            for name, each in trained.items():
                found = each.step(batch)
                if turn >= 0:
                    times[name].append(found)
        print(f"… round {turn + 1} of {rounds}", flush=True)
    return {
        "batches": len(drawn),
        "rounds": rounds,
        "tags": len(some.tag_set),
        "objectives": {
            name: {
                "step_milliseconds": 1000 * sum(whole for whole, _ in of) / len(of),
                "crf_milliseconds": 1000 * sum(part for _, part in of) / len(of),
                "share": sum(part for _, part in of) / sum(whole for whole, _ in of),
            }
            for name, of in times.items()
        },
    }


def as_markdown(results: dict[str, Any]) -> str:
    """The results as a table."""
    lines = [
        "# What a CRF costs",
        "",
        f"Written by `python -m benchmarks.crf_cost`: BIOES, {TYPES} types, {results['tags']} "
        f"tags, {results['batches']} batches of {BATCH_SIZE}, {results['rounds']} rounds, "
        f"objectives in turns, seed {SEED}. The share is that of the whole step, means over all "
        "steps.",
        "",
        *table(
            ("objective", "ms a step", "ms of the CRF", "share", "target"),
            [
                (name, f"{of['step_milliseconds']:.0f}", f"{of['crf_milliseconds']:.1f}",
                 f"{of['share']:.1%}", f"≤ {TARGET:.0%}")
                for name, of in results["objectives"].items()
            ],
        ),
        "",
        machine_line(results["machine"]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    results = {"machine": machine(), **measure(given.rounds)}
    write_results("crf_cost", results, as_markdown(results), given.results)


if __name__ == "__main__":
    main()
