"""What becomes of spans without a label, and what never changes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lacuner import Ambiguity, Corpus, Entity, Sentence
from lacuner.errors import UsageError
from lacuner.refilling.candidates import Candidate
from lacuner.refilling.changes import changes, gaps_by_label
from lacuner.refilling.filling import FillingSettings, fill, is_added, is_doubt, wrong_labels
from lacuner.refilling.gap_estimate import GapEstimate
from lacuner.refilling.outcome import without_doubts
from lacuner.refilling.verdicts import Verdict

CORPUS = Corpus(
    (
        Sentence("a", tuple("abcdef"), (Entity(0, 2, "PER"),), ambiguous=(Ambiguity(5, 6),)),
        Sentence("b", tuple("xyz")),
    ),
    ("LOC", "PER"),
)
GAPS = GapEstimate(2.0, 40.0, 20.0, 80.0, 12)


def _margin(probability: float) -> float:
    return math.log(probability / (1 - probability)) - GAPS.offset


CANDIDATES = [
    Candidate(0, 1, 3, "LOC", _margin(0.99), 0.99),  # over a label that was given
    Candidate(0, 3, 4, "LOC", _margin(0.9), 0.95),
    Candidate(1, 0, 1, "PER", _margin(0.9), 0.6),  # an entity, of which label is not settled
    Candidate(1, 1, 2, "LOC", _margin(0.3), 0.99),
    Candidate(1, 2, 3, "LOC", _margin(0.05), 0.99),
]


def test_sure_spans_get_a_label_doubtful_ones_are_silent_others_are_negatives() -> None:
    filled = fill(CORPUS, CANDIDATES, GAPS, FillingSettings(), 2)
    first, second = filled.sentences
    assert [entity.key for entity in first.entities] == [(0, 2, "PER"), (3, 4, "LOC")]
    added = first.entities[1]
    assert added.source == "refill:2" and added.score == pytest.approx(0.9 * 0.95)
    assert is_added(added) and not is_added(first.entities[0])
    assert [found.span for found in first.ambiguous] == [(5, 6)]
    assert not second.entities
    assert [found.span for found in second.ambiguous] == [(0, 1), (1, 2)]
    assert all(map(is_doubt, second.ambiguous)) and not is_doubt(first.ambiguous[0])
    bare = filled.with_sentences(map(without_doubts, filled))
    assert [len(sentence.ambiguous) for sentence in bare] == [1, 0]
    assert bare.entity_count == filled.entity_count


def test_changes_say_what_why_and_how_sure() -> None:
    filled = fill(CORPUS, CANDIDATES, GAPS, FillingSettings(), 2)
    changed = list(changes(filled, CANDIDATES, GAPS, 2))
    rows = [(c.id, c.text, c.label, c.action, c.round) for c in changed]
    assert rows == [
        ("a", "d", "LOC", "added", 2),
        ("b", "x", "PER", "doubtful", 2),
        ("b", "y", "LOC", "doubtful", 2),
    ]
    assert changed[1].reason == "an entity with probability 0.90, then PER with 0.60"
    by_label = gaps_by_label(CORPUS, changed, CANDIDATES, GAPS)
    assert [(row.given, row.added, row.doubtful) for row in by_label.values()] == [
        (0, 1, 1),
        (1, 0, 1),
    ]
    assert sum(row.missing or 0 for row in by_label.values()) == pytest.approx(40)
    unknown = gaps_by_label(CORPUS, changed, CANDIDATES, GapEstimate.unknown(3))
    assert unknown["LOC"].missing is None


BELIEVED = [
    Verdict(Candidate(1, word, word + 1, label, _margin(0.9), 1.0))
    for word in range(3)
    for label in CORPUS.labels
]


def _against(*rivals: Candidate, chance: float = 0.02, certainty: float = 1.0) -> Verdict:
    return Verdict(Candidate(0, 0, 2, "PER", _margin(chance), certainty), rivals)


@pytest.mark.parametrize(
    ("verdict", "labels", "doubts"),
    [
        (_against(), [], [(5, 6), (0, 2)]),  # nothing is learnt from it
        (_against(chance=0.99, certainty=0.02), [], [(5, 6), (0, 2)]),  # another label
        (_against(chance=0.1), [(0, 2, "PER")], [(5, 6)]),  # not against it
        (
            _against(Candidate(0, 0, 3, "LOC", _margin(0.9), 0.95)),
            [(0, 3, "LOC")],
            [(5, 6)],
        ),
        (
            _against(Candidate(0, 0, 2, "LOC", _margin(0.9), 0.95), chance=0.9, certainty=0.01),
            [],
            [(5, 6), (0, 2)],  # the label is right more often than the model
        ),
        (
            _against(Candidate(0, 1, 3, "LOC", _margin(0.5), 0.95)),
            [],
            [(5, 6), (1, 3), (0, 2)],
        ),
    ],
    ids=["nothing", "no such label", "believed", "longer", "other label", "rival in doubt"],
)
def test_labels_that_nobody_believes_are_taken_out(
    verdict: Verdict, labels: list[tuple[int, int, str]], doubts: list[tuple[int, int]]
) -> None:
    filled = fill(CORPUS, [], GAPS, FillingSettings(), 2, [verdict, *BELIEVED])
    assert [entity.key for entity in filled.sentences[0].entities] == labels
    assert [found.span for found in filled.sentences[0].ambiguous] == doubts
    assert filled.sentences[1] == CORPUS.sentences[1]
    kept = fill(CORPUS, [], GAPS, FillingSettings(wrong=0.0), 2, [verdict, *BELIEVED])
    assert kept.sentences == CORPUS.sentences


def test_verdicts_on_labels_that_are_held_back_tell_nothing_of_them() -> None:
    shown = CORPUS.with_sentences(
        [Sentence("a", tuple("abcdef"), ambiguous=(Ambiguity(5, 6),)), CORPUS.sentences[1]]
    )
    verdict = _against(Candidate(0, 0, 3, "LOC", _margin(0.9), 0.95))
    filled = fill(shown, [], GAPS, FillingSettings(), 2, [verdict, *BELIEVED])
    assert filled.sentences == shown.sentences


def test_a_rival_of_two_labels_counts_once() -> None:
    two = CORPUS.with_sentences(
        [
            Sentence("a", tuple("abcdef"), (Entity(0, 2, "PER"), Entity(2, 3, "LOC"))),
            CORPUS.sentences[1],
        ]
    )
    rival = Candidate(0, 1, 3, "LOC", _margin(0.5), 0.95)
    verdicts = [
        Verdict(Candidate(0, 0, 2, "PER", _margin(0.01), 1.0), (rival,)),
        Verdict(Candidate(0, 2, 3, "LOC", _margin(0.01), 1.0), (rival,)),
    ]
    filled = fill(two, [], GAPS, FillingSettings(), 2, [*verdicts, *BELIEVED])
    assert [found.span for found in filled.sentences[0].ambiguous] == [(1, 3), (0, 2), (2, 3)]
    actions = [(c.start, c.end, c.action) for c in changes(filled, [], GAPS, 2, verdicts)]
    assert actions == [(1, 3, "doubtful"), (0, 2, "removed"), (2, 3, "removed")]


def test_a_model_that_has_not_learnt_a_label_takes_none_of_it_out() -> None:
    alone = fill(CORPUS, [], GAPS, FillingSettings(), 2, [_against(), *BELIEVED[::2]])  # LOC
    assert alone.sentences == CORPUS.sentences
    few = GapEstimate.unknown(4)
    assert not few.probabilities(_against().given.margin * np.ones(1)) > FillingSettings().wrong
    unjudged = fill(CORPUS, [], few, FillingSettings(), 2, [_against(), *BELIEVED])
    assert unjudged.sentences == CORPUS.sentences


def test_a_corpus_that_hardly_misses_any_stays_as_it_is() -> None:
    few = GapEstimate(2.0, 3.0, 1.0, 5.0, 12, given=100)
    assert few.hardly_any and not GAPS.hardly_any and not GapEstimate.unknown(12).hardly_any
    filled = fill(CORPUS, CANDIDATES, few, FillingSettings(), 1, [_against(), *BELIEVED])
    assert filled == CORPUS
    assert not wrong_labels([_against(), *BELIEVED], few, FillingSettings())
    assert not GapEstimate(2.0, 3.0, 1.0, 6.0, 12, given=100).hardly_any


@pytest.mark.parametrize(
    "wrong",
    [
        {"sure": 1.0},
        {"doubt": 0.9},
        {"doubt": 0.0},
        {"certain": 1.5},
        {"sure": -1.0},
        {"wrong": -0.1},
    ],
)
def test_impossible_thresholds_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="filling"):
        FillingSettings(**wrong)
