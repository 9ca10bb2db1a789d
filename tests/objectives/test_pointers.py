"""The loss of pointers against a sum by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from lacuner.errors import LacunerError, UsageError
from lacuner.models.batch import Batch, Output, Pointers
from lacuner.models.span_features import band_mask
from lacuner.objectives.pointers import PointerCrossEntropy
from tests.neural import batch_of, sentence

LABELS = ("A", "B")
RNG = torch.Generator()
WIDTHS = 2


def _pointers(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(4)
    shape = len(batch), int(batch.lengths.max())
    ends = torch.randn(2, *shape, 2, dtype=torch.double)
    return ends[0], ends[1], torch.randn(*shape, WIDTHS, 2, dtype=torch.double)


def _output(batch: Batch, pointers: tuple[Tensor, Tensor, Tensor]) -> Output:
    mask = band_mask(batch.lengths, int(batch.lengths.max()), WIDTHS)
    hidden = torch.zeros(*mask.shape[:2], 1)
    return Output(hidden, torch.zeros(*mask.shape, 3), mask, pointers=Pointers(*pointers))


def _cost(score: Tensor, right: bool) -> float:
    return math.log1p(math.exp(-float(score) if right else float(score)))


def test_loss_is_the_sum_over_words_spans_and_labels() -> None:
    entities = [(0, 2, "A"), (2, 3, "B"), (0, 3, "B")]  # nested, and one wider than the band
    batch = batch_of([sentence(3, entities), sentence(2)], LABELS)
    starts, ends, matches = pointers = _pointers(batch)
    objective = PointerCrossEntropy(start=0.5, end=2.0, match=0.25)
    loss = objective(_output(batch, pointers), batch, RNG)
    total = 0.0
    for row, length, found in ((0, 3, entities), (1, 2, [])):
        for number, label in enumerate(LABELS):
            own = [(start, end) for start, end, name in found if name == label]
            for word in range(length):
                begins = word in [start for start, _ in own]
                finishes = word + 1 in [end for _, end in own]
                total += 0.5 * _cost(starts[row, word, number], begins)
                total += 2.0 * _cost(ends[row, word, number], finishes)
                for width in range(min(WIDTHS, length - word)):
                    is_span = (word, word + width + 1) in own
                    total += 0.25 * _cost(matches[row, word, width, number], is_span)
    assert float(loss.total) == pytest.approx(total / 2)
    assert sum(loss.parts.values()) == pytest.approx(total / 2)


def test_gradient_is_that_of_the_loss_and_spares_what_is_ambiguous() -> None:
    batch = batch_of([sentence(4, [(0, 1, "A")], ambiguous=[(2, 4)])], LABELS)
    starts, ends, matches = (one.requires_grad_() for one in _pointers(batch))

    def total(*pointers: Tensor) -> Tensor:
        a, b, c = pointers
        return PointerCrossEntropy()(_output(batch, (a, b, c)), batch, RNG).total

    assert torch.autograd.gradcheck(total, (starts, ends, matches))
    by_start, by_end, by_match = torch.autograd.grad(total(starts, ends, matches),
                                                     (starts, ends, matches))  # fmt: skip
    for gradient in (by_start, by_end):
        assert gradient[0].abs().sum(-1).gt(0).tolist() == [True, True, False, False]
    assert not by_match[0, 2, 1].any() and by_match[0, 1, 1].all()


def test_other_models_and_negative_weights_are_refused() -> None:
    batch = batch_of([sentence(2)], LABELS)
    mask = band_mask(batch.lengths, 2, WIDTHS)
    with pytest.raises(LacunerError, match="a model that points"):
        PointerCrossEntropy()(
            Output(torch.zeros(1, 2, 1), torch.zeros(1, 2, WIDTHS, 3), mask), batch, RNG
        )
    with pytest.raises(UsageError, match="negative"):
        PointerCrossEntropy(match=-1.0)
