"""How near the class priors of `pu_learning` come to the truth, on masked CoNLL-2003.

    python -m benchmarks.class_prior ../shared/data [--encoder minilm] [--sentences 3000]

Draws sentences of the training set by a fixed seed, hides entities with a probability of .3, .5 and
.8, estimates the share of words that belongs to each label from what is left, as `pu_learning` does
when no prior is given, and compares with the share in the gold labels. Neither dev nor test is
looked at. The results go to `benchmarks/results/class_prior.{json,md}`.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch

import lacuner
from lacuner import Corpus
from lacuner.corpus.splits import split
from lacuner.encoders import build_encoder
from lacuner.files import write_json
from lacuner.labelling.masking import mask
from lacuner.models.token_tagger import TokenTagger
from lacuner.recipes.class_prior import estimate_priors, labelled_shares
from lacuner.recipes.training_settings import TrainingSettings
from lacuner.training.provenance import versions
from lacuner.training.run_folder import Run

RESULTS = Path(__file__).parent / "results"
RATES = (0.3, 0.5, 0.8)
SEED = 0
ENCODERS: dict[str, dict[str, Any]] = {"bilstm": {}, "minilm": {"freeze": "embeddings"}}


def main() -> None:
    """Measures and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--encoder", choices=list(ENCODERS), default="minilm")
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()
    everything = lacuner.read(options.data / "conll03" / "train_label_true.txt", complete=True)
    gold = split(everything, {"part": options.sentences}, np.random.default_rng(SEED))["part"]
    truth = labelled_shares(gold.vouched(complete=False))
    rates = {}
    for rate in RATES:
        rates[f"{rate:g}"] = measure(gold, truth, rate, options.encoder, options.epochs)
        print(rate, rates[f"{rate:g}"], flush=True)
    results = {
        "what": "class priors estimated from masked CoNLL-2003, by label, against the truth",
        "sentences": len(gold),
        "encoder": options.encoder,
        "epochs": options.epochs,
        "seed": SEED,
        "truth": truth,
        "rates": rates,
        "versions": versions(),
    }
    write_json(results, RESULTS / "class_prior.json")
    (RESULTS / "class_prior.md").write_text(as_markdown(results), "utf-8")


def measure(
    gold: Corpus, truth: dict[str, float], rate: float, encoder: str, epochs: int
) -> dict[str, Any]:
    """Hides labels and estimates the priors from the rest."""
    masked = mask(gold, rate, np.random.default_rng(SEED)).corpus
    training = replace(TrainingSettings(), epochs=epochs, seed=SEED)
    begin = perf_counter()

    def tagger(stage: str) -> TokenTagger:
        torch.manual_seed(SEED)
        built = build_encoder(encoder, masked.sentences, **ENCODERS[encoder])
        return TokenTagger(built, masked.labels, scheme="io")

    with tempfile.TemporaryDirectory() as folder:
        run = Run.create(Path(folder) / "run", "class_prior", {}, masked, None)
        estimate = estimate_priors(masked, tagger, training, run)
    return {
        "labelled": labelled_shares(masked),
        "estimate": estimate,
        "ratio": {label: estimate[label] / truth[label] for label in truth},
        "ratio_of_all": sum(estimate.values()) / sum(truth.values()),
        "seconds": perf_counter() - begin,
    }


def as_markdown(results: dict[str, Any]) -> str:
    """The results as a table."""
    labels = list(results["truth"])
    rows = [
        ("", *labels, "all"),
        ("---",) * (len(labels) + 2),
        _row("truth", results["truth"], labels),
    ]
    for rate, found in results["rates"].items():
        rows.append(_row(f"labelled, p = {rate}", found["labelled"], labels))
        rows.append(_row(f"estimate, p = {rate}", found["estimate"], labels))
    lines = [
        "# Class priors from incomplete labels",
        "",
        f"Written by `python -m benchmarks.class_prior`: {results['sentences']:,} sentences of "
        f"CoNLL-2003's training set, {results['encoder']}, {results['epochs']} epochs, seed "
        f"{results['seed']}. Shares of words in entities of each label; p is the share of entities "
        "that was hidden.",
        "",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _row(name: str, shares: dict[str, float], labels: list[str]) -> tuple[str, ...]:
    values = [shares[label] for label in labels]
    return (name, *(f"{value:.4f}" for value in (*values, sum(values))))


if __name__ == "__main__":
    main()
