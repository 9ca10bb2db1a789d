"""Distillation: no loss at the teacher, the chain rule of KL, and the second view."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from lacuner.models import Model
from lacuner.models.batch import Batch, Output
from lacuner.models.batching import Examples
from lacuner.models.distribution import log_probabilities
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.distillation import Distillation, divergences
from lacuner.objectives.soft_labels import SoftLabels, as_predicted
from tests.neural import HashedWords, sentence

LABELS = ("A", "B")
SENTENCES = [sentence(5), sentence(2)]


def _models() -> list[Model]:
    torch.manual_seed(3)
    return [
        TokenTagger(HashedWords(), LABELS, scheme="io", head="two_part", dropout=0.0),
        TokenTagger(HashedWords(), LABELS, scheme="bio", dropout=0.0),
        TokenTagger(HashedWords(), LABELS, scheme="bio", head="crf", dropout=0.0),
        SpanClassifier(HashedWords(), LABELS, max_width=3, hidden=8, dropout=0.0),
    ]


def _said(model: Model) -> tuple[Batch, Output]:
    examples = Examples(SENTENCES, model.encoder, model.label_numbers)
    batch = examples.batch([0, 1])
    return batch, model(batch)


def _teacher(model: Model, output: Output) -> Tensor:
    return log_probabilities(model, output).exp().detach()


@pytest.mark.parametrize("number", range(4))
def test_loss_and_gradient_are_zero_at_the_teacher(number: int) -> None:
    model = _models()[number]
    batch, output = _said(model)
    chances = _teacher(model, output)
    loss = Distillation(model, lambda b, o: as_predicted(chances))(output, batch, torch.Generator())
    assert abs(loss.total.item()) < 1e-4
    loss.total.backward()  # type: ignore[no-untyped-call]
    for parameter in model.parameters():
        assert parameter.grad is None or float(parameter.grad.abs().max()) < 1e-4


@pytest.mark.parametrize("number", range(4))
def test_loss_is_the_divergence_of_whole_distributions(number: int) -> None:
    model = _models()[number]
    batch, output = _said(model)
    logs = log_probabilities(model, output)
    chances = torch.softmax(torch.randn(logs.shape, generator=torch.Generator().manual_seed(1)), -1)
    loss = Distillation(model, lambda b, o: as_predicted(chances))(output, batch, torch.Generator())
    whole = (chances * (chances.log() - logs)).sum(-1)[output.mask].sum() / 2  # eq. 6
    assert torch.allclose(loss.total, whole, rtol=1e-4)
    assert loss.parts["entity"] > 0 and loss.parts["types"] > 0


def test_divergences_take_hard_labels_and_sure_predictions() -> None:
    hard = SoftLabels(
        torch.tensor([1.0, 0.0]), torch.tensor([[1.0, 0.0], [0.0, 0.0]]), torch.ones(2),
        torch.ones(2),
    )  # fmt: skip
    logs = torch.log_softmax(torch.tensor([[-90.0, 90.0, 0.0], [-90.0, 90.0, 0.0]]), -1)
    entity, types = divergences(hard, logs)
    assert torch.allclose(entity, torch.tensor([0.0, 180.0]))
    assert torch.allclose(types, torch.tensor([0.0, 0.0]))


def test_second_view_teaches_types_where_both_views_agree() -> None:
    model = _models()[0]
    batch, output = _said(model)
    others = [sentence(5), sentence(2)]
    augmented = Examples(others, model.encoder, model.label_numbers)
    soft = as_predicted(_teacher(model, output))

    def parts(view: Examples | None) -> dict[str, float]:
        objective = Distillation(model, lambda b, o: soft, augmented=view)
        return objective(output, batch, torch.Generator()).parts

    assert "augmented" not in parts(None)
    assert parts(augmented)["augmented"] == pytest.approx(0, abs=1e-5)  # the same words

    changed = [sentence(5), sentence(2)]
    changed[0] = type(changed[0])("1", ("x", "y", "z", "u", "v"))
    view = Examples(changed, model.encoder, model.label_numbers)
    other = log_probabilities(model, model(view.batch([0, 1])))
    logs = log_probabilities(model, output)
    agree = (other[..., 1:].argmax(-1) == logs[..., 1:].argmax(-1)) & output.mask
    assert 0 < int(agree.sum()) < int(output.mask.sum())
    _, types = divergences(soft, other)
    by_hand = (types * soft.type_weight)[agree].sum().item() / 2
    assert parts(view)["augmented"] == pytest.approx(by_hand, rel=1e-4)
