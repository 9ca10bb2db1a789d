"""The contrastive loss against a plain loop over its formula, and where it has nothing to say."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from lacuner.errors import UsageError
from lacuner.models.span_features import band_mask
from lacuner.objectives.contrastive import ContrastiveCrossEntropy, contrastive_loss
from lacuner.objectives.negative_sampling import SampledCrossEntropy, UniformSampler
from tests.neural import batch_of, output_of, sentence


def _by_loop(spans: list[list[float]], labels: list[int], tau: float) -> float:
    def cosine(a: list[float], b: list[float]) -> float:
        product = sum(x * y for x, y in zip(a, b, strict=True))
        return product / math.hypot(*a) / math.hypot(*b)

    losses = []
    for number, (span, label) in enumerate(zip(spans, labels, strict=True)):
        mates = [s for other, s in enumerate(spans) if labels[other] == label and other != number]
        others = [s for other, s in enumerate(spans) if labels[other] != label]
        if mates and others:
            below = sum(math.exp(cosine(span, other) / tau) for other in others)
            losses.append(
                -sum(math.log(math.exp(cosine(span, m) / tau) / below) for m in mates) / len(mates)
            )
    return sum(losses) / len(losses)


@pytest.mark.parametrize("labels", [[0, 1, 0, 1, 2], [0, 0, 0, 1, 2], [1, 1, 2, 2, 2]])
@pytest.mark.parametrize("tau", [0.1, 1.0])
def test_loss_is_the_formula(labels: list[int], tau: float) -> None:
    spans = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    found = contrastive_loss(spans, torch.tensor(labels), tau)
    assert found.item() == pytest.approx(_by_loop(spans.tolist(), labels, tau), rel=1e-4)


def test_gradient_agrees_with_differences() -> None:
    spans = torch.randn(
        6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.double, requires_grad=True
    )
    labels = torch.tensor([0, 1, 0, 1, 2, 0])
    assert torch.autograd.gradcheck(lambda x: contrastive_loss(x, labels, 0.5), (spans,))


@pytest.mark.parametrize("labels", [[], [0], [1, 1, 1], [0, 1, 2]])
def test_without_anchors_the_loss_is_zero_and_so_is_its_gradient(labels: list[int]) -> None:
    spans = torch.randn(len(labels), 3, requires_grad=True)
    loss = contrastive_loss(spans, torch.tensor(labels, dtype=torch.long))
    (gradient,) = torch.autograd.grad(loss, spans)
    assert loss.item() == 0
    assert gradient.equal(torch.zeros_like(spans))


def test_equal_representations_have_a_finite_gradient() -> None:
    spans = torch.zeros(4, 3, requires_grad=True)
    loss = contrastive_loss(spans, torch.tensor([0, 0, 1, 1]))
    (gradient,) = torch.autograd.grad(loss, spans)
    assert loss.isfinite() and gradient.isfinite().all()


def _objective(weight: float, scale: float = 1.0) -> ContrastiveCrossEntropy:
    cross = SampledCrossEntropy(UniformSampler(1.0), all_trusted=False)
    return ContrastiveCrossEntropy(cross, weight=weight, scale=scale)


def test_objective_is_the_weighted_sum_over_entities_and_draws() -> None:
    batch = batch_of([sentence(4, [(0, 1, "PER"), (1, 2, "PER")])], ("LOC", "PER"))
    generator = torch.Generator().manual_seed(3)
    scores = torch.randn(1, 4, 1, 3, generator=generator)
    spans: Tensor = torch.randn(1, 4, 1, 5, generator=generator)
    output = replace(output_of(scores, band_mask(batch.lengths, 4, 1)), spans=spans)

    def total(weight: float, scale: float = 1.0) -> float:
        return _objective(weight, scale)(output, batch, torch.Generator()).total.item()

    contrast = contrastive_loss(spans[0, :, 0], torch.tensor([2, 2, 0, 0])).item()
    assert total(1) == pytest.approx(contrast, rel=1e-5)
    assert total(1, 3) == pytest.approx(3 * contrast, rel=1e-5)
    assert total(0.1) == pytest.approx(0.9 * total(0) + 0.1 * contrast, rel=1e-5)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        _objective(1.5)
