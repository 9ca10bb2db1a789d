"""Which labels are believed, on corpora made by hand."""

from __future__ import annotations

import numpy as np

from lacuner.objectives.label_removal import WordLabels, believed_labels, drawn_words

#                     O  O  A  A  B
TARGETS = np.array([0, 0, 1, 1, 2])
DOUBTED = WordLabels(TARGETS, np.zeros(5, dtype=bool))


def _agreement(entity: list[float], label: list[float]) -> np.ndarray:
    return np.array([entity, label]).T


def test_removal_is_one_sided_on_entities_and_free_on_types() -> None:
    agreement = _agreement([0.71, 0.7, 0.1, 0.9, 0.0], [1.0, 1.0, 0.7, 0.8, 0.9])
    kept = believed_labels(DOUBTED, agreement, threshold=0.7)
    assert kept[:, 0].tolist() == [True, False, True, True, True]  # f must exceed τ; labels stay
    assert kept[:, 1].tolist() == [True, True, False, True, True]


def test_type_that_would_lose_nearly_all_keeps_all() -> None:
    targets = np.array([1] * 10 + [2] * 10 + [3])
    labels = WordLabels(targets, np.zeros(21, dtype=bool))
    sure = np.array([0.1] * 9 + [0.9] + [0.1] * 10 + [0.1])  # 90 %, all, and the only mention
    agreement = np.stack([np.ones(21), sure], 1)
    kept = believed_labels(labels, agreement, threshold=0.7, rare=0.9)[:, 1]
    assert kept[:10].tolist() == [False] * 9 + [True]  # exactly 90 % is not more than 90 %
    assert kept[10:].all()


def test_vouched_labels_are_never_removed_nor_dropped() -> None:
    trusted = WordLabels(TARGETS, np.ones(5, dtype=bool))
    assert believed_labels(trusted, np.zeros((5, 2)), threshold=0.7, rare=1.0).all()
    assert drawn_words(trusted, 1.0, np.random.default_rng(0)).all()


def test_threshold_of_0_removes_nothing() -> None:
    assert believed_labels(DOUBTED, np.full((5, 2), 1e-9), threshold=0.0).all()


def test_only_words_without_label_are_dropped_anew_for_every_draw() -> None:
    targets = np.array([0] * 4000 + [1] * 100)
    labels = WordLabels(targets, np.zeros(4100, dtype=bool))
    first, second = (drawn_words(labels, 0.5, np.random.default_rng(seed)) for seed in (1, 2))
    assert first[4000:].all() and second[4000:].all()
    assert abs(np.mean(first[:4000]) - 0.5) < 0.04
    assert 0.4 < np.mean(first[:4000] == second[:4000]) < 0.6
