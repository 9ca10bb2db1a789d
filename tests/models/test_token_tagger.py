"""The token tagger: its tags, its heads, what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from lacuner import Corpus
from lacuner.errors import UsageError
from lacuner.models.token_tagger import TokenTagger, TwoPartHead, two_parts
from tests.neural import HashedWords, batch_of, sentence

LABELS = ("LOC", "PER")


def _model(**arguments: Any) -> TokenTagger:
    torch.manual_seed(0)
    return TokenTagger(HashedWords(), LABELS, **arguments).eval()


@pytest.mark.parametrize(
    ("scheme", "head", "tags"),
    [("bio", "softmax", 5), ("bioes", "crf", 9), ("io", "two_part", 3), ("io", "softmax", 3)],
)
def test_output_has_a_score_for_every_tag(
    scheme: str, head: str, tags: int, small_corpus: Corpus
) -> None:
    model = _model(scheme=scheme, head=head)
    batch = batch_of(small_corpus.sentences, LABELS, model.encoder)
    output = model(batch)
    assert output.scores.shape == (20, int(batch.lengths.max()), tags)
    assert len(model.tags) == tags
    assert torch.equal(output.mask, batch.words)
    assert output.spans is None


def test_only_the_crf_head_has_a_crf() -> None:
    assert _model().crf is None
    crf = _model(head="crf").crf
    assert crf is not None
    assert crf.follow.shape == (5, 5)


def test_two_part_scores_are_log_probabilities_of_both_parts() -> None:
    torch.manual_seed(0)
    head = TwoPartHead(4, 3).double()
    words = torch.randn(2, 5, 4, dtype=torch.double)
    scores = head(words)
    entity = torch.sigmoid(head.entity(words))[..., 0]
    labels = torch.softmax(head.label(words), -1)
    assert torch.allclose(scores[..., 0].exp(), 1 - entity)
    assert torch.allclose(scores[..., 1:].exp(), entity[..., None] * labels)
    assert torch.allclose(functional.log_softmax(scores, -1), scores)


def test_two_parts_can_be_had_back_from_scores() -> None:
    torch.manual_seed(0)
    head = TwoPartHead(4, 3).double()
    words = 30 * torch.randn(2, 5, 4, dtype=torch.double)  # far out, where rounding would show
    entity, labels = two_parts(head(words))
    assert torch.allclose(entity, head.entity(words)[..., 0])
    assert torch.allclose(labels, functional.log_softmax(head.label(words), -1))


def test_one_word_is_enough() -> None:
    model = _model()
    assert model(batch_of([sentence(1)], LABELS, model.encoder)).scores.shape == (1, 1, 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"head": "two_parts", "scheme": "io"}, "Did you mean two_part"),
        ({"head": "two_part"}, "needs the scheme io, not bio"),
        ({"scheme": "bilou"}, "There is no tagging scheme 'bilou'"),
        ({"dropout": -0.1}, "at least 0"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        _model(**arguments)
