"""The loss of AutoNER, term by term."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from lacuner import Ambiguity, Entity, Sentence
from lacuner.models.batch import Output
from lacuner.models.span_features import band_mask
from lacuner.objectives.tie_or_break import TieOrBreakLoss
from tests.neural import batch_of, output_of

LABELS = ("A", "B")
SENTENCES = [
    Sentence("1", ("u", "v", "w", "x"), (Entity(0, 2, "B"),), outside=((2, 3),)),
    Sentence("2", ("u", "v", "w"), ambiguous=(Ambiguity(1, 2),), rejected=((0, 1), (0, 3))),
]
RNG = torch.Generator()


def _output() -> Output:
    """Scores of spans of at most two words."""
    torch.manual_seed(0)
    mask = band_mask(torch.tensor([4, 3]), 4, 2)
    output = output_of(torch.randn(2, 4, 2, 3, dtype=torch.double), mask)
    return replace(output, gaps=torch.randn(2, 3, dtype=torch.double))


def test_loss_is_the_sum_of_what_is_known() -> None:
    output, batch = _output(), batch_of(SENTENCES, LABELS)
    gaps = output.gaps
    assert gaps is not None

    def minus_log(row: int, start: int, end: int, *types: int) -> float:
        chances = torch.softmax(output.scores[row, start, end - start - 1], -1)
        return -math.log(float(chances[list(types)].sum()))

    # Of the first sentence: a tie, a break, and an unknown gap. Of the second no gap is known, and
    # the rejected span of three words is wider than the band.
    known = float(functional.softplus(gaps[0, 0]) + functional.softplus(-gaps[0, 1]))
    types = (
        minus_log(0, 0, 2, 2) + minus_log(0, 2, 3, 0)
        + minus_log(1, 1, 2, 1, 2) + minus_log(1, 0, 1, 0)
    )  # fmt: skip
    found = TieOrBreakLoss()(output, batch, RNG)
    assert found.parts == pytest.approx({"gaps": known / 2, "types": types / 2})
    assert float(found.total) == pytest.approx((known + types) / 2)


def test_gradient_of_several_types_is_that_of_the_papers_fixed_target() -> None:
    batch = batch_of([replace(SENTENCES[1], rejected=())], LABELS)
    base = _output()

    def gradient(loss: Tensor, scores: Tensor) -> Tensor:
        return torch.autograd.grad(loss, scores)[0]

    scores = base.scores[1:, :3].clone().requires_grad_()
    assert base.gaps is not None
    output = replace(base, scores=scores, mask=base.mask[1:, :3], gaps=base.gaps[1:, :2])
    ours = gradient(TieOrBreakLoss()(output, batch, RNG).total, scores)
    own = scores[0, 1, 0]
    target = torch.softmax(own[1:], 0).detach()  # over the possible types alone
    theirs = gradient(-(target * torch.log_softmax(own, 0)[1:]).sum(), scores)
    assert torch.allclose(ours, theirs)


def test_loss_passes_gradcheck() -> None:
    batch, base = batch_of(SENTENCES, LABELS), _output()
    assert base.gaps is not None
    assert torch.autograd.gradcheck(
        lambda scores, gaps: (
            TieOrBreakLoss()(replace(base, scores=scores, gaps=gaps), batch, RNG).total
        ),
        (base.scores.requires_grad_(), base.gaps.requires_grad_()),
    )
