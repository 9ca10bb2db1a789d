"""What a CRF costs, as a share of a step of training.

    python -m benchmarks.crf_cost [--rounds 5]

MiniLM, batches of 16 sentences of CoNLL-2003's lengths, BIOES tags of eight types, of which one
entity in five is labelled and every tenth sentence complete. For each objective: the seconds from
the words' scores to the gradient on them, forward and backward, over the seconds of the whole step
(forward, loss, backward, clip, optimiser), objectives in turns in one run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.neural_material import (
    conll_lengths,
    machine_line,
    sentences_of,
    table,
)
from benchmarks.timed_loss import TimedLoss, in_turns, run
from benchmarks.training_step import BATCH_SIZE, BATCHES, batches
from benchmarks.training_step_models import SEED
from lacuner import Corpus, demo
from lacuner.encoders import build_encoder
from lacuner.labelling.masking import mask
from lacuner.models.batch import Batch, Output
from lacuner.models.batching import Examples
from lacuner.models.label_numbers import number_labels
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.cross_entropy import CrfLikelihood
from lacuner.objectives.expected_entity_ratio import ExpectedEntityRatio
from lacuner.objectives.loss import Objective
from lacuner.objectives.partial_crf import PartialCrfLikelihood
from lacuner.objectives.two_step import TwoStepTagging

MASKING, COMPLETE = 0.8, 10
REMOVED_EACH = 20  # every so many words one is removed: two_step's 5 %
TYPES = 8
TARGET = 0.20
LABELS = (*demo.LABELS, *(f"TYPE{number}" for number in range(len(demo.LABELS), TYPES)))


def removed(batch: Batch, output: Output) -> Tensor:
    """Words that are left out, evenly over every sentence.  # [batch, words]"""
    return output.mask & (torch.arange(output.mask.shape[1]) % REMOVED_EACH == 0)


OBJECTIVES: dict[str, Callable[[TokenTagger], Objective]] = {
    "CRF, complete labels (token_ce)": CrfLikelihood,
    "CRF, a twentieth of the words removed (two_step)": lambda model: TwoStepTagging(
        model, removed, rate=0
    ),
    "partial_crf": PartialCrfLikelihood,
    "expected_entity_ratio": lambda model: ExpectedEntityRatio(PartialCrfLikelihood(model)),
}


def timed(name: str) -> TimedLoss:
    """A tagger and an objective."""
    torch.manual_seed(SEED)
    encoder = build_encoder("minilm", (), freeze="embeddings")
    model = TokenTagger(encoder, LABELS, scheme="bioes", head="crf")
    return TimedLoss(model, OBJECTIVES[name](model))


def measure(rounds: int) -> dict[str, Any]:
    """All objectives in turns on the same batches."""
    sentences = sentences_of(conll_lengths(BATCH_SIZE * 4 * BATCHES, SEED), SEED)
    gaps = mask(Corpus(tuple(sentences)), MASKING, np.random.default_rng(SEED)).corpus
    told = [
        replace(sentence, complete=number % COMPLETE == 0) for number, sentence in enumerate(gaps)
    ]
    objectives = {name: timed(name) for name in OBJECTIVES}
    encoder = next(iter(objectives.values())).model.encoder
    drawn = batches(Examples(told, encoder, number_labels(LABELS)))
    return {
        "batches": len(drawn),
        "rounds": rounds,
        "objectives": in_turns(objectives, drawn, rounds),
    }


def as_markdown(results: dict[str, Any]) -> str:
    """The results as a table."""
    lines = [
        "# What a CRF costs",
        "",
        f"Written by `python -m benchmarks.crf_cost`: BIOES, {TYPES} types, "
        f"{results['batches']} batches of {BATCH_SIZE}, {results['rounds']} rounds, "
        f"objectives in turns, seed {SEED}. The share is that of the whole step, means over all "
        "steps.",
        "",
        *table(
            ("objective", "ms a step", "ms of the CRF", "share", "target"),
            [
                (name, f"{of['step_milliseconds']:.0f}", f"{of['loss_milliseconds']:.1f}",
                 f"{of['share']:.1%}", f"≤ {TARGET:.0%}")
                for name, of in results["objectives"].items()
            ],
        ),
        "",
        machine_line(results["machine"]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    run("crf_cost", measure, as_markdown, rounds=5, description=__doc__)
