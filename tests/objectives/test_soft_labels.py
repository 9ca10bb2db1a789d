"""Soft labels against eq. 8 of RoSTER and BOND's, by hand."""

from __future__ import annotations

import torch

from lacuner.objectives.soft_labels import (
    as_predicted,
    hard_classes,
    sharpened,
    sharpened_classes,
    sharpened_types,
    with_known,
)

#                     O    A    B
NOW = torch.tensor([[0.1, 0.6, 0.3], [0.8, 0.1, 0.1], [0.0, 0.1, 0.9]])
FREQUENCIES = NOW.sum(0)  # 0.9, 0.8, 1.3


def test_sharpening_is_equation_8() -> None:
    found = sharpened(NOW[:, 1:], FREQUENCIES[1:])
    a, b = 0.6**2 / 0.8, 0.3**2 / 1.3
    assert torch.allclose(found[0], torch.tensor([a / (a + b), b / (a + b)]))
    a, b = 0.1**2 / 0.8, 0.9**2 / 1.3
    assert torch.allclose(found[2], torch.tensor([a / (a + b), b / (a + b)]))


def test_class_that_is_nowhere_predicted_gets_nothing() -> None:
    found = sharpened(torch.tensor([[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]]), torch.tensor([3.0, 0, 1]))
    assert torch.allclose(found, torch.tensor([[0.25, 0.0, 0.75], [0.0, 0.0, 0.0]]))


def test_types_are_sharpened_where_an_entity_is_sure_and_entities_stay() -> None:
    first = torch.tensor([[0.3, 0.4, 0.3], [0.7, 0.2, 0.1], [0.2, 0.4, 0.4]])
    labels = sharpened_types(first, NOW, FREQUENCIES, confidence=0.9)
    assert torch.allclose(labels.entity, torch.tensor([0.7, 0.3, 0.8]))
    assert labels.entity_weight.tolist() == [1, 1, 1]
    assert labels.type_weight.tolist() == [1, 0, 1]
    assert torch.allclose(labels.types, sharpened(NOW[:, 1:], FREQUENCIES[1:]))


def test_all_classes_are_sharpened_where_the_result_is_sure() -> None:
    labels = sharpened_classes(NOW, FREQUENCIES, confidence=0.9)
    weights = torch.stack([NOW[row] ** 2 / FREQUENCIES for row in range(3)])
    soft = weights / weights.sum(1, keepdim=True)
    assert torch.allclose(labels.entity, 1 - soft[:, 0])
    assert labels.entity_weight.tolist() == [0, 1, 1]  # .79, .96, .98
    assert torch.allclose(labels.type_weight, labels.entity_weight * labels.entity)


def test_hard_labels_take_the_likeliest_class_where_it_is_likely() -> None:
    labels = hard_classes(NOW, confidence=0.8)
    assert labels.entity.tolist() == [1, 0, 1]
    assert labels.types.tolist() == [[1, 0], [0, 0], [0, 1]]
    assert labels.entity_weight.tolist() == [0, 1, 1]
    assert labels.type_weight.tolist() == [0, 0, 1]


def test_known_labels_overrule_predicted_ones() -> None:
    soft = as_predicted(NOW)
    labels = with_known(soft, torch.tensor([2, 1, 0]), torch.tensor([True, False, True]))
    assert labels.entity.tolist() == [1.0, soft.entity[1].item(), 0.0]
    assert labels.types[0].tolist() == [0, 1]
    assert torch.equal(labels.types[1], soft.types[1])
    assert labels.type_weight.tolist() == [1.0, soft.type_weight[1].item(), 0.0]
