"""The CRF with removed words, against enumeration of all rows of tags."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor

from lacuner.corpus.tag_set import TAGGER_SCHEMES, TagSet
from lacuner.models.crf import FORBIDDEN, LinearChainCrf

LENGTHS = (4, 4, 3, 2, 1, 4, 0)
WORDS = 4
# The first word, the last, neighbours, all of a sentence, the only one, none.
REMOVED = torch.tensor(
    [[1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4]
).bool()
MASK = torch.arange(WORDS) < torch.tensor(LENGTHS)[:, None]


def _crf(scheme: str) -> tuple[LinearChainCrf, TagSet, Tensor]:
    torch.manual_seed(3)
    tag_set = TagSet(("A", "B") if scheme != "bioes" else ("A",), scheme)
    crf = LinearChainCrf(tag_set).double()
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    emissions = torch.randn(len(LENGTHS), WORDS, len(tag_set), dtype=torch.double)
    return crf, tag_set, emissions.requires_grad_()


def _score(
    crf: LinearChainCrf, tag_set: TagSet, emissions: Tensor, row: int, tags: tuple[int, ...]
) -> Tensor:
    """Σ_i (h_{i,y_i} + T_{y_{i-1},y_i}) without the terms of removed words, one by one."""
    score = torch.zeros(()).double()
    for place, tag in enumerate(tags):
        if REMOVED[row, place]:
            continue
        score = score + emissions[row, place, tag]
        names = tag_set.tags
        if place:
            follows = tag_set.may_follow(names[tags[place - 1]], names[tag])
            score = score + (crf.follow[tags[place - 1], tag] if follows else FORBIDDEN)
        else:
            score = score + (crf.begin[tag] if tag_set.may_begin(names[tag]) else FORBIDDEN)
    if not tags:
        return score
    may_end = tag_set.may_end(tag_set.tags[tags[-1]])
    return score + (crf.end[tags[-1]] if may_end else FORBIDDEN)


def _all_rows(tags: int, row: int) -> list[tuple[int, ...]]:
    return list(product(range(tags), repeat=LENGTHS[row]))


@pytest.mark.parametrize("scheme", TAGGER_SCHEMES)
@pytest.mark.parametrize("constrained", [False, True])
def test_partition_and_its_gradient_equal_enumeration(scheme: str, constrained: bool) -> None:
    crf, tag_set, emissions = _crf(scheme)
    allowed = None
    if constrained:
        allowed = torch.rand(emissions.shape, generator=torch.Generator().manual_seed(1)) < 0.6
        allowed[:, :, 0] = True
    found = crf.log_partition(emissions, MASK, allowed, removed=REMOVED)
    right = torch.stack(
        [
            torch.stack(
                [
                    _score(crf, tag_set, emissions, row, tags)
                    for tags in _all_rows(len(tag_set), row)
                    if allowed is None or all(allowed[row, i, tag] for i, tag in enumerate(tags))
                ]
            ).logsumexp(0)
            for row in range(len(LENGTHS))
        ]
    )
    assert torch.allclose(found, right)
    weights = torch.linspace(-1, 2, len(LENGTHS)).double()
    inputs = [emissions, *crf.parameters()]
    for first, second in zip(
        torch.autograd.grad((found * weights).sum(), inputs),
        torch.autograd.grad((right * weights).sum(), inputs),
        strict=True,
    ):
        assert torch.allclose(first, second, atol=1e-12)


@pytest.mark.parametrize("scheme", TAGGER_SCHEMES)
def test_score_equals_the_terms_that_are_left(scheme: str) -> None:
    crf, tag_set, emissions = _crf(scheme)
    for row in range(len(LENGTHS)):
        for tags in _all_rows(len(tag_set), row)[::7]:
            padded = torch.zeros(len(LENGTHS), WORDS, dtype=torch.long)
            padded[row, : len(tags)] = torch.tensor(tags)
            found = crf.score(emissions, padded, MASK, removed=REMOVED)[row]
            assert torch.allclose(found, _score(crf, tag_set, emissions, row, tags))


def test_gradients_pass_gradcheck_and_leave_removed_words_alone() -> None:
    crf, _, emissions = _crf("bio")
    tags = torch.zeros(len(LENGTHS), WORDS, dtype=torch.long)

    def loss(scores: Tensor) -> Tensor:
        every = crf.log_partition(scores, MASK, removed=REMOVED)
        return every - crf.score(scores, tags, MASK, removed=REMOVED)

    assert torch.autograd.gradcheck(loss, (emissions,))
    (gradient,) = torch.autograd.grad(loss(emissions).sum(), emissions)
    assert not gradient[REMOVED].any()
    assert gradient[MASK & ~REMOVED].abs().sum(-1).min() > 0


def test_nothing_removed_is_the_plain_crf() -> None:
    crf, _, emissions = _crf("bioes")
    tags = torch.zeros(len(LENGTHS), WORDS, dtype=torch.long)
    nothing = torch.zeros_like(REMOVED)
    for found, plain in (
        (crf.log_partition(emissions, MASK, removed=nothing), crf.log_partition(emissions, MASK)),
        (crf.score(emissions, tags, MASK, removed=nothing), crf.score(emissions, tags, MASK)),
    ):
        assert torch.allclose(found, plain)
