"""Does the shape of words help an uncased encoder? CoNLL-2003, part of train, three seeds.

    python -m benchmarks.word_shape ../shared/data --runs RUNS

Trains `supervised` with encoder.shape = off, input and output on the first 1,500 sentences that a
fixed seed draws, four epochs, and scores the first 1,000 sentences of dev. Test is not looked at.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import orjson

import lacuner
from lacuner.corpus.alignment import aligned
from lacuner.corpus.splits import split
from lacuner.evaluation.scores import score_entities
from lacuner.files import write_json
from lacuner.training.run_folder import versions

RESULTS = Path(__file__).parent / "results" / "word_shape.json"
SHAPES = ("off", "input", "output")
SEEDS = (1, 2, 3)
SENTENCES = 1500
EPOCHS = 4


def main() -> None:
    """Trains what is missing and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--runs", type=Path, required=True)
    options = parser.parse_args()
    data = options.data / "conll03"
    everything = lacuner.read(data / "train_label_true.txt", complete=True)
    part = split(everything, {"part": SENTENCES}, np.random.default_rng(0))["part"]
    valid = lacuner.read(data / "valid_label_true.txt", complete=True)
    dev = valid.with_sentences(valid.sentences[:1000])
    found: dict[str, list[float]] = {shape: [] for shape in SHAPES}
    for seed in SEEDS:
        for shape in SHAPES:
            folder = options.runs / f"shape-{shape}-{seed}"
            settings: dict[str, Any] = {
                "encoder": {"shape": shape},
                "training": {"seed": seed, "epochs": EPOCHS},
            }
            recogniser = lacuner.train(
                part, "supervised", out=folder, settings=settings, resume=folder.exists()
            )
            f1 = score_entities(aligned(recogniser.predict(dev), dev)).total.f1
            found[shape].append(f1)
            print(seed, shape, f"{f1:.4f}", flush=True)
    write_json(
        {
            "what": "dev F1 (first 1,000 sentences), last model, CoNLL-2003",
            "train_sentences": len(part),
            "epochs": EPOCHS,
            "seeds": list(SEEDS),
            "f1": found,
            "mean": {shape: mean(values) for shape, values in found.items()},
            "deviation": {shape: stdev(values) for shape, values in found.items()},
            "versions": versions(),
        },
        RESULTS,
    )
    print(orjson.dumps({shape: mean(values) for shape, values in found.items()}).decode())


if __name__ == "__main__":
    main()
