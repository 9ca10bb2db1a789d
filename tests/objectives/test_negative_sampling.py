"""Samplers against enumeration, their loss against its closed form, and degenerate batches."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from lacuner import Sentence
from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.span_features import band_mask
from lacuner.models.span_roles import span_roles
from lacuner.objectives.negative_sampling import (
    SampledCrossEntropy,
    UniformSampler,
    WeightedSampler,
    draw,
    draws,
)
from tests.neural import batch_of, output_of, sentence

LABELS = ("LOC", "PER")
WIDTHS = 3


def _rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _case(*sentences: Sentence, widths: int = WIDTHS) -> tuple[Output, Batch]:
    batch = batch_of(sentences, LABELS)
    words = batch.outside.shape[1]
    scores = torch.randn(len(sentences), words, widths, 3, generator=_rng(1)) * 2
    return output_of(scores.requires_grad_(), band_mask(batch.lengths, words, widths)), batch


def _sequential(weights: list[float], count: int) -> dict[frozenset[int], float]:
    """The exact chance of every set that draws one after another, without replacement, make."""
    chances: dict[frozenset[int], float] = {}
    for order in itertools.permutations(range(len(weights)), count):
        chance, left = 1.0, sum(weights)
        for number in order:
            chance *= weights[number] / left
            left -= weights[number]
        chances[frozenset(order)] = chances.get(frozenset(order), 0.0) + chance
    return chances


@pytest.mark.parametrize("count", [1, 2, 3])
def test_draw_has_the_distribution_of_sequential_draws(count: int) -> None:
    weights = [0.5, 1.0, 4.0, 0.01, 2.0]
    times = 40_000
    logs = torch.tensor(weights).log().expand(times, 1, 5)
    candidates = torch.ones(times, 1, 5, dtype=torch.bool)
    drawn = draw(logs, candidates, torch.full((times,), count), _rng())
    found: dict[frozenset[int], int] = {}
    for row in drawn[:, 0].tolist():
        chosen = frozenset(number for number, taken in enumerate(row) if taken)
        found[chosen] = found.get(chosen, 0) + 1
    for chosen, chance in _sequential(weights, count).items():
        noise = 5 * math.sqrt(chance * (1 - chance) / times)  # five deviations
        assert found.get(chosen, 0) / times == pytest.approx(chance, abs=noise + 1e-4)


def test_draw_takes_only_candidates_and_all_of_them_where_there_are_fewer() -> None:
    candidates = torch.tensor([[[True, False, True]], [[False, False, False]]])
    drawn = draw(torch.zeros(2, 1, 3), candidates, torch.tensor([3, 2]), _rng())
    assert drawn.equal(candidates)


@pytest.mark.parametrize(
    ("rate", "length", "count"),
    [(0.35, 20, 7), (0.35, 21, 8), (0.35, 1, 1), (0.0, 9, 0), (1.0, 9, 9), (0.1, 30, 3)],
)
def test_draws_are_rounded_up_but_not_by_rounding_errors(
    rate: float, length: int, count: int
) -> None:
    assert draws(torch.tensor([length]), rate).tolist() == [count]


def test_uniform_sampler_reaches_every_span_without_label_and_no_other() -> None:
    output, batch = _case(sentence(4, [(0, 2, "PER")], ambiguous=[(3, 4)]), sentence(2))
    roles = span_roles(output, batch)
    seen = torch.zeros_like(roles.unknown)
    for seed in range(300):
        drawn = UniformSampler(0.35)(output, batch, roles.unknown, _rng(seed))
        assert drawn.sum((1, 2)).tolist() == [2, 1]
        seen |= drawn
    assert seen.equal(roles.unknown)
    assert not seen[0, 0, 1] and not seen[0, 3, 0]


def _weights_by_hand(scores: list[float], sampler: WeightedSampler, epoch: int) -> float:
    total = sum(math.exp(score) for score in scores)
    z = [math.exp(score) / total for score in scores]
    u = -sum(p * math.log(p) for p in z)
    v = z[0] - max(z)
    heat = math.sqrt(sampler.epochs - epoch)
    if sampler.form == "printed":
        return u * math.pow(1 + v, sampler.exponent) / heat
    return math.log((sampler.floor + u) * math.pow(1 + v, sampler.exponent)) / heat


@pytest.mark.parametrize("form", ["printed", "power"])
@pytest.mark.parametrize("epoch", [0, 3])
def test_weights_are_those_of_the_paper_by_hand(form: str, epoch: int) -> None:
    sampler = WeightedSampler(4, form=form, exponent=8, floor=0.2)
    for scores in ([2.0, 0.0, -1.0], [0.0, 1.5, -2.0], [0.1, 0.0, 0.2]):
        found = sampler.log_weights(torch.tensor(scores), epoch)
        assert found.item() == pytest.approx(_weights_by_hand(scores, sampler, epoch), rel=1e-4)


def test_power_form_avoids_recognised_entities_and_printed_form_cannot() -> None:
    easy, entity = torch.tensor([9.0, 0, 0]), torch.tensor([0, 9.0, 0])
    both = torch.stack([easy, entity])
    printed = WeightedSampler(5, form="printed").log_weights(both, 4)
    power = WeightedSampler(5, form="power").log_weights(both, 4)
    assert (printed[0] - printed[1]).abs() < 0.01
    assert power[0] - power[1] > 20


@pytest.mark.parametrize(
    ("labels", "suspects", "floor"),
    [(0, 0, 0.2), (0, 1, 0.2), (4, 3, 0.2), (2, 3, 0.2 * 1.5**2), (1, 4, 3.2), (0, 4, 3.2)],
)
def test_adaptive_form_draws_the_more_evenly_the_more_labels_seem_to_be_missing(
    labels: int, suspects: int, floor: float
) -> None:
    made = sentence(12, [(word, word + 1, "PER") for word in range(labels)])
    batch = replace(batch_of([made], LABELS), epoch=4)
    scores = torch.tensor([3.0, 0, 0]).repeat(1, 12, 2, 1)
    scores[0, labels : labels + suspects, 0] = torch.tensor([0, 9.0, 0])
    scores[0, 11, 0] = torch.tensor([0.1, 0, 0])  # unsure
    output = output_of(scores, band_mask(batch.lengths, 12, 2))
    sampler = WeightedSampler(5, form="adaptive", floor=0.2, rate=1 / 12)
    roles, times = span_roles(output, batch), 3000
    drawn = [sampler(output, batch, roles.unknown, _rng(seed)) for seed in range(times)]
    often = torch.stack(drawn).double().mean(0)[0, 11, 0].item()
    weights = sampler.log_weights(scores, 4, floor=floor).exp() * roles.unknown
    chance = (weights[0, 11, 0] / weights.sum()).item()
    assert often == pytest.approx(chance, abs=4 * math.sqrt(chance / times) + 1e-3)


def test_adaptive_form_spares_nothing_that_shares_a_word_with_a_label() -> None:
    batch = replace(batch_of([sentence(6, [(0, 3, "PER")])], LABELS), epoch=4)
    scores = torch.tensor([0, 9.0, 0]).repeat(1, 6, 3, 1)  # entities wherever it looks
    output = output_of(scores, band_mask(batch.lengths, 6, 3))
    candidates = span_roles(output, batch).unknown
    for form, spared in (("adaptive", True), ("power", False)):
        sampler = WeightedSampler(5, form=form, rate=0.5)
        drawn = torch.stack([sampler(output, batch, candidates, _rng(seed)) for seed in range(50)])
        assert drawn[:, 0, :3].any()
        assert bool(drawn[:, 0, 3:].any()) is not spared


def test_weights_are_finite_for_the_surest_scores() -> None:
    scores = torch.tensor([[200.0, 0, 0], [0, 200.0, 0], [0, 0, 0]])
    for form in ("printed", "power", "adaptive"):
        assert WeightedSampler(3, form=form).log_weights(scores, 2).isfinite().all()


def test_no_gradient_flows_through_the_weights() -> None:
    output, batch = _case(sentence(5, [(0, 1, "PER")]))
    sampler = WeightedSampler(3)
    roles = span_roles(output, batch)
    assert not sampler(output, batch, roles.unknown, _rng()).requires_grad
    assert not sampler.log_weights(output.scores.detach(), 0).requires_grad


class _Given:
    """Draws what it was told."""

    def __init__(self, drawn: Tensor) -> None:
        self.drawn = drawn

    def __call__(
        self, output: Output, batch: Batch, candidates: Tensor, rng: torch.Generator
    ) -> Tensor:
        return self.drawn & candidates


def test_loss_is_the_sum_over_entities_and_draws_by_sentence() -> None:
    output, batch = _case(sentence(4, [(0, 2, "PER")]), sentence(2))
    drawn = torch.zeros_like(output.mask)
    drawn[0, 3, 0] = drawn[1, 0, 1] = True
    loss = SampledCrossEntropy(_Given(drawn))(output, batch, _rng())
    logs = functional.log_softmax(output.scores, -1)
    entity, negatives = -logs[0, 0, 1, 2], -logs[0, 3, 0, 0] - logs[1, 0, 1, 0]
    assert loss.total.item() == pytest.approx(((entity + negatives) / 2).item(), rel=1e-5)
    expected = {"entities": entity.item() / 2, "negatives": negatives.item() / 2}
    assert loss.parts == pytest.approx(expected, rel=1e-4)


def test_gradient_is_softmax_minus_one_hot_of_what_counts_and_zero_elsewhere() -> None:
    output, batch = _case(sentence(4, [(0, 2, "PER")]))
    drawn = torch.zeros_like(output.mask)
    drawn[0, 2, 0] = True
    loss = SampledCrossEntropy(_Given(drawn))(output, batch, _rng())
    (gradient,) = torch.autograd.grad(loss.total, output.scores)
    expected = torch.zeros_like(gradient)
    for place, label in (((0, 0, 1), 2), ((0, 2, 0), 0)):
        expected[place] = output.scores.detach()[place].softmax(-1)
        expected[(*place, label)] -= 1
    torch.testing.assert_close(gradient, expected)


def test_trusted_negatives_all_count_unless_told_otherwise() -> None:
    first = replace(sentence(3, [(0, 1, "LOC")]), id="1", complete=True)
    second = replace(sentence(4), id="2", rejected=((0, 2),), outside=((3, 4),))
    output, batch = _case(first, second)
    nothing = _Given(torch.zeros_like(output.mask))

    def places(*, all_trusted: bool) -> set[tuple[int, ...]]:
        loss = SampledCrossEntropy(nothing, all_trusted=all_trusted)(output, batch, _rng())
        (gradient,) = torch.autograd.grad(loss.total, output.scores)
        return {(row, start, width) for row, start, width, _ in gradient.nonzero().tolist()}

    complete = {(0, start, width) for start in range(3) for width in range(3 - start)}
    outside = {(1, 1, 2), (1, 2, 1), (1, 3, 0)}
    assert places(all_trusted=True) == complete | {(1, 0, 1)} | outside
    assert places(all_trusted=False) == {(0, 0, 0)}


def test_missampling_is_counted_where_the_hidden_entities_are_known() -> None:
    output, batch = _case(sentence(4, [(0, 2, "PER")]), sentence(2))
    drawn = torch.zeros_like(output.mask)
    drawn[0, 2, 1] = drawn[0, 3, 0] = drawn[1, 0, 0] = True
    objective = SampledCrossEntropy(_Given(drawn))
    assert objective(output, batch, _rng()).counts == {}
    hidden = replace(batch, hidden=torch.tensor([[0, 2, 4], [1, 1, 2], [0, 0, 4]]))
    assert objective(output, hidden, _rng()).counts == {"drawn": 3, "missampled": 1}


@pytest.mark.parametrize(
    "sentences",
    [
        (sentence(1),),
        (sentence(1, [(0, 1, "PER")]),),
        (sentence(3), sentence(2)),
        (sentence(2, [(0, 1, "PER"), (1, 2, "PER"), (0, 2, "LOC")]),),
    ],
    ids=["one word", "nothing to draw", "no entity", "all labelled"],
)
@pytest.mark.parametrize(
    "sampler",
    [
        UniformSampler(1.0),
        UniformSampler(0),
        WeightedSampler(3, form="power"),
        WeightedSampler(3, form="adaptive"),
    ],
)
def test_degenerate_batches_have_a_finite_loss_and_gradient(
    sentences: tuple[Sentence, ...], sampler: UniformSampler | WeightedSampler
) -> None:
    output, batch = _case(*sentences)
    loss = SampledCrossEntropy(sampler)(output, batch, _rng())
    (gradient,) = torch.autograd.grad(loss.total, output.scores)
    assert loss.total.isfinite() and gradient.isfinite().all()


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        UniformSampler(1.5)
    with pytest.raises(UsageError, match="mean power"):
        WeightedSampler(3, form="powr")
    with pytest.raises(UsageError, match="floor"):
        WeightedSampler(3, floor=0)
