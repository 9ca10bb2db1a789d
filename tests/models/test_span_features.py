"""Factored heads are the functions that papers write over concatenated vectors."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from lacuner.models.span_features import (
    SPAN_FEATURES,
    BiaffineHead,
    EndpointHead,
    InteractionHead,
    band_mask,
    ends_along_band,
)

WIDTH, CLASSES, HIDDEN, MAX_WIDTH = 5, 4, 6, 3
Case = tuple[nn.Module, list[Tensor], Tensor]


def _double(kind: str) -> nn.Module:
    torch.manual_seed(1)
    return SPAN_FEATURES[kind](WIDTH, CLASSES, MAX_WIDTH, HIDDEN).double()


def _by_hand(head: nn.Module, first: Tensor, last: Tensor, width: int) -> Tensor:
    """The scores of one span, from the concatenated vectors of its first and last word."""
    if isinstance(head, EndpointHead):
        layer = torch.cat([head.start.weight, head.end.weight, torch.eye(HIDDEN).double()], 1)
        inputs = torch.cat([first, last, head.span_width[width]])
        hidden = functional.relu(layer @ inputs + head.start.bias)
        return head.classify.weight @ hidden + head.classify.bias
    if isinstance(head, InteractionHead):
        difference = torch.randn(HIDDEN, WIDTH).double()  # any block W3 gives the same function
        layer = torch.cat(
            [
                head.start.weight - difference,
                head.end.weight + difference,
                difference,
                head.product.weight,
            ],
            1,
        )
        inputs = torch.cat([first, last, first - last, first * last])
        hidden = torch.tanh(layer @ inputs + head.start.bias)
        return head.classify.weight @ hidden + head.classify.bias
    assert isinstance(head, BiaffineHead)
    start = functional.relu(head.start(first))
    end = functional.relu(head.end(last))
    form = head.form.weight.reshape(CLASSES, HIDDEN, HIDDEN)  # class, end, start
    bilinear = torch.einsum("i,cji,j->c", start, form, end)
    return (
        bilinear
        + head.start_term.weight @ start
        + head.start_term.bias
        + head.end_term.weight @ end
    )


@pytest.mark.parametrize("kind", SPAN_FEATURES)
@pytest.mark.parametrize("length", [1, 2, 5])
def test_factored_head_equals_layer_over_concatenated_vectors(kind: str, length: int) -> None:
    head = _double(kind)
    words = torch.randn(2, length, WIDTH, dtype=torch.double, requires_grad=True)
    widths = min(MAX_WIDTH, length)
    scores, _ = head(words, widths)
    weights = torch.randn_like(scores)
    total, expected = torch.zeros(()).double(), torch.zeros(()).double()
    for row in range(2):
        for start in range(length):
            for width in range(min(widths, length - start)):
                by_hand = _by_hand(head, words[row, start], words[row, start + width], width)
                assert torch.allclose(scores[row, start, width], by_hand)
                expected = expected + (weights[row, start, width] * by_hand).sum()
                total = total + (weights[row, start, width] * scores[row, start, width]).sum()
    inputs = [words, *head.parameters()]
    for found, right in zip(
        torch.autograd.grad(total, inputs, retain_graph=True),
        torch.autograd.grad(expected, inputs, allow_unused=True),
        strict=True,
    ):
        assert right is not None
        assert torch.allclose(found, right, atol=1e-10)


@pytest.mark.parametrize("kind", SPAN_FEATURES)
def test_features_are_those_of_the_last_layer(kind: str) -> None:
    head = _double(kind)
    scores, features = head(torch.randn(2, 4, WIDTH).double(), 3)
    assert scores.shape == (2, 4, 3, CLASSES)
    if kind == "biaffine":
        assert features is None
    else:
        assert features.shape == (2, 4, 3, HIDDEN)
        classify = head.classify
        assert isinstance(classify, nn.Linear)
        assert torch.equal(classify(features), scores)


def test_ends_along_band_are_shifted_and_zero_behind_the_last_word() -> None:
    words = torch.arange(1.0, 5.0).reshape(1, 4, 1)
    ends = torch.stack(ends_along_band(words, 3), 2)[0, :, :, 0]
    assert ends.tolist() == [[1, 2, 3], [2, 3, 4], [3, 4, 0], [4, 0, 0]]


def test_band_mask_holds_the_spans_of_each_sentence() -> None:
    mask = band_mask(torch.tensor([3, 1, 0]), 3, 2)
    assert mask.tolist() == [
        [[True, True], [True, True], [True, False]],
        [[True, False], [False, False], [False, False]],
        [[False, False]] * 3,
    ]
