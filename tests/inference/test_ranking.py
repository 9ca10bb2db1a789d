"""By what overlapping spans compete: their probability, or the raw score of their label."""

from __future__ import annotations

from pathlib import Path

import torch

from lacuner.inference.decode import decode_spans
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models.span_classifier import SpanClassifier
from tests.neural import HashedWords, output_of


def test_spans_compete_by_probability_or_by_score() -> None:
    scores = torch.full((1, 2, 2, 2), -9.0)
    scores[..., 0] = 0.0
    scores[0, 0, 0] = torch.tensor([-3.0, 1.0])  # the more probable
    scores[0, 0, 1] = torch.tensor([3.0, 5.0])  # the higher score
    mask = torch.tensor([[[True, True], [True, False]]])
    output = output_of(scores, mask)
    by_chance, by_score = (
        [e.key for e in decode_spans(output, ("A",), ranking=ranking)[0]]
        for ranking in ("probability", "score")
    )
    assert by_chance == [(0, 1, "A")]
    assert by_score == [(0, 2, "A")]


def test_ranking_is_saved_with_the_model(tmp_path: Path) -> None:
    model = SpanClassifier(HashedWords(), ("A",))
    NeuralPredictor(model, ranking="score").save(tmp_path / "model")
    assert '"ranking": "score"' in (tmp_path / "model" / "predictor.json").read_text()
