"""CoNLL-2003, all of train, supervised, the default encoder and settings: three seeds.

    python -m benchmarks.conll_supervised ../shared/data --runs RUNS [--seeds 1 2 3]

Each seed is a run folder under RUNS; a run that was killed goes on, a finished one is not repeated.
The model is chosen on dev, and test is scored once. Rows go to benchmarks/results/, and the
learning curves of all of them to docs/conll_supervised.svg.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import orjson

import lacuner
from lacuner.corpus.alignment import aligned
from lacuner.evaluation import plots
from lacuner.evaluation.curves import Curve, thinned
from lacuner.evaluation.scores import Score, score_entities
from lacuner.files import write_json
from lacuner.training.provenance import versions
from lacuner.training.run_folder import Run

RESULTS = Path(__file__).parent / "results" / "conll_supervised.jsonl"
FIGURE = Path(__file__).parents[1] / "docs" / "conll_supervised.svg"


def main() -> None:
    """Trains what is missing and writes all rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options = parser.parse_args()
    for seed in options.seeds:
        row = run_seed(options.data / "conll03", options.runs / f"conll-supervised-{seed}", seed)
        keep(row)
        print(orjson.dumps(row).decode(), flush=True)
    draw()


def run_seed(data: Path, folder: Path, seed: int) -> dict[str, Any]:
    """Trains one seed, or goes on with it, and scores dev and test."""
    facts = folder / "result.json"
    if facts.exists():
        finished: dict[str, Any] = orjson.loads(facts.read_bytes())
        return finished
    train, dev, test = (
        lacuner.read(data / f"{part}_label_true.txt", complete=True)
        for part in ("train", "valid", "test")
    )
    begin = time.perf_counter()
    recogniser = lacuner.train(
        train,
        "supervised",
        dev=dev,
        out=folder,
        settings={"training": {"seed": seed}},
        resume=folder.exists(),
        listeners=[_say],
    )
    seconds = time.perf_counter() - begin
    curve = Curve.of(Run(folder).metrics())
    row = {
        "study": "conll-supervised",
        "profile": "default",
        "corpus": "conll03",
        "masking": 0.0,
        "recipe": "supervised",
        "encoder": "minilm",
        "seed": seed,
        "train_sentences": len(train),
        "selected_on": "dev",
        "dev": _score(score_entities(aligned(recogniser.predict(dev), dev)).total),
        "test": _score(score_entities(aligned(recogniser.predict(test), test)).total),
        "missampling": None,
        "seconds": seconds,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "version": versions(),
        "settings": (folder / "settings.toml").read_text("utf-8"),
        "curve": {"dev": curve.f1, "loss": thinned(curve.loss, most=80)},
    }
    write_json(row, facts)
    return row


def keep(row: dict[str, Any]) -> None:
    """Puts a row into the results, in place of an older one of the same seed."""
    rows = (
        [orjson.loads(line) for line in RESULTS.read_bytes().splitlines()]
        if RESULTS.exists()
        else []
    )
    rows = sorted([r for r in rows if r["seed"] != row["seed"]] + [row], key=lambda r: r["seed"])
    RESULTS.write_bytes(b"".join(orjson.dumps(r) + b"\n" for r in rows))


def draw() -> None:
    """Draws the learning curves of all rows."""
    rows = [orjson.loads(line) for line in RESULTS.read_bytes().splitlines()]
    curves = {
        f"seed {row['seed']}": Curve(
            tuple(tuple(point) for point in row["curve"]["loss"]),
            tuple(tuple(point) for point in row["curve"]["dev"]),
        )
        for row in rows
    }
    plots.save(
        plots.curve_figure(curves, title="CoNLL-2003, supervised, default settings"),
        FIGURE,
        overwrite=True,
    )


def _score(score: Score) -> dict[str, float]:
    return {"p": score.precision, "r": score.recall, "f1": score.f1}


def _say(stage: str, event: Any) -> None:
    if hasattr(event, "score"):
        print(f"{stage}: epoch {event.epoch:g}: dev F1 {event.score:.4f}", flush=True)


if __name__ == "__main__":
    main()
