"""The noise-robust loss against its formulas: value, gradient, ablations, degenerate batches."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from lacuner import Sentence
from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.span_features import band_mask
from lacuner.objectives.nrces import NoiseRobustCrossEntropy
from tests.neural import batch_of, output_of, sentence

LABELS = ("LOC", "PER")
EPOCH, W = 3, 2.0
BETA = math.exp(-(EPOCH + 1) / W)  # the loop counts epochs from 0


def _rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _case(*sentences: Sentence, widths: int = 1) -> tuple[Output, Batch]:
    batch = replace(batch_of(sentences, LABELS), epoch=EPOCH)
    words = batch.outside.shape[1]
    scores = torch.randn(len(sentences), words, widths, 3, generator=_rng(1)).requires_grad_()
    return output_of(scores, band_mask(batch.lengths, words, widths)), batch


def _ce(scores: Tensor, label: int) -> Tensor:
    return -scores.log_softmax(-1)[label]


def _cs(scores: Tensor, label: int, sign: str) -> Tensor:
    bounded = torch.sigmoid(scores[label])
    bounded = 1 - bounded if sign == "minus" else bounded
    return BETA * _ce(scores, label) + (1 - BETA) * bounded


@pytest.mark.parametrize("sign", ["minus", "printed"])
@pytest.mark.parametrize("positives", ["ce", "cs", "ce+cs"])
@pytest.mark.parametrize("negatives", ["ce", "cs", "ce+cs"])
def test_loss_is_the_formula_for_every_ablation(sign: str, positives: str, negatives: str) -> None:
    output, batch = _case(sentence(2, [(0, 1, "PER")]))
    objective = NoiseRobustCrossEntropy(
        w=W, sign=sign, keep=1, positives=positives, negatives=negatives
    )
    expected = torch.zeros(())
    for terms, scores, label in (
        (positives, output.scores[0, 0, 0], 2),
        (negatives, output.scores[0, 1, 0], 0),
    ):
        if "ce" in terms.split("+"):
            expected = expected + _ce(scores, label)
        if "cs" in terms.split("+"):
            expected = expected + _cs(scores, label, sign)
    loss = objective(output, batch, _rng())
    assert loss.total.item() == pytest.approx(expected.item(), rel=1e-5)
    assert sum(loss.parts.values()) == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize(("sign", "direction"), [("minus", -1), ("printed", 1)])
def test_gradient_of_a_negative_is_the_closed_form(sign: str, direction: int) -> None:
    output, batch = _case(sentence(1))
    loss = NoiseRobustCrossEntropy(w=W, sign=sign, keep=1)(output, batch, _rng())
    (gradient,) = torch.autograd.grad(loss.total, output.scores)
    scores = output.scores.detach()[0, 0, 0]
    expected = BETA * scores.softmax(-1)
    pull = scores[0].sigmoid()
    expected[0] += -BETA + direction * (1 - BETA) * pull * (1 - pull)
    torch.testing.assert_close(gradient[0, 0, 0], expected)


def test_first_epoch_is_cross_entropy_where_it_counts_as_0() -> None:
    output, batch = _case(sentence(2, [(0, 1, "PER")]))
    first = replace(batch, epoch=0)
    loss = NoiseRobustCrossEntropy(keep=1, first=0)(output, first, _rng())
    expected = _ce(output.scores[0, 0, 0], 2) + _ce(output.scores[0, 1, 0], 0)
    assert loss.total.item() == pytest.approx(expected.item(), rel=1e-5)


def test_about_the_asked_share_of_the_negatives_is_used_and_every_entity() -> None:
    output, batch = _case(sentence(2000, [(7, 8, "PER")]))
    batch = replace(batch, hidden=torch.tensor([[0, 3, 4]]))
    loss = NoiseRobustCrossEntropy(keep=0.5)(output, batch, _rng())
    assert 900 < loss.counts["drawn"] < 1100
    (gradient,) = torch.autograd.grad(loss.total, output.scores)
    assert gradient[0, 7].any()
    assert int(gradient.any(-1).sum()) == loss.counts["drawn"] + 1


def test_trusted_negatives_learn_by_plain_cross_entropy() -> None:
    complete = replace(sentence(1), complete=True)
    output, batch = _case(complete)
    trusting = NoiseRobustCrossEntropy(w=W, keep=0)(output, batch, _rng())
    assert trusting.total.item() == pytest.approx(_ce(output.scores[0, 0, 0], 0).item())
    other = NoiseRobustCrossEntropy(w=W, keep=1, trust=False)(output, batch, _rng())
    assert other.total.item() == pytest.approx(_cs(output.scores[0, 0, 0], 0, "minus").item())


@pytest.mark.parametrize(
    "sentences",
    [(sentence(1),), (sentence(1, [(0, 1, "PER")]),), (sentence(3), sentence(1))],
    ids=["one word", "only an entity", "no entity"],
)
def test_degenerate_batches_have_a_finite_loss_and_gradient(
    sentences: tuple[Sentence, ...],
) -> None:
    output, batch = _case(*sentences, widths=2)
    for keep in (0.0, 0.5, 1.0):
        loss = NoiseRobustCrossEntropy(keep=keep)(output, batch, _rng())
        (gradient,) = torch.autograd.grad(loss.total, output.scores)
        assert loss.total.isfinite() and gradient.isfinite().all()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"w": 0}, "w must be above 0"),
        ({"keep": 2}, "between 0 and 1"),
        ({"sign": "minos"}, "mean minus"),
        ({"negatives": "sc"}, "There are: ce, cs"),
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        NoiseRobustCrossEntropy(**wrong)
