"""What is found, missed and wrong in a sentence."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lacuner import Entity, Sentence
from lacuner.evaluation.comparison import Mark, compare, marks, pieces, telling
from tests.strategies import sentences

_WORDS = ("Maren", "Holt", "left", "Bergen", "for", "Lumo")


def _sentence(*entities: tuple[int, int, str], sentence_id: str = "1") -> Sentence:
    return Sentence(sentence_id, _WORDS, tuple(Entity(*entity) for entity in entities))


_GOLD = _sentence((0, 2, "PER"), (3, 4, "LOC"), (5, 6, "ORG"))


def test_compare_sorts_entities_by_their_fate() -> None:
    comparison = compare(_sentence((0, 1, "PER"), (3, 4, "LOC"), (5, 6, "LOC")), _GOLD)
    assert [e.key for e in comparison.found] == [(3, 4, "LOC")]
    assert [e.key for e in comparison.missed] == [(0, 2, "PER"), (5, 6, "ORG")]
    assert [e.key for e in comparison.wrong] == [(0, 1, "PER"), (5, 6, "LOC")]


def test_marks_tell_the_truth_of_wrong_ones_once() -> None:
    shown = marks(_sentence((0, 1, "PER"), (2, 3, "LOC"), (5, 6, "LOC")), _GOLD)
    assert [(m.start, m.end, m.sign, m.label) for m in shown] == [
        (0, 1, "!", "PER"),
        (2, 3, "!", "LOC"),
        (3, 4, "?", "LOC"),
        (5, 6, "!", "LOC"),
    ]
    assert [[e.key for e in mark.truth] for mark in shown] == [
        [(0, 2, "PER")],
        [],
        [],
        [(5, 6, "ORG")],
    ]


def test_pieces_join_words_that_have_no_text() -> None:
    mark = Mark(0, 2, "found", "PER")
    assert list(pieces(_GOLD, [mark])) == [("Maren Holt", mark), (" left Bergen for Lumo", None)]
    characters = Sentence("1", tuple("我去北京"), (Entity(2, 4, "LOC"),))
    found = marks(characters, characters)
    assert [text for text, _ in pieces(characters, found)] == ["我去", "北京"]


@given(sentences(), st.data())
def test_pieces_and_marks_leave_nothing_out(gold: Sentence, data: st.DataObject) -> None:
    guesses = data.draw(sentences(min_words=1)).entities
    kept = [e for e in gold.entities if data.draw(st.booleans())]
    spans = {e.span for e in gold.entities}
    kept += [e for e in guesses if e.end <= len(gold) and e.span not in spans]
    given_sentence = Sentence("1", gold.tokens, tuple(kept))
    shown = marks(given_sentence, gold)
    assert all(first.end <= second.start for first, second in pairwise(shown))
    cut = list(pieces(gold, shown))
    whole = gold.text or (gold.surface(0, len(gold)) if gold.tokens else "")
    assert "".join(text for text, _ in cut).rstrip() == whole.rstrip()
    assert [mark for _, mark in cut if mark] == shown
    # Whatever is not right is shown, or lies under a mark that is.
    covered = {index for mark in shown for index in range(mark.start, mark.end)}
    comparison = compare(given_sentence, gold)
    for entity in (*comparison.missed, *comparison.wrong, *comparison.found):
        assert covered & set(range(entity.start, entity.end))


def test_telling_prefers_gaps_to_errors() -> None:
    perfect = (_GOLD, _GOLD)
    gap = (_sentence((3, 4, "LOC")), _GOLD)
    error = (_sentence((2, 3, "LOC")), _GOLD)
    empty = (_sentence(), _GOLD)
    assert telling([perfect, error, error, gap, empty], 1) == [gap, error]
