"""One run of a study, in a process of its own: `python -m lacuner.experiments.worker`.

The job comes in by standard input; what happens goes out as JSON lines on standard output; the row
goes to the results. Memory and crashes are the run's own. When the bench is gone, or somebody
interrupts, the run saves its state and ends; the next one goes on from there.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

import numpy as np
import orjson
import torch
from accelerate import Accelerator

from lacuner.corpus.alignment import aligned
from lacuner.corpus.sentence import Corpus
from lacuner.errors import LacunerError, UsageError
from lacuner.evaluation.bootstrap import sentence_counts
from lacuner.evaluation.scores import Score
from lacuner.experiments.clock import Clock
from lacuner.experiments.job import BUSY, INTERRUPTED, Job
from lacuner.experiments.material import read_material, with_gaps
from lacuner.experiments.probes import (
    Snapshots,
    choose_in_gold,
    choose_in_train,
    look_at,
    o_values_by_epoch,
    probabilities_by_epoch,
)
from lacuner.experiments.results import Counts, Results, Row
from lacuner.inference.predictor import NeuralPredictor
from lacuner.inference.recogniser import Recogniser
from lacuner.labelling.masking import Masked
from lacuner.models.precision import precision_on
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.token_tagger import TokenTagger
from lacuner.recipes.training import train
from lacuner.refilling.outcome import FOLDER, read_gaps
from lacuner.training.loop import Interrupted
from lacuner.training.provenance import versions
from lacuner.training.removed_words import SUMMARY, read_summary
from lacuner.training.run_folder import Run

Figures = dict[str, float]

_SAID = 0.2  # seconds between two lines about the step


class Reporter:
    """Tells the bench how far the run is; asks the run to stop when nobody listens any more."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._last = 0.0
        self.stopping = False

    def __call__(self, stage: str, event: Any) -> None:
        """Passes on an event of the loop."""
        if hasattr(event, "score"):
            self.say({"stage": stage, "dev": event.score, "epoch": event.epoch})
        elif hasattr(event, "steps"):
            now = time.monotonic()
            if now - self._last > _SAID:
                self._last = now
                self.say({"stage": stage, "done": event.step / event.steps, "epoch": event.epoch})

    def say(self, message: dict[str, Any]) -> None:
        """One line."""
        try:
            self._out.write(orjson.dumps(message) + b"\n")
            self._out.flush()
        except OSError:
            self.stopping = True

    def hear(self, number: int, frame: FrameType | None) -> None:
        """A signal handler: finish the step, save, stop."""
        self.stopping = True


def make_run(job: Job, reporter: Reporter) -> None:
    """Trains, or goes on training; scores dev and test; writes the row.

    Raises:
        LacunerError: Whatever went wrong.
    """
    material = read_material(
        job.corpus,
        None if job.data is None else Path(job.data),
        train_sentences=job.train_sentences,
        dev_sentences=job.dev_sentences,
        sample_seed=job.sample_seed,
    )
    if material.fingerprints() != job.fingerprints:
        raise UsageError(f"The files of the corpus {job.corpus.name} changed meanwhile.")
    masked = with_gaps(material.train, job.masking, job.seed)
    folder = Path(job.folder) / "run"
    clock = Clock(Path(job.folder) / "clock.json")
    snapshots = Snapshots(folder, Path(job.folder) / "epochs") if job.probe else None
    recogniser = train(
        material.train if masked is None else masked.corpus,
        job.recipe,
        dev=material.dev,
        out=folder,
        settings=job.settings,
        resume=folder.exists(),
        listeners=[clock, reporter, *([snapshots] if snapshots else [])],
        stopped=lambda: reporter.stopping,
        hidden=None if masked is None else masked.hidden,
    )
    clock.note()
    seconds, processor_seconds = clock.seconds, clock.processor_seconds
    metrics = Run(folder).metrics()
    shown = ("epoch", "dev", "unshifted")
    curve = [{key: row[key] for key in shown if key in row} for row in metrics if "dev" in row]
    test, counts, test_unshifted = _scored(recogniser, material.test)
    dev, _, dev_unshifted = (
        (None, None, None) if material.dev is None else _scored(recogniser, material.dev)
    )
    row: Row = {
        **job.facts,
        "train_sentences": len(material.train),
        "dev_sentences": 0 if material.dev is None else len(material.dev),
        "selected_on": "dev" if curve else "none",
        "dev": dev,
        "test": test,
        "offset": getattr(recogniser.predictor, "offset", None),
        "unshifted": {"dev": dev_unshifted, "test": test_unshifted},
        "missampling": missampling(metrics),
        "seconds": seconds,
        "processor_seconds": processor_seconds,
        "stages": clock.stages,
        "removed": removed_words(folder),
        "refilled": refilled_gaps(folder),
        "peak_mb": clock.peak_mb,
        "threads": torch.get_num_threads(),
        "computed_in": computed_in(job),
        "version": versions(),
        "curve": curve,
    }
    results = Results(Path(job.results))
    if snapshots is not None:
        _probe(job, recogniser, snapshots, masked, material.test, results)
    results.append(row, counts)
    reporter.say({"row": {"test": test, "seconds": seconds}})


