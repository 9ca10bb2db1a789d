"""What half precision (bfloat16) is worth: steps of training, and predictions, in turns.

    python -m benchmarks.half_precision [--rounds 5] [--threads 1]

MiniLM with frozen word embeddings, batches of 16 sentences of CoNLL-2003's lengths. The encoder
computes in single or in half precision (`training.precision`), but for its attention
(`lacuner.encoders.attention`), or attention too; weights, heads and losses are single in all.
Whether a processor is faster by it depends on its instructions (AVX512-BF16, AMX).
"""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
import torch

from benchmarks.neural_material import conll_lengths, machine_line, sentences_of, table
from benchmarks.timed_loss import TimedLoss, run
from benchmarks.training_step import BATCH_SIZE, BATCHES, batches
from benchmarks.training_step_models import SEED, WIDEST
from lacuner import demo
from lacuner.encoders import build_encoder
from lacuner.models import Model
from lacuner.models.batch import Batch
from lacuner.models.batching import Examples
from lacuner.models.label_numbers import number_labels
from lacuner.models.precision import compute_in
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.cross_entropy import CrfLikelihood, SpanCrossEntropy

PRECISIONS = ("no", "bf16", "bf16 throughout")
_SAME = {"training": 1.0, "prediction": 1.0}
KINDS = ("span classifier", "token tagger with a CRF")


def timed(kind: str, precision: str) -> TimedLoss:
    """A model whose encoder computes in a precision, and its loss."""
    torch.manual_seed(SEED)
    encoder = build_encoder("minilm", (), freeze="embeddings")
    if kind == KINDS[0]:
        spans = SpanClassifier(encoder, demo.LABELS, max_width=WIDEST)
        made = TimedLoss(spans, SpanCrossEntropy())
    else:
        tagger = TokenTagger(encoder, demo.LABELS, scheme="bioes", head="crf")
        made = TimedLoss(tagger, CrfLikelihood(tagger))
    half, *throughout = precision.split(maxsplit=1)
    compute_in(made.model, half)
    if throughout:
        encoder.model.set_attn_implementation("sdpa")
    return made


def predicting(model: Model, batch: Batch) -> float:
    """Seconds of the processor for the scores of a batch."""
    model.eval()
    begin = process_time()
    with torch.inference_mode():
        model(batch)
    seconds = process_time() - begin
    model.train()
    return seconds


def training(timed_loss: TimedLoss, batch: Batch) -> float:
    """Seconds of the processor for a step."""
    begin = process_time()
    timed_loss.step(batch)
    return process_time() - begin


def measure(rounds: int) -> dict[str, Any]:
    """All kinds and precisions in turns on the same batches; the first round warms up."""
    sentences = sentences_of(conll_lengths(BATCH_SIZE * 4 * BATCHES, SEED), SEED)
    models = {kind: {which: timed(kind, which) for which in PRECISIONS} for kind in KINDS}
    encoder = models[KINDS[0]][PRECISIONS[0]].model.encoder
    drawn = batches(Examples(sentences, encoder, number_labels(demo.LABELS)))
    shape = (2, len(PRECISIONS), rounds + 1, len(drawn))
    times = {kind: np.zeros(shape) for kind in KINDS}
    for turn in range(rounds + 1):
        for place, batch in enumerate(drawn):
            for kind, by_precision in models.items():
                for column, one in enumerate(by_precision.values()):
                    times[kind][0, column, turn, place] = training(one, batch)
                    times[kind][1, column, turn, place] = predicting(one.model, batch)
        print(f"… round {turn} of {rounds}", flush=True)
    medians = {kind: np.median(of[:, :, 1:], axis=2).sum(-1) for kind, of in times.items()}
    return {
        "batches": len(drawn),
        "rounds": rounds,
        "times_as_fast": {
            kind: {
                precision: dict(zip(("training", "prediction"), faster.tolist(), strict=True))
                for precision, faster in zip(PRECISIONS[1:], (of[:, :1] / of[:, 1:]).T, strict=True)
            }
            for kind, of in medians.items()
        },
        "step_milliseconds": {
            kind: dict(zip(PRECISIONS, (1000 * of[0] / len(drawn)).tolist(), strict=True))
            for kind, of in medians.items()
        },
    }


def as_markdown(results: dict[str, Any]) -> str:
    """The results as a table."""
    lines = [
        "# What half precision is worth",
        "",
        "Written by `python -m benchmarks.half_precision`: how many times as fast a step of "
        "training, and a prediction, is when the encoder (MiniLM) computes in bfloat16, but for "
        "its attention, and where attention does so, too. "
        f"{results['batches']} batches of {BATCH_SIZE}, each batch's median of "
        f"{results['rounds']} rounds, in turns; seconds are those of the processor.",
        "",
        *table(
            ("model", "encoder", "training", "prediction", "ms a step"),
            [
                (
                    kind,
                    precision,
                    *(f"{value:.2f}" for value in faster.get(precision, _SAME).values()),
                    f"{results['step_milliseconds'][kind][precision]:.0f}",
                )
                for kind, faster in results["times_as_fast"].items()
                for precision in PRECISIONS
            ],
        ),
        "",
        machine_line(results["machine"]),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    run("half_precision", measure, as_markdown, rounds=5, description=__doc__)
