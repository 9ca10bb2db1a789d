"""The token tagger: its tags, its heads, what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from lacuner import Corpus
from lacuner.errors import UsageError
from lacuner.models import build_model
from lacuner.models.distribution import class_count, log_probabilities
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


def test_type_of_non_entities_comes_last_and_is_no_label() -> None:
    model = _model(non_entities=True)
    assert model.tags == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER", "B-NON", "I-NON")
    assert model.labels == LABELS and model.silent == 2
    assert _model().silent == 0
    taken = TokenTagger(HashedWords(), ("NON", "PER"), non_entities=True)
    assert taken.tags[-1] == "I-NON_" and taken.labels == ("NON", "PER")


@pytest.mark.parametrize("head", ["softmax", "crf"])
def test_non_entities_are_one_class_with_o(head: str) -> None:
    model = _model(head=head, non_entities=True)
    batch = batch_of([sentence(4)], LABELS, model.encoder)
    output = model(batch)
    logs = log_probabilities(model, output)
    chances = (
        output.scores.softmax(-1)
        if model.crf is None
        else model.crf.marginals(output.scores, output.mask)
    )
    assert logs.shape[-1] == class_count(model) == 5
    assert torch.allclose(logs.exp().sum(-1), torch.ones(1, 4), atol=1e-5)
    assert torch.allclose(logs[..., 0].exp(), chances[..., [0, 5, 6]].sum(-1), atol=1e-5)
    assert torch.allclose(logs[..., 1:].exp(), chances[..., 1:5], atol=1e-5)


def test_description_names_only_what_is_special() -> None:
    plain = {"kind": "token_tagger", "scheme": "bio", "head": "softmax", "dropout": 0.1}
    assert _model(dropout=0.1).description() == plain
    special = _model(dropout=0.1, angle=True, non_entities=True)
    assert special.description() == {**plain, "angle": True, "non_entities": True}
    again = build_model(encoder=HashedWords(), labels=LABELS, **special.description())
    again.load_state_dict(special.state_dict())
    assert isinstance(again, TokenTagger) and again.tags == special.tags and again.angle


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
        ({"head": "two_part", "scheme": "io", "angle": True}, "neither angles nor"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        _model(**arguments)
