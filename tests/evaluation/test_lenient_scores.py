"""Scores that forgive labels or boundaries."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from lacuner import Entity, Sentence
from lacuner.evaluation.lenient_scores import most_overlaps, score_boundaries, score_overlaps
from lacuner.evaluation.scores import Score, score_entities
from tests.strategies import sentences

Span = tuple[int, int]


def _sentence(*entities: tuple[int, int, str]) -> Sentence:
    return Sentence("1", tuple("abcdefgh"), tuple(Entity(*entity) for entity in entities))


def test_score_boundaries_ignores_labels() -> None:
    given = _sentence((0, 2, "PER"), (3, 4, "LOC"), (5, 6, "ORG"))
    gold = _sentence((0, 2, "LOC"), (3, 5, "LOC"), (5, 6, "ORG"))
    assert score_boundaries([(given, gold)]) == Score(2, 3, 3)


def test_score_overlaps_wants_the_label_and_credits_each_entity_once() -> None:
    given = _sentence((0, 1, "PER"), (1, 2, "PER"), (3, 5, "LOC"), (6, 8, "ORG"))
    gold = _sentence((0, 2, "PER"), (4, 6, "LOC"), (6, 8, "LOC"))
    scores = score_overlaps([(given, gold)])
    assert scores.by_label == {
        "LOC": Score(1, 1, 2),
        "ORG": Score(0, 1, 0),
        "PER": Score(1, 2, 1),
    }
    assert scores.total == Score(2, 4, 3)


def test_score_overlaps_wants_a_shared_word() -> None:
    assert score_overlaps([(_sentence((0, 2, "A")), _sentence((2, 3, "A")))]).total.right == 0


_spans = st.lists(
    st.tuples(st.integers(0, 8), st.integers(1, 5)).map(lambda s: (s[0], s[0] + s[1])),
    max_size=5,
    unique=True,
)


def _most_by_trying(spans: list[Span], others: list[Span]) -> int:
    few, many = sorted((spans, others), key=len)
    return max(
        sum(a[0] < b[1] and b[0] < a[1] for a, b in zip(few, order, strict=True))
        for order in permutations(many, len(few))
    )


@given(_spans, _spans)
def test_most_overlaps_is_the_best_of_all_pairings(spans: list[Span], others: list[Span]) -> None:
    assert most_overlaps(spans, others) == _most_by_trying(spans, others)


@given(sentences(min_words=1), st.data())
def test_lenient_scores_are_never_below_exact(gold: Sentence, data: st.DataObject) -> None:
    kept = [
        Entity(e.start, e.end, data.draw(st.sampled_from([e.label, "PER"])))
        for e in gold.entities
        if data.draw(st.booleans())
    ]
    given_sentence = Sentence("1", gold.tokens, tuple(kept))
    pairs = [(given_sentence, gold)]
    exact = score_entities(pairs).total
    for lenient in (score_boundaries(pairs), score_overlaps(pairs).total):
        assert lenient.right >= exact.right
        assert lenient.right <= min(lenient.found, lenient.gold)
        assert (lenient.found, lenient.gold) == (exact.found, exact.gold)
