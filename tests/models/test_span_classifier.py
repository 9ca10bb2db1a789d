"""The span classifier: shapes, masks, and that a batch does not change a sentence."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from lacuner import Corpus
from lacuner.errors import UsageError
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.span_features import SPAN_FEATURES
from tests.neural import HashedWords, batch_of, sentence

LABELS = ("LOC", "ORG", "PER")


def _model(**arguments: Any) -> SpanClassifier:
    torch.manual_seed(0)
    return SpanClassifier(HashedWords(), LABELS, **arguments).eval()


@pytest.mark.parametrize("features", SPAN_FEATURES)
def test_output_is_a_band_with_mask(features: str, small_corpus: Corpus) -> None:
    model = _model(features=features, max_width=4)
    batch = batch_of(small_corpus.sentences, LABELS, model.encoder)
    output = model(batch)
    words = int(batch.lengths.max())
    assert output.scores.shape == (20, words, 4, 4)
    assert output.hidden.shape == (20, words, 8)
    assert output.mask.shape == (20, words, 4)
    spans = sum(min(4, len(s) - start) for s in small_corpus for start in range(len(s)))
    assert int(output.mask.sum()) == spans
    assert bool(output.scores.isfinite().all())


@pytest.mark.parametrize("features", SPAN_FEATURES)
def test_scores_of_a_sentence_do_not_depend_on_its_batch(
    features: str, small_corpus: Corpus
) -> None:
    model = _model(features=features, max_width=7)
    whole = model(batch_of(small_corpus.sentences, LABELS, model.encoder))
    for row, alone in enumerate(small_corpus):
        output = model(batch_of([alone], LABELS, model.encoder))
        among = whole.scores[row, : len(alone), : output.mask.shape[2]]
        mask = output.mask[0]
        assert torch.allclose(output.scores[0][mask], among[mask], atol=1e-6)


def test_band_is_no_wider_than_the_longest_sentence() -> None:
    model = _model(max_width=10)
    output = model(batch_of([sentence(1), sentence(3)], LABELS, model.encoder))
    assert output.scores.shape == (2, 3, 3, 4)
    one_word = model(batch_of([sentence(1)], LABELS, model.encoder))
    assert one_word.scores.shape == (1, 1, 1, 4)
    assert one_word.mask.all()


def test_dropout_acts_in_training_only() -> None:
    model = _model(dropout=0.5)
    batch = batch_of([sentence(5)], LABELS, model.encoder)
    assert torch.equal(model(batch).scores, model(batch).scores)
    model.train()
    assert not torch.equal(model(batch).scores, model(batch).scores)


def test_labels_have_numbers_from_one() -> None:
    assert _model().label_numbers == {"LOC": 1, "ORG": 2, "PER": 3}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": "endpoint"}, "Did you mean endpoints"),
        ({"max_width": 0}, "at least 1"),
        ({"hidden": 0}, "at least 1"),
        ({"dropout": 1.0}, "below 1"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        _model(**arguments)


@pytest.mark.parametrize(("labels", "message"), [((), "at least one"), (("A", "A"), "'A'.*twice")])
def test_wrong_labels_are_refused(labels: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SpanClassifier(HashedWords(), labels)
