"""Can a dev set with gaps choose the offset? Measured on masked CoNLL-2003.

    python -m benchmarks.gapped_dev DATA --run RUN

Trains `nrces` on 3,000 sentences with 80 % of the labels hidden (or takes the model that is in RUN
from the last time), then hides labels of 1,000 dev sentences, too, with a probability of .5, .8 and
.9, three times each. An offset is chosen against what is left, once by √(P·R), as Lacuner does on
labels with gaps, and once by F1, and both choices are scored on the full dev labels. Test is not
looked at. The results go to `benchmarks/results/gapped_dev.{json,md}`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lacuner
from lacuner import Corpus
from lacuner.corpus.alignment import aligned
from lacuner.corpus.sentence import Sentence
from lacuner.corpus.splits import split
from lacuner.evaluation.scores import Score, score_entities
from lacuner.files import write_json
from lacuner.inference.predictor import NeuralPredictor
from lacuner.labelling.masking import mask
from lacuner.recipes.decision_offset import OFFSETS
from lacuner.training.provenance import versions

RESULTS = Path(__file__).parent / "results"
SENTENCES, DEV_SENTENCES, EPOCHS = 3000, 1000, 4
TRAIN_RATE, DEV_RATES, SEEDS = 0.8, (0.5, 0.8, 0.9), (1, 2, 3)

Merit = Callable[[Score], float]
MERITS: dict[str, Merit] = {
    "root": lambda score: math.sqrt(score.precision * score.recall),
    "f1": lambda score: score.f1,
}


def main() -> None:
    """Measures and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--run", type=Path, required=True)
    options = parser.parse_args()
    gold = _part(options.data / "conll03" / "valid_label_true.txt", DEV_SENTENCES)
    predictor = _trained(options.data, options.run)
    found = predictor.predict_at(gold.sentences, OFFSETS)
    truth = [_score(labelled, gold).f1 for labelled in found]
    rows = []
    for rate in DEV_RATES:
        for seed in SEEDS:
            left = mask(gold, rate, np.random.default_rng(seed)).corpus
            scores = [_score(labelled, left) for labelled in found]
            choices = {name: _choice(scores, merit) for name, merit in MERITS.items()}
            rows.append(
                {
                    "masking": rate,
                    "seed": seed,
                    "labels": left.entity_count,
                    "offset": {name: OFFSETS[number] for name, number in choices.items()},
                    "f1": {name: truth[number] for name, number in choices.items()},
                }
            )
    results = {
        "what": "F1 on the full dev labels at offsets chosen on a part of them",
        "labels": gold.entity_count,
        "best": {"offset": OFFSETS[int(np.argmax(truth))], "f1": max(truth)},
        "without": truth[OFFSETS.index(0.0)],
        "rows": rows,
        "versions": versions(),
    }
    write_json(results, RESULTS / "gapped_dev.json")
    text = as_markdown(results)
    (RESULTS / "gapped_dev.md").write_text(text, "utf-8")
    print(text)


def _part(path: Path, sentences: int) -> Corpus:
    everything = lacuner.read(path, complete=True)
    return split(everything, {"part": sentences}, np.random.default_rng(0))["part"]


def _trained(data: Path, run: Path) -> NeuralPredictor:
    gold = _part(data / "conll03" / "train_label_true.txt", SENTENCES)
    corpus = mask(gold, TRAIN_RATE, np.random.default_rng(1)).corpus
    settings = {"training": {"epochs": EPOCHS, "seed": 1}}
    recogniser = lacuner.train(corpus, "nrces", out=run, settings=settings, resume=run.exists())
    predictor = recogniser.predictor
    assert isinstance(predictor, NeuralPredictor)
    return predictor


def _score(labelled: list[Sentence], against: Corpus) -> Score:
    return score_entities(aligned(against.with_sentences(labelled), against)).total


def _choice(scores: list[Score], merit: Merit) -> int:
    """The number of the best offset; of equals the one nearest to 0."""
    return max(range(len(scores)), key=lambda n: (merit(scores[n]), -abs(OFFSETS[n])))


def as_markdown(results: dict[str, Any]) -> str:
    """The results as a table."""
    best = results["best"]
    lines = [
        "# An offset chosen on a dev with gaps",
        "",
        f"Written by `python -m benchmarks.gapped_dev`: `nrces` on {SENTENCES:,} sentences of "
        f"CoNLL-2003 with p = {TRAIN_RATE}, MiniLM, {EPOCHS} epochs, seed 1; {DEV_SENTENCES:,} dev "
        f"sentences with {results['labels']:,} entities. With all of dev's labels the best offset "
        f"is {best['offset']:g} and F1 {100 * best['f1']:.1f}; without an offset F1 is "
        f"{100 * results['without']:.1f}. F1 on all of dev's labels, where the offset was chosen "
        "on those that are left:",
        "",
        "| labels hidden in dev | seed | left | offset by √(P·R) | F1 | offset by F1 | F1 |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in results["rows"]:
        offset, f1 = row["offset"], row["f1"]
        lines.append(
            f"| {row['masking']:g} | {row['seed']} | {row['labels']} | {offset['root']:g} | "
            f"{100 * f1['root']:.1f} | {offset['f1']:g} | {100 * f1['f1']:.1f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
