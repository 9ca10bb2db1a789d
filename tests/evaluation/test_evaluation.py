"""`evaluate`: all scores of predictions beside gold."""

from __future__ import annotations

import json

import pytest

from lacuner import Corpus, Entity, Sentence
from lacuner.corpus.alignment import NotAligned
from lacuner.evaluation.evaluation import evaluate
from lacuner.evaluation.scores import Score, sum_of


def _half(corpus: Corpus) -> Corpus:
    """The labels of every other sentence."""
    return corpus.with_sentences(
        sentence if number % 2 else sentence.with_entities(())
        for number, sentence in enumerate(corpus)
    )


def test_evaluate_of_gold_itself_is_perfect(small_corpus: Corpus) -> None:
    found = evaluate(small_corpus, small_corpus, small_corpus)
    assert found.exact.total == Score(29, 29, 29)
    assert found.exact.macro.f1 == found.boundaries.f1 == found.overlap.total.f1 == 1
    assert found.seen == Score(29, 29, 29)
    assert found.unseen == Score(0, 0, 0)
    assert (found.sentences, found.left_out, found.vouched) == (20, 0, 0)


def test_evaluate_counts_each_entity_in_one_group(small_corpus: Corpus) -> None:
    train = Corpus(small_corpus.sentences[:7])
    found = evaluate(_half(small_corpus), small_corpus, train)
    assert found.seen is not None and found.unseen is not None
    for groups in (
        found.by_length.values(),
        found.exact.by_label.values(),
        (found.seen, found.unseen),
    ):
        assert sum_of(groups) == found.exact.total
    assert set(found.by_length) == {1, 2, 3}
    assert 0 < found.seen.gold < found.exact.total.gold


def test_evaluate_tells_seen_entities_by_their_words() -> None:
    train = Corpus((Sentence("t", ("New", "York", "and", "Ghent"), (Entity(0, 2, "LOC"),)),))
    words = ("New", "York", "or", "Ghent")
    gold = Corpus((Sentence("1", words, (Entity(0, 2, "ORG"), Entity(3, 4, "LOC"))),))
    predicted = Corpus((Sentence("1", words, (Entity(0, 2, "ORG"), Entity(0, 1, "PER"))),))
    found = evaluate(predicted, gold, train)
    assert found.seen == Score(1, 1, 1)  # of another label in training
    assert found.unseen == Score(0, 1, 1)


def test_evaluate_says_what_it_left_out(small_corpus: Corpus) -> None:
    found = evaluate(Corpus(small_corpus.sentences[:5]), small_corpus.vouched())
    assert (found.sentences, found.left_out, found.vouched) == (5, 15, 5)
    assert found.seen is None and found.unseen is None


def test_evaluate_refuses_other_sentences(small_corpus: Corpus) -> None:
    with pytest.raises(NotAligned, match="Sentence 1 differs"):
        evaluate(Corpus((Sentence("x", ("Other",)),)), Corpus(small_corpus.sentences[:1]))


def test_evaluation_goes_through_json(small_corpus: Corpus) -> None:
    found = evaluate(_half(small_corpus), small_corpus)
    saved = json.loads(json.dumps(found.as_dict()))
    assert saved == found.as_dict()
    assert saved["exact"]["micro"]["f1"] == found.exact.total.f1
    assert saved["exact"]["macro"]["recall"] == found.exact.macro.recall
    assert saved["by_length"]["2"]["gold"] == found.by_length[2].gold
    assert saved["seen"] is None
