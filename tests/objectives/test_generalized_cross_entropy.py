"""GCE meets cross-entropy and MAE at its ends, and its gradient is that of the paper."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.generalized_cross_entropy import (
    NoiseRobustTagging,
    generalized_cross_entropy,
    label_log_probabilities,
)
from tests.neural import HashedWords, batch_of, output_of, sentence

LOGS = torch.tensor([-0.01, -0.5, -3.0, -40.0, -200.0], dtype=torch.double)


def test_gce_is_cross_entropy_at_0_and_mae_at_1() -> None:
    assert torch.equal(generalized_cross_entropy(LOGS, 0.0), -LOGS)
    assert torch.allclose(generalized_cross_entropy(LOGS, 1.0), 1 - LOGS.exp())


@pytest.mark.parametrize("q", [1e-50, 1e-9, 1e-6, 1e-4])
def test_gce_comes_close_to_cross_entropy_before_it_is_there(q: float) -> None:
    for logs in (LOGS[:3], LOGS[:3].float()):
        assert torch.allclose(generalized_cross_entropy(logs, q), -logs, rtol=1e-3)


@pytest.mark.parametrize("q", [0.3, 0.7])
def test_gce_is_the_printed_formula(q: float) -> None:
    f = LOGS.exp()
    assert torch.allclose(generalized_cross_entropy(LOGS, q), (1 - f**q) / q)  # eq. 3


@pytest.mark.parametrize("q", [0.0, 1e-8, 0.3, 0.7, 1.0])
def test_gradient_is_that_of_the_paper(q: float) -> None:
    f = torch.tensor([0.9, 0.4, 1e-6], dtype=torch.double, requires_grad=True)
    (found,) = torch.autograd.grad(generalized_cross_entropy(f.log(), q).sum(), f)
    assert torch.allclose(found, -1 / f.detach() ** (1 - q), rtol=1e-5)  # eq. 4
    assert torch.autograd.gradcheck(lambda logs: generalized_cross_entropy(logs, q), f.log())


@pytest.mark.parametrize("q", [0.0, 0.7, 1.0])
def test_gradient_stays_finite_where_probabilities_vanish(q: float) -> None:
    scores = torch.tensor([[[-300.0, 300.0, -300.0], [300.0, -300.0, 0.0]]], requires_grad=True)
    logs = label_log_probabilities(scores, torch.tensor([[0, 2]]))
    (slope,) = torch.autograd.grad(generalized_cross_entropy(logs, q).sum(), scores)
    assert bool(torch.isfinite(slope).all())


def _tagger() -> TokenTagger:
    return TokenTagger(HashedWords(), ("A", "B"), scheme="io", head="two_part")


def _case() -> tuple[Batch, Output]:
    batch = batch_of([sentence(3, [(1, 2, "B")])], ("A", "B"))
    scores = torch.tensor([[[0.3, -0.2, 0.9], [-1.0, 0.4, 0.1], [2.0, 0.0, -1.0]]])
    return batch, output_of(scores, batch.words)


def _loss(output: Output, batch: Batch, q: float) -> Tensor:
    return NoiseRobustTagging(_tagger(), q=q, warmup=0)(output, batch, torch.Generator()).total


def test_cross_entropy_of_both_parts_is_that_of_the_tags() -> None:
    batch, output = _case()
    found = NoiseRobustTagging(_tagger(), q=0.0)(output, batch, torch.Generator()).parts
    whole = functional.cross_entropy(output.scores[0], torch.tensor([0, 2, 0]), reduction="sum")
    assert 3 * found["entity"] + found["label"] == pytest.approx(float(whole))


def test_loss_is_the_sum_of_the_means_of_both_parts_by_hand() -> None:
    batch, output = _case()
    tags = torch.softmax(output.scores[0], -1).double()
    in_entity = tags[1, 1:].sum()
    entity, label = torch.stack([tags[0, 0], in_entity, tags[2, 0]]), tags[1, 2] / in_entity
    by_hand = (1 - entity**0.7).mean() / 0.7 + (1 - label**0.7) / 0.7
    assert torch.allclose(_loss(output, batch, q=0.7).double(), by_hand)


def test_loss_is_none_where_nothing_counts() -> None:
    batch, output = _case()
    objective = NoiseRobustTagging(_tagger(), weights=lambda b, o: torch.zeros(1, 3, 2))
    assert float(objective(output, batch, torch.Generator()).total) == 0


def test_weights_leave_out_what_they_say() -> None:
    batch, output = _case()
    weights = torch.tensor([[[0, 1], [1, 0], [1, 1]]])
    objective = NoiseRobustTagging(
        _tagger(), q=0.7, warmup=0, weights=lambda batch, output: weights
    )
    found = objective(output, batch, torch.Generator())
    tags = torch.softmax(output.scores[0], -1)
    f = torch.stack([1 - tags[1, 0], tags[2, 0]])
    assert torch.allclose(found.total, ((1 - f**0.7) / 0.7).mean())
    assert found.parts["label"] == 0


def test_vouched_words_learn_by_cross_entropy() -> None:
    batch, output = _case()
    complete = replace(batch, complete=torch.tensor([True]))
    assert torch.allclose(_loss(output, complete, q=0.7), _loss(output, batch, q=0.0))
    outside = replace(batch, outside=torch.tensor([[True, False, True]]))
    between = _loss(output, outside, q=0.7)
    assert _loss(output, batch, q=0.7) < between < _loss(output, batch, q=0.0)


def test_first_epochs_learn_by_cross_entropy() -> None:
    batch, output = _case()
    objective = NoiseRobustTagging(_tagger(), q=0.7, warmup=1)
    losses = [
        objective(output, replace(batch, epoch=epoch), torch.Generator()).total
        for epoch in range(2)
    ]
    assert torch.allclose(losses[0], _loss(output, batch, q=0.0))
    assert torch.allclose(losses[1], _loss(output, batch, q=0.7))


def test_loss_refuses_other_tags_and_other_q() -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        NoiseRobustTagging(_tagger(), q=1.5)
    with pytest.raises(UsageError, match="scheme io"):
        NoiseRobustTagging(TokenTagger(HashedWords(), ("A",)))
