"""Exact scores are those of seqeval and conlleval, on valid and on broken tags."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support

import lacuner
from lacuner import Entity, Sentence
from lacuner.corpus.tagging import decode_tags, encode_tags
from lacuner.evaluation.scores import Scores, score_entities
from tests.evaluation.conlleval import count_chunks

Tags = list[str]
Rows = list[tuple[Tags, Tags]]
_LABELS = ("PER", "LOC", "B-x")


@st.composite
def _tag_rows(draw: st.DrawFn, prefixes: str) -> Rows:
    """Gold and guessed tags of a few sentences; the guess often repeats gold, and may be broken."""
    tag = st.sampled_from(["O", "O", *(f"{p}-{label}" for p in prefixes for label in _LABELS)])
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        gold = draw(st.lists(tag, min_size=1, max_size=8))
        given_tags = [t if draw(st.integers(0, 2)) else draw(tag) for t in gold]
        rows.append((gold, given_tags))
    return rows


def _sentence(tags: Tags, scheme: str, *, repair: bool = True) -> Sentence:
    spans = decode_tags(tags, scheme, repair=repair).spans
    return Sentence("1", ("w",) * len(tags), tuple(Entity(*span) for span in spans))


def _scores(rows: Rows, scheme: str = "bio") -> Scores:
    return score_entities((_sentence(g, scheme), _sentence(t, scheme)) for t, g in rows)


def _by_seqeval(rows: Rows, average: str | None) -> tuple[object, ...]:
    gold, guess = [true for true, _ in rows], [guessed for _, guessed in rows]
    found = precision_recall_fscore_support(gold, guess, average=average, zero_division=0)
    return tuple(found)


def _check_seqeval(rows: Rows, scheme: str) -> None:
    scores = _scores(rows, scheme)
    if not scores.by_label:
        return  # seqeval averages over nothing there
    total, macro = scores.total, scores.macro
    assert _by_seqeval(rows, "micro") == pytest.approx(
        (total.precision, total.recall, total.f1, total.gold)
    )
    assert _by_seqeval(rows, "macro")[:3] == pytest.approx(
        (macro.precision, macro.recall, macro.f1)
    )
    each = zip(*_by_seqeval(rows, None), strict=True)
    for (label, score), theirs in zip(scores.by_label.items(), each, strict=True):
        ours = (score.precision, score.recall, score.f1, score.gold)
        assert theirs == pytest.approx(ours), label


@given(_tag_rows("BI"))
@settings(max_examples=300, deadline=None)
def test_scores_equal_seqeval_on_any_bio_tags(rows: Rows) -> None:
    _check_seqeval(rows, "bio")


@given(_tag_rows("BIES"))
@settings(max_examples=300, deadline=None)
def test_scores_equal_seqeval_on_any_bioes_tags(rows: Rows) -> None:
    _check_seqeval(rows, "bioes")


@given(_tag_rows("BI"))
@settings(max_examples=300, deadline=None)
def test_scores_equal_conlleval_on_any_bio_tags(rows: Rows) -> None:
    ours = {label: (s.right, s.found, s.gold) for label, s in _scores(rows).by_label.items()}
    assert ours == count_chunks(rows)


def test_scores_of_stray_tags_differ_without_repair() -> None:
    gold, guess = ["B-PER", "I-PER", "O"], ["I-PER", "I-PER", "O"]
    assert count_chunks([(gold, guess)]) == {"PER": (1, 1, 1)}
    assert _scores([(gold, guess)]).total.right == 1
    unrepaired = _sentence(guess, "bio", repair=False)
    assert score_entities([(unrepaired, _sentence(gold, "bio"))]).total.found == 0


@pytest.mark.shared
def test_scores_equal_seqeval_and_conlleval_on_conll(shared_data: Path) -> None:
    folder = shared_data / "conll03"
    gold = lacuner.read(folder / "train_text.txt", label_file=folder / "train_label_true.txt")
    distant = lacuner.read(folder / "train_text.txt", label_file=folder / "train_label_dist.txt")
    pairs = list(zip(distant, gold, strict=True))[:3000]
    rows = [
        (encode_tags(len(true), true.entities), encode_tags(len(given), given.entities))
        for given, true in pairs
    ]
    scores = score_entities(pairs)
    assert scores.total.gold > 3000
    counted = {label: (s.right, s.found, s.gold) for label, s in scores.by_label.items()}
    assert counted == count_chunks(rows)
    total = scores.total
    assert _by_seqeval(rows, "micro") == pytest.approx(
        (total.precision, total.recall, total.f1, total.gold)
    )
