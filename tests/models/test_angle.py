"""The simplex, and the head that scores by angles."""

from __future__ import annotations

import pytest
import torch

from lacuner import Corpus
from lacuner.models.angle import AngleHead, simplex
from lacuner.models.token_tagger import TokenTagger
from tests.neural import HashedWords, batch_of


@pytest.mark.parametrize("count", [2, 3, 9, 41])
def test_corners_are_unit_vectors_with_equal_angles_that_sum_to_zero(count: int) -> None:
    corners = simplex(count).double()
    assert corners.shape == (count, count - 1)
    assert torch.allclose(corners.sum(0), torch.zeros(count - 1).double(), atol=1e-5)
    cosines = corners @ corners.T
    right = torch.full((count, count), -1 / (count - 1)).double().fill_diagonal_(1.0)
    assert torch.allclose(cosines, right, atol=1e-5)


def test_two_and_three_corners_are_those_of_the_formula() -> None:
    assert torch.allclose(simplex(2), torch.tensor([[1.0], [-1.0]]))
    first, second, third = simplex(3)
    assert torch.allclose(first, torch.tensor([0.5, 0.5]).sqrt())
    a, b = -(1 + 3**0.5) / 8**0.5, 1.5**0.5
    assert torch.allclose(second, torch.tensor([a + b, a]))
    assert torch.allclose(third, torch.tensor([a, a + b]))


def test_scores_are_inner_products_that_sum_to_zero() -> None:
    torch.manual_seed(0)
    head = AngleHead(6, 5)
    words = torch.randn(2, 3, 6)
    scores = head(words)
    for tag, corner in enumerate(simplex(5)):
        assert torch.allclose(scores[..., tag], head.direction(words) @ corner, atol=1e-6)
    assert torch.allclose(scores.sum(-1), torch.zeros(2, 3), atol=1e-5)
    assert set(head.state_dict()) == {"direction.weight", "direction.bias"}


def test_head_can_say_every_difference_between_tags() -> None:
    wanted = torch.randn(7, generator=torch.Generator().manual_seed(1))
    centred = wanted - wanted.mean()
    directions = torch.linalg.lstsq(simplex(7), centred[:, None]).solution
    assert torch.allclose((simplex(7) @ directions)[:, 0], centred, atol=1e-5)


@pytest.mark.parametrize("head", ["softmax", "crf"])
@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_any_tagger_can_have_it(head: str, scheme: str, small_corpus: Corpus) -> None:
    model = TokenTagger(
        HashedWords(), small_corpus.labels, scheme=scheme, head=head, angle=True
    ).eval()
    batch = batch_of(small_corpus.sentences, small_corpus.labels, model.encoder)
    scores = model(batch).scores
    assert scores.shape[-1] == len(model.tag_set)
    assert torch.allclose(scores.sum(-1), torch.zeros(scores.shape[:2]), atol=1e-5)
