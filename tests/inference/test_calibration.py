"""Temperatures find what was done to the scores; the calibration error sees it."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from lacuner.inference.calibration import (
    HIGHEST,
    LOWEST,
    TemperatureFit,
    expected_calibration_error,
    fit_temperature,
    reliability,
)
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.span_features import band_mask
from lacuner.models.token_tagger import TokenTagger
from tests.neural import HashedWords, batch_of, output_of, sentence


def _honest(rows: int = 20_000, classes: int = 4) -> tuple[Tensor, Tensor]:
    """Scores, and targets drawn from their softmax."""
    rng = torch.Generator().manual_seed(0)
    scores = 2 * torch.randn(rows, classes, generator=rng)
    return scores, torch.multinomial(torch.softmax(scores, 1), 1, generator=rng)[:, 0]


def _error(scores: Tensor, targets: Tensor) -> float:
    confidence, best = torch.softmax(scores, 1).max(1)
    return expected_calibration_error(confidence, best == targets)


@pytest.mark.parametrize("heat", [0.3, 1.0, 4.0])
def test_temperature_undoes_a_scaling_of_honest_scores(heat: float) -> None:
    scores, targets = _honest()
    assert fit_temperature(scores * heat, targets) == pytest.approx(heat, rel=0.05)


def test_temperature_is_where_the_likelihood_is_highest() -> None:
    scores, targets = _honest(500)
    fitted = fit_temperature(3 * scores, targets)
    grid = [fitted * math.exp(step / 1000) for step in range(-300, 301)]
    losses = [functional.cross_entropy(3 * scores / t, targets).item() for t in grid]
    best = grid[min(range(len(grid)), key=losses.__getitem__)]
    assert fitted == pytest.approx(best, rel=5e-3)
    assert fit_temperature(3 * scores, targets) == fitted


def test_overconfident_scores_are_mended() -> None:
    scores, targets = _honest()
    before = _error(5 * scores, targets)
    after = _error(5 * scores / fit_temperature(5 * scores, targets), targets)
    assert before > 0.15
    assert after < 0.02


def test_temperature_stays_in_bounds_where_all_or_nothing_is_right() -> None:
    scores = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    assert fit_temperature(scores, torch.tensor([0, 1])) == pytest.approx(LOWEST, rel=0.01)
    assert fit_temperature(scores, torch.tensor([1, 0])) == pytest.approx(HIGHEST, rel=0.01)
    assert fit_temperature(scores[:0], torch.tensor([], dtype=torch.long)) == 1.0


def test_reliability_by_hand() -> None:
    confidence = torch.tensor([0.1, 0.3, 0.9, 0.7, 1.0])
    correct = torch.tensor([False, True, True, False, True])
    found = reliability(confidence, correct, bins=2)
    assert found.count == (2, 3)
    assert found.confidence == pytest.approx((0.2, 2.6 / 3))
    assert found.accuracy == pytest.approx((0.5, 2 / 3))
    assert found.error == pytest.approx((2 * 0.3 + 3 * 0.2) / 5)
    assert expected_calibration_error(torch.tensor([]), torch.tensor([])) == 0.0


def _drawn_spans() -> tuple[SpanClassifier, list[tuple[Tensor, list[tuple[int, int, str]]]]]:
    """Span scores of 300 sentences of six words, and entities drawn from their softmax."""
    rng = torch.Generator().manual_seed(1)
    found = []
    for _ in range(300):
        scores = 1.5 * torch.randn(6, 2, 3, generator=rng)
        labels = torch.multinomial(torch.softmax(scores, -1).reshape(-1, 3), 1, generator=rng)
        numbers = labels.reshape(6, 2)
        entities = [
            (start, start + width + 1, "AB"[int(numbers[start, width]) - 1])
            for start in range(6)
            for width in range(2)
            if numbers[start, width] and start + width < 6
        ]
        found.append((scores, entities))
    return SpanClassifier(HashedWords(), "AB", max_width=2), found


def test_temperature_of_a_span_classifier() -> None:
    model, found = _drawn_spans()
    fit = TemperatureFit(model)
    assert fit.temperature() == 1.0
    for begin in range(0, 300, 100):
        some = found[begin : begin + 100]
        batch = batch_of([sentence(6, entities) for _, entities in some], "AB")
        mask = band_mask(batch.lengths, 6, 2)
        fit.add(output_of(2.5 * torch.stack([scores for scores, _ in some]), mask), batch)
    assert fit.temperature() == pytest.approx(2.5, rel=0.1)


def test_temperature_of_a_crf_is_where_the_likelihood_is_highest() -> None:
    torch.manual_seed(0)
    model = TokenTagger(HashedWords(), "AB", scheme="io", head="crf")
    assert model.crf is not None
    for parameter in model.crf.parameters():
        nn.init.normal_(parameter)
    tags = torch.zeros(40, 6, dtype=torch.long)
    for row in range(40):
        tags[row, row % 5 : row % 5 + 2] = 1 + row % 2
    found = [sentence(6, [(k % 5, k % 5 + 2, "AB"[k % 2])]) for k in range(40)]
    batch = batch_of(found, "AB")
    # Scores that know something, and are too sure of it.
    scores = 4 * torch.randn(40, 6, 3) + 5 * functional.one_hot(tags, 3)
    fit = TemperatureFit(model)
    fit.add(output_of(scores, batch.words), batch)
    fitted = fit.temperature()

    def loss(heat: float) -> float:
        assert model.crf is not None
        every = model.crf.log_partition(scores, batch.words, temperature=heat)
        right = model.crf.score(scores, tags, batch.words, temperature=heat)
        return float((every - right).sum().detach())

    assert 1.1 < fitted < 10
    assert loss(fitted) < min(loss(0.97 * fitted), loss(1.03 * fitted))