def _probe(
    job: Job,
    recogniser: Recogniser,
    snapshots: Snapshots,
    masked: Masked | None,
    test: Corpus,
    results: Results,
) -> None:
    """Looks into a finished run: spans or words of train by epoch, vectors of test spans."""
    predictor = recogniser.predictor
    if not isinstance(predictor, NeuralPredictor):
        return
    if isinstance(predictor.model, TokenTagger) and masked is not None and snapshots.epochs():
        results.add_probe(job.run, o_values_by_epoch(predictor, masked, snapshots.epochs()))
    if not isinstance(predictor.model, SpanClassifier):
        return
    widest = predictor.model.max_width
    if masked is not None and snapshots.epochs():
        chosen = choose_in_train(masked, widest, np.random.default_rng(job.seed))
        followed = probabilities_by_epoch(predictor, chosen, snapshots.epochs())
        results.add_probe(job.run, followed)
    if job.vectors:
        chosen = choose_in_gold(test, widest, np.random.default_rng(job.seed))
        vectors = look_at(predictor, chosen)[1]
        if vectors is not None:
            results.add_vectors(job.run, vectors, chosen.groups)


def computed_in(job: Job) -> str | None:
    """What `training.precision` is on this machine; None where no network is trained."""
    wanted = job.settings.get("training", {}).get("precision")
    return None if wanted is None else precision_on(Accelerator().device, wanted)


def removed_words(run: Path) -> Row | None:
    """What a run with an exploration says of the words that it left out; None for others."""
    explored = run / "stages" / "explore"
    return read_summary(explored) if (explored / SUMMARY).exists() else None


def refilled_gaps(run: Path) -> Row | None:
    """What a run that put labels back says of its gaps and rounds; None for others."""
    return read_gaps(run) if (run / FOLDER).exists() else None


def missampling(metrics: list[Row]) -> list[float] | None:
    """The share of missampled negatives of each epoch; None where nothing was drawn or known."""
    rates = [row["missampled"] / row["drawn"] for row in metrics if row.get("drawn")
             and "missampled" in row]  # fmt: skip
    return rates or None


def _scored(recogniser: Recogniser, gold: Corpus) -> tuple[Figures, Counts, Figures | None]:
    """Scores with the run's own offset, their counts, and scores of the same model without it."""
    predictor = recogniser.predictor
    if not isinstance(predictor, NeuralPredictor) or not predictor.offset:
        return *figures(recogniser.predict(gold), gold), None
    own, unshifted = (
        gold.with_sentences(found)
        for found in predictor.predict_at(gold.sentences, (predictor.offset, 0.0))
    )
    return *figures(own, gold), figures(unshifted, gold)[0]


def figures(predicted: Corpus, gold: Corpus) -> tuple[Figures, Counts]:
    """Precision, recall and F1, and the counts of each sentence."""
    counts = sentence_counts(aligned(predicted, gold))
    right, found, true = (int(count) for count in counts.sum(axis=0))
    score = Score(right, found, true)
    return {"p": score.precision, "r": score.recall, "f1": score.f1}, counts


@contextmanager
def _alone(job: Job) -> Iterator[bool]:
    """Holds the run's lock; false when another process does."""
    job.lock.parent.mkdir(parents=True, exist_ok=True)
    with open(job.lock, "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def main() -> int:
    """Makes the run that standard input describes; returns the exit code."""
    # Whatever prints must not mix with what is said to the bench.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    reporter = Reporter(out)
    job = Job.from_json(sys.stdin.buffer.read())
    signal.signal(signal.SIGINT, reporter.hear)
    with _alone(job) as alone:
        if not alone:
            return BUSY
        if job.run not in Results(Path(job.results)).finished():
            try:
                make_run(job, reporter)
            except Interrupted:
                return INTERRUPTED
            except LacunerError as error:
                reporter.say({"failed": str(error)})
                return error.exit_code
        if not job.keep:
            shutil.rmtree(job.folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
