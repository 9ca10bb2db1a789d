"""The CRF against enumeration of all rows of tags."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor

from lacuner.corpus.tag_set import TAGGER_SCHEMES, TagSet
from lacuner.corpus.tagging import decode_tags
from lacuner.models.crf import LinearChainCrf

LENGTHS = torch.tensor([4, 1, 3, 0])
WORDS = 4


def _crf(scheme: str) -> tuple[LinearChainCrf, TagSet]:
    torch.manual_seed(3)
    tag_set = TagSet(("A", "B") if scheme != "bioes" else ("A",), scheme)
    crf = LinearChainCrf(tag_set).double()
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    return crf, tag_set


def _inputs(tags: int) -> tuple[Tensor, Tensor]:
    torch.manual_seed(4)
    emissions = torch.randn(len(LENGTHS), WORDS, tags, dtype=torch.double, requires_grad=True)
    return emissions, torch.arange(WORDS) < LENGTHS[:, None]


def _allowed(tags: int) -> Tensor:
    """Some tags are not allowed; O always is, so that a valid row is left."""
    torch.manual_seed(5)
    allowed = torch.rand(len(LENGTHS), WORDS, tags) < 0.6
    allowed[:, :, 0] = True
    return allowed


def _rows(
    crf: LinearChainCrf,
    tag_set: TagSet,
    emissions: Tensor,
    row: int,
    allowed: Tensor | None = None,
) -> dict[tuple[int, ...], Tensor]:
    """The score of every valid row of tags of a sentence, term by term."""
    scores = {}
    length = int(LENGTHS[row])
    for tags in product(range(len(tag_set)), repeat=length):
        if decode_tags([tag_set.tags[tag] for tag in tags], tag_set.scheme).broken:
            continue
        if allowed is not None and not all(allowed[row, i, tag] for i, tag in enumerate(tags)):
            continue
        score = torch.zeros(()).double()
        for place, tag in enumerate(tags):
            score = score + emissions[row, place, tag]
            score = score + (crf.follow[tags[place - 1], tag] if place else crf.begin[tag])
        scores[tags] = score + crf.end[tags[-1]] if tags else score
    return scores


@pytest.mark.parametrize("scheme", TAGGER_SCHEMES)
@pytest.mark.parametrize("constrained", [False, True])
def test_log_partition_and_its_gradient_equal_enumeration(scheme: str, constrained: bool) -> None:
    crf, tag_set = _crf(scheme)
    emissions, mask = _inputs(len(tag_set))
    allowed = _allowed(len(tag_set)) if constrained else None
    found = crf.log_partition(emissions, mask, allowed)
    right = torch.stack(
        [
            torch.stack(list(_rows(crf, tag_set, emissions, row, allowed).values())).logsumexp(0)
            for row in range(len(LENGTHS))
        ]
    )
    assert torch.allclose(found, right)
    weights = torch.tensor([1.0, 2.0, -1.0, 0.5]).double()
    inputs = [emissions, *crf.parameters()]
    for first, second in zip(
        torch.autograd.grad((found * weights).sum(), inputs),
        torch.autograd.grad((right * weights).sum(), inputs),
        strict=True,
    ):
        assert torch.allclose(first, second, atol=1e-12)


@pytest.mark.parametrize("scheme", TAGGER_SCHEMES)
def test_score_equals_the_sum_of_its_terms(scheme: str) -> None:
    crf, tag_set = _crf(scheme)
    emissions, mask = _inputs(len(tag_set))
    for row in range(len(LENGTHS)):
        for tags, right in _rows(crf, tag_set, emissions, row).items():
            padded = torch.zeros(len(LENGTHS), WORDS, dtype=torch.long)
            padded[row, : len(tags)] = torch.tensor(tags)
            padded[row, len(tags) :] = len(tag_set) - 1  # must not matter
            assert torch.allclose(crf.score(emissions, padded, mask)[row], right)


@pytest.mark.parametrize("scheme", TAGGER_SCHEMES)
@pytest.mark.parametrize("constrained", [False, True])
def test_viterbi_finds_the_best_of_all_rows(scheme: str, constrained: bool) -> None:
    crf, tag_set = _crf(scheme)
    emissions, mask = _inputs(len(tag_set))
    allowed = _allowed(len(tag_set)) if constrained else None
    tags, scores = crf.viterbi(emissions, mask, allowed)
    for row, length in enumerate(LENGTHS.tolist()):
        rows = _rows(crf, tag_set, emissions, row, allowed)
        best = max(rows, key=lambda key: float(rows[key].detach()))
        assert tuple(tags[row, :length].tolist()) == best
        assert torch.allclose(scores[row], rows[best])
        assert not tags[row, length:].any()


@pytest.mark.parametrize("scheme", TAGGER_SCHEMES)
@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_marginals_equal_enumeration_and_the_gradient_of_the_partition(
    scheme: str, temperature: float
) -> None:
    crf, tag_set = _crf(scheme)
    emissions, mask = _inputs(len(tag_set))
    allowed = _allowed(len(tag_set))
    found = crf.marginals(emissions, mask, allowed, temperature=temperature)
    right = torch.zeros_like(emissions)
    for row in range(len(LENGTHS)):
        rows = _rows(crf, tag_set, emissions, row, allowed)
        weights = torch.softmax(torch.stack(list(rows.values())) / temperature, 0)
        for tags, weight in zip(rows, weights.tolist(), strict=True):
            for place, tag in enumerate(tags):
                right[row, place, tag].data += weight
    assert torch.allclose(found, right)
    partition = crf.log_partition(emissions, mask, allowed, temperature=temperature).sum()
    (gradient,) = torch.autograd.grad(partition, emissions)
    assert torch.allclose(found, gradient * temperature)


@pytest.mark.parametrize("scheme", TAGGER_SCHEMES)
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_run_probabilities_equal_enumeration(scheme: str, temperature: float) -> None:
    crf, tag_set = _crf(scheme)
    emissions, mask = _inputs(len(tag_set))
    tags, _ = crf.viterbi(emissions, mask)
    runs = [
        (row, start, end)
        for row, length in enumerate(LENGTHS.tolist())
        for start in range(length)
        for end in range(start + 1, length + 1)
    ]
    found = crf.run_probabilities(
        emissions, tags, mask, torch.tensor(runs), temperature=temperature
    )
    for (row, start, end), probability in zip(runs, found.tolist(), strict=True):
        rows = _rows(crf, tag_set, emissions, row)
        weights = torch.softmax(torch.stack(list(rows.values())) / temperature, 0).tolist()
        wanted = tuple(tags[row, start:end].tolist())
        right = sum(w for key, w in zip(rows, weights, strict=True) if key[start:end] == wanted)
        assert probability == pytest.approx(right)


def test_gradients_pass_gradcheck() -> None:
    crf, tag_set = _crf("bio")
    emissions, mask = _inputs(len(tag_set))
    tags = torch.randint(0, len(tag_set), mask.shape, generator=torch.Generator().manual_seed(0))
    # Rows of random tags break the scheme; their scores must have right gradients all the same.
    assert torch.autograd.gradcheck(lambda e: crf.score(e, tags, mask), (emissions,))
    assert torch.autograd.gradcheck(lambda e: crf.log_partition(e, mask), (emissions,))
    assert torch.autograd.gradcheck(
        lambda e: crf.log_partition(e, mask, _allowed(len(tag_set))), (emissions,)
    )


def test_impossible_constraints_give_no_nan() -> None:
    tag_set = TagSet(("A",), "bioes")
    crf = LinearChainCrf(tag_set)
    emissions = torch.randn(1, 3, 5, requires_grad=True)
    mask = torch.ones(1, 3, dtype=torch.bool)
    allowed = torch.zeros(1, 3, 5, dtype=torch.bool)
    allowed[:, :, 2] = True  # I-A three times: not a row of the scheme
    value = crf.log_partition(emissions, mask, allowed).sum()
    value.backward()  # type: ignore[no-untyped-call]
    assert value.isfinite()
    assert emissions.grad is not None and emissions.grad.isfinite().all()
    assert all(p.grad is None or p.grad.isfinite().all() for p in crf.parameters())


def test_forbidden_neighbours_are_not_learned_and_not_saved() -> None:
    crf, tag_set = _crf("bio")
    emissions, mask = _inputs(len(tag_set))
    crf.log_partition(emissions, mask).sum().backward()  # type: ignore[no-untyped-call]
    begin, inside = tag_set.tags.index("B-A"), tag_set.tags.index("I-B")
    assert crf.follow.grad is not None
    assert crf.follow.grad[begin, inside] == 0
    assert crf.follow.grad[begin, begin] != 0
    assert set(crf.state_dict()) == {"begin", "follow", "end"}


def test_batch_of_empty_sentences_is_harmless() -> None:
    crf, tag_set = _crf("bio")
    emissions, mask = torch.zeros(2, 0, len(tag_set)), torch.zeros(2, 0, dtype=torch.bool)
    assert crf.log_partition(emissions, mask).tolist() == [0, 0]
    assert crf.score(emissions, mask.long(), mask).tolist() == [0, 0]
    assert crf.viterbi(emissions, mask)[0].shape == (2, 0)
    assert crf.marginals(emissions, mask).shape == (2, 0, len(tag_set))


@pytest.mark.parametrize("size", [1.0, 30.0, 300.0, 3000.0])
def test_scores_of_any_size_give_finite_values_and_gradients(size: float) -> None:
    torch.manual_seed(6)
    tag_set = TagSet(("A", "B"), "bioes")
    crf = LinearChainCrf(tag_set)
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter, std=size)
    emissions = (size * torch.randn(2, 7, len(tag_set))).requires_grad_()
    mask = torch.ones(2, 7, dtype=torch.bool)
    allowed = torch.zeros(2, 7, len(tag_set), dtype=torch.bool)
    allowed[:, :, 0] = True
    every = crf.log_partition(emissions, mask)
    agreeing = crf.log_partition(emissions, mask, allowed)
    assert (agreeing <= every + 1e-4 * size).all()
    assert crf.marginals(emissions, mask).isfinite().all()
    (every - agreeing).sum().backward()  # type: ignore[no-untyped-call]
    assert emissions.grad is not None and emissions.grad.isfinite().all()
    assert crf.follow.grad is not None and crf.follow.grad.isfinite().all()


def test_partition_in_single_precision_keeps_what_is_unlikely() -> None:
    crf, tag_set = _crf("bioes")
    emissions, mask = _inputs(len(tag_set))
    allowed = torch.zeros(len(LENGTHS), WORDS, len(tag_set), dtype=torch.bool)
    allowed[:, :, 0] = True
    sure = emissions.detach().clone()
    sure[:, :, 1:] += 20.0  # every tag but O is likelier by e²⁰
    right = crf.log_partition(sure, mask, allowed)
    found = crf.float().log_partition(sure.float(), mask, allowed)
    assert torch.allclose(found.double(), right, atol=1e-4)
