"""A small real training, as a module for the tests and as a process that can be killed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from lacuner import Corpus
from lacuner.corpus.alignment import aligned
from lacuner.demo import gold
from lacuner.evaluation.scores import score_entities
from lacuner.files import written_aside
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models.batching import Examples
from lacuner.models.span_classifier import SpanClassifier
from lacuner.objectives.cross_entropy import SpanCrossEntropy
from lacuner.training import loop
from lacuner.training.processes import is_main
from lacuner.training.run_folder import Run
from tests.neural import HashedWords

SETTINGS: dict[str, Any] = {
    "epochs": 3,
    "batch_size": 8,
    "encoder_rate": 1e-2,
    "head_rate": 1e-2,
    "seed": 5,
    "checkpoint_steps": 4,
    "accumulate": 2,
}


class NoisyWords(HashedWords):
    """Hashed words with dropout, so that a training depends on its random numbers."""

    def __init__(self) -> None:
        super().__init__(width=32, rows=4096)
        self.dropout = nn.Dropout(0.1)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        vectors: Tensor = self.dropout(super().forward(inputs))
        return vectors


def corpus() -> Corpus:
    """Part of the embedded corpus."""
    return gold("train").with_sentences(gold("train").sentences[:120])


def model() -> SpanClassifier:
    """The same model every time."""
    torch.manual_seed(1)
    return SpanClassifier(NoisyWords(), corpus().labels, max_width=4, hidden=32)


def train(
    folder: Path,
    *,
    resume: bool = False,
    stopped: Callable[[], bool] = lambda: False,
    pause: float = 0.0,
    trained: SpanClassifier | None = None,
    objective: Any = None,
    **changes: Any,
) -> SpanClassifier:
    """Trains, and returns the chosen model."""
    torch.set_num_threads(1)
    data = corpus()
    run = Run.create(folder, "tiny", {}, data, None, resume=resume, stopped=stopped)
    stage = run.stage("train")
    trained = trained if trained is not None else model()

    def score() -> tuple[float, dict[str, Any]]:
        predicted = data.with_sentences(NeuralPredictor(trained).predict(data))
        return score_entities(aligned(predicted, data)).total.f1, {}

    examples = Examples(data.sentences, trained.encoder, trained.label_numbers)
    settings = {**SETTINGS, **changes}
    for event in loop.train(
        trained, examples, objective or SpanCrossEntropy(), stage, score=score, **settings
    ):
        stage.record(event)
        time.sleep(pause)
    return trained


def keep(trained: SpanClassifier, path: Path) -> None:
    """Writes the weights, once."""
    if is_main():
        weights = {name: tensor.contiguous() for name, tensor in trained.state_dict().items()}
        with written_aside(path) as aside:
            save_file(weights, aside)


if __name__ == "__main__":
    keep(train(Path(sys.argv[1]), resume=Path(sys.argv[1]).exists(), pause=0.01), Path(sys.argv[2]))
