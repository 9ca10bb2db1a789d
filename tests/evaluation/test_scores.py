"""Exact-match scores."""

from __future__ import annotations

import pytest

from lacuner import Entity, Sentence
from lacuner.evaluation.scores import Score, Scores, score_by, score_entities, sum_of


def _sentence(*entities: tuple[int, int, str]) -> Sentence:
    return Sentence("1", tuple("abcdef"), tuple(Entity(*entity) for entity in entities))


def test_score_entities_counts_spans_and_labels_exactly() -> None:
    given = _sentence((0, 2, "PER"), (3, 4, "LOC"), (5, 6, "ORG"))
    gold = _sentence((0, 2, "PER"), (3, 5, "LOC"), (5, 6, "PER"))
    scores = score_entities([(given, gold)])
    assert scores.total == Score(1, 3, 3)
    assert scores.by_label == {
        "LOC": Score(0, 1, 1),
        "ORG": Score(0, 1, 0),
        "PER": Score(1, 1, 2),
    }
    assert scores.total.f1 == pytest.approx(1 / 3)
    assert scores.by_label["PER"].recall == 0.5


def test_score_of_nothing_is_zero() -> None:
    score = score_entities([(_sentence(), _sentence())]).total
    assert (score.precision, score.recall, score.f1) == (0, 0, 0)


def test_score_f1_is_the_harmonic_mean() -> None:
    score = Score(30, 40, 60)
    harmonic = 2 / (1 / score.precision + 1 / score.recall)
    assert score.f1 == pytest.approx(harmonic)


def test_scores_macro_is_the_mean_of_the_labels() -> None:
    scores = Scores(Score(3, 6, 6), {"A": Score(2, 2, 4), "B": Score(1, 4, 1), "C": Score(0, 0, 1)})
    macro = scores.macro
    assert macro.precision == pytest.approx((1 + 0.25 + 0) / 3)
    assert macro.recall == pytest.approx((0.5 + 1 + 0) / 3)
    assert macro.f1 == pytest.approx((2 / 3 + 0.4 + 0) / 3)
    assert Scores(Score(0, 0, 0)).macro.f1 == 0


def test_score_by_groups_by_anything() -> None:
    given = _sentence((0, 2, "PER"), (3, 4, "LOC"))
    gold = _sentence((0, 2, "PER"), (3, 5, "LOC"))
    by_length = score_by([(given, gold)], lambda sentence, entity: entity.end - entity.start)
    assert by_length == {2: Score(1, 1, 2), 1: Score(0, 1, 0)}
    assert sum_of(by_length.values()) == score_entities([(given, gold)]).total
