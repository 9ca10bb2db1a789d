"""Three choices of the default encoder, measured on CoNLL-2003: dev only, test is not looked at.

    python -m benchmarks.encoder_choices ../shared/data --runs RUNS
    python -m benchmarks.encoder_choices ../shared/data --runs RUNS --windows RUN

The first trains `supervised` on 1,500 sentences that a fixed seed draws, four epochs, seeds 1 to 3,
with one thing changed at a time: the shape of words (off, at the input, at the output), and the
dropout within attention that the checkpoint came with, in place of none. Each run is a folder under
RUNS: a killed one goes on, a finished one is not repeated.

The second takes a finished run, puts the sentences of dev together to long ones, and asks how much
windows should overlap. Results go to benchmarks/results/.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, stdev
from typing import Any
from unittest.mock import patch

import numpy as np

import lacuner
from lacuner.corpus.alignment import aligned
from lacuner.corpus.sentence import Corpus, Entity, Sentence
from lacuner.corpus.splits import split
from lacuner.encoders import pretrained
from lacuner.evaluation.scores import score_entities
from lacuner.files import write_json
from lacuner.inference.predictor import NeuralPredictor
from lacuner.inference.saved_model import load_model
from lacuner.training.provenance import versions

RESULTS = Path(__file__).parent / "results"
SEEDS = (1, 2, 3)
SENTENCES, EPOCHS = 1500, 4
CHOICES: dict[str, dict[str, Any]] = {
    "default: shape at the input, no attention dropout": {"shape": "input"},
    "shape off": {"shape": "off"},
    "shape at the output": {"shape": "output"},
    "attention dropout of the checkpoint": {"shape": "input"},
}
LONG = 600  # words of a long sentence
WINDOWS = (128, 512)  # pieces of a window; 512 is the default and the most that MiniLM can read
OVERLAPS = (0, 0.1, 0.25, 0.5)


def main() -> None:
    """Measures what is missing and writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--windows", type=Path, metavar="RUN")
    options = parser.parse_args()
    dev = lacuner.read(options.data / "conll03" / "valid_label_true.txt", complete=True)
    if options.windows:
        measure_windows(options.windows, dev)
    else:
        measure_choices(options.data, options.runs, dev)


def measure_choices(data: Path, runs: Path, dev: Corpus) -> None:
    """Trains each choice with each seed."""
    everything = lacuner.read(data / "conll03" / "train_label_true.txt", complete=True)
    part = split(everything, {"part": SENTENCES}, np.random.default_rng(0))["part"]
    found: dict[str, list[float]] = {name: [] for name in CHOICES}
    for seed in SEEDS:
        for number, (name, encoder) in enumerate(CHOICES.items()):
            folder = runs / f"encoder-choice-{number}-{seed}"
            settings = {"encoder": encoder, "training": {"seed": seed, "epochs": EPOCHS}}
            with _attention_dropout(kept=name.startswith("attention")):
                recogniser = lacuner.train(
                    part, "supervised", out=folder, settings=settings, resume=folder.exists()
                )
            found[name].append(score_entities(aligned(recogniser.predict(dev), dev)).total.f1)
            print(seed, name, f"{found[name][-1]:.4f}", flush=True)
    write_json(
        {
            "what": "dev F1 of the last model, CoNLL-2003, supervised",
            "train_sentences": len(part),
            "epochs": EPOCHS,
            "seeds": list(SEEDS),
            "f1": found,
            "mean": {name: mean(values) for name, values in found.items()},
            "deviation": {name: stdev(values) for name, values in found.items()},
            "versions": versions(),
        },
        RESULTS / "encoder_choices.json",
    )


@contextmanager
def _attention_dropout(*, kept: bool) -> Iterator[None]:
    if not kept:
        yield
        return
    with patch.object(pretrained, "_keep_all_attention", lambda config: None):
        yield


def measure_windows(run: Path, dev: Corpus) -> None:
    """Scores one model on long sentences with several windows and overlaps."""
    model: Any = load_model(run / "model")
    encoder = model.encoder
    long = dev.with_sentences(_joined(dev))
    found: dict[str, dict[str, float]] = {}
    for window in WINDOWS:
        encoder.window = window
        by_share = found.setdefault(f"window of {window}", {})
        for share in OVERLAPS:
            encoder.overlap = int(share * (window - encoder.subwords.specials))
            predicted = long.with_sentences(NeuralPredictor(model).predict(long))
            by_share[f"{share:g}"] = score_entities(aligned(predicted, long)).total.f1
            print(window, share, f"{by_share[f'{share:g}']:.4f}", flush=True)
    write_json(
        {
            "what": (
                f"dev F1 of one supervised CoNLL-2003 model on its dev sentences put together to "
                f"{LONG} words, by the pieces of a window and the share of it that it has in "
                "common with the next"
            ),
            "long_sentences": len(long),
            "f1": found,
            "versions": versions(),
        },
        RESULTS / "window_overlap.json",
    )


def _joined(corpus: Corpus) -> Iterator[Sentence]:
    """Neighbouring sentences as one, each of at least `LONG` words but the last."""
    words: list[str] = []
    entities: list[Entity] = []
    for number, sentence in enumerate(corpus):
        at = len(words)
        words += sentence.tokens
        entities += [Entity(e.start + at, e.end + at, e.label) for e in sentence.entities]
        if len(words) >= LONG or number == len(corpus) - 1:
            yield Sentence(f"long-{number}", tuple(words), tuple(entities), complete=True)
            words, entities = [], []


if __name__ == "__main__":
    main()
