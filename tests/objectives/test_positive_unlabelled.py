"""The risks of PU learning against sums by hand, and against what they estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from lacuner import Ambiguity, Entity, Sentence
from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.positive_unlabelled import (
    ConfidenceRisk,
    PositiveUnlabelledRisk,
    Prior,
)
from tests.neural import HashedWords, batch_of, output_of, sentence

LABELS = ("A", "B")
RNG = torch.Generator()


def _tagger(labels: Sequence[str] = LABELS) -> TokenTagger:
    return TokenTagger(HashedWords(), labels, scheme="io")


def _scores(batch: Batch, tags: int = 3) -> Tensor:
    torch.manual_seed(3)
    return torch.randn(len(batch), int(batch.lengths.max()), tags, dtype=torch.double)


def _output(batch: Batch, scores: Tensor) -> Output:
    return output_of(scores, batch.words)


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def test_binary_risk_is_that_of_the_paper() -> None:
    batch = batch_of([sentence(4, [(0, 2, "A")]), sentence(2)], LABELS)
    scores = _scores(batch)
    priors = [Prior(0.5, 0.25), Prior(0.1, 0.05)]
    loss = PositiveUnlabelledRisk(_tagger(), priors, gamma=3.0)(_output(batch, scores), batch, RNG)
    places = [(0, word) for word in range(4)] + [(1, 0), (1, 1)]
    total = 0.0
    for number, weight in ((1, 2.0), (2, 2.0)):
        chance = {
            place: _sigmoid(float(scores[place][number] - scores[place][0])) for place in places
        }
        labelled = [(0, 0), (0, 1)] if number == 1 else []
        positive = weight * sum(1 - chance[place] for place in labelled)
        others = sum(chance.values()) - weight * sum(chance[place] for place in labelled)
        total += 3.0 * positive + max(0.0, others)
    assert float(loss.total) == pytest.approx(total / 2)
    assert sum(loss.parts.values()) == pytest.approx(float(loss.total))


def test_negative_part_does_not_fall_below_zero() -> None:
    batch = batch_of([sentence(2, [(0, 1, "A")])], ("A",))
    scores = torch.tensor([[[0.0, 6.0], [0.0, -6.0]]], requires_grad=True)
    priors = [Prior(0.9, 0.3)]  # the labelled word stands for three
    loss = PositiveUnlabelledRisk(_tagger(("A",)), priors, gamma=1.0)(
        _output(batch, scores), batch, RNG
    )
    assert loss.parts["rest"] == 0.0
    (gradient,) = torch.autograd.grad(loss.total, scores)
    assert torch.equal(gradient[0, 1], torch.zeros(2))  # the unlabelled word teaches nothing


@pytest.mark.parametrize("epoch", [0, 1])
def test_risk_estimates_what_complete_labels_would_say(epoch: int) -> None:
    """The mean over all ways to hide labels is the risk of complete labels, of both losses."""
    gold = [(0, 1, "A"), (1, 2, "A"), (3, 4, "B")]
    frequency = 0.6
    scores = _scores(batch_of([sentence(5)], LABELS))
    scores[..., 0] -= 3.0  # so that no negative part has to be clamped
    mean = 0.0
    for hidden in product((False, True), repeat=3):
        batch = batch_of(
            [sentence(5, [e for e, gone in zip(gold, hidden, strict=True) if not gone])], LABELS
        )
        chance = math.prod(1 - frequency if gone else frequency for gone in hidden)
        priors = [Prior(0.4, 0.4 * frequency), Prior(0.2, 0.2 * frequency)]
        objective = PositiveUnlabelledRisk(_tagger(), priors, gamma=1.0, warmup=1)
        loss = objective(_output(batch, scores), replace(batch, epoch=epoch), RNG)
        mean += chance * float(loss.total)

    def cost(logit: float) -> float:
        return _sigmoid(logit) if epoch else math.log1p(math.exp(logit))

    whole = 0.0
    for word, tag in enumerate([1, 1, 0, 2, 0]):
        for number in (1, 2):
            logit = float(scores[0, word, number] - scores[0, word, 0])
            whole += cost(-logit) if tag == number else cost(logit)
    assert mean == pytest.approx(whole)


def test_vouched_words_learn_by_cross_entropy() -> None:
    known = replace(sentence(3, [(0, 1, "B")]), complete=True)
    batch = batch_of([known], LABELS)
    scores = _scores(batch)
    loss = PositiveUnlabelledRisk(_tagger(), [Prior(0.0, 0.0)] * 2, gamma=5.0)(
        _output(batch, scores), batch, RNG
    )
    logits = scores[0, :, 1:] - scores[0, :, :1]
    right = torch.tensor([[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]], dtype=torch.double)
    wanted = torch.nn.functional.binary_cross_entropy_with_logits(logits, right, reduction="sum")
    assert float(loss.total) == pytest.approx(float(wanted))
    assert loss.parts["entities"] == loss.parts["rest"] == 0.0


def test_word_outside_is_vouched_for_and_ambiguous_words_say_nothing() -> None:
    words = ("a", "b", "c", "d")
    told = Sentence("1", words, (Entity(0, 1, "A"),), outside=((1, 2),),
                    ambiguous=(Ambiguity(2, 4),))  # fmt: skip
    batch = batch_of([told], LABELS)
    scores = _scores(batch).requires_grad_()
    for objective in (
        PositiveUnlabelledRisk(_tagger(), [Prior(0.5, 0.5)] * 2, gamma=1.0),
        ConfidenceRisk(_tagger(), [Prior(0.5, 0.5)] * 2, _confident(0.3), gamma=1.0),
    ):
        loss = objective(_output(batch, scores), batch, RNG)
        assert loss.parts["vouched"] > 0
        (gradient,) = torch.autograd.grad(loss.total, scores)
        taught = gradient[0].abs().sum(-1) > 0
        assert taught.tolist() == [True, True, False, False]


def _confident(*chances: float) -> Any:
    def confidence(batch: Batch, output: Output) -> Tensor:
        row = chances * batch.words.shape[1] if len(chances) == 1 else chances
        return torch.tensor([list(row)], dtype=torch.double)

    return confidence


def test_confidence_risk_is_that_of_the_paper() -> None:
    batch = batch_of([sentence(4, [(0, 1, "A"), (1, 2, "B")])], LABELS)
    scores = _scores(batch)
    chances = torch.softmax(scores[0], -1)
    priors = [Prior(0.5, 0.25), Prior(0.3, 0.1)]
    objective = ConfidenceRisk(_tagger(), priors, _confident(0.8, 0.4, 0.9, 0.2), gamma=2.0)
    loss = objective(_output(batch, scores), batch, RNG)
    none = [1 - float(chances[word, 0]) for word in range(4)]
    first = 2.0 * (1 - float(chances[0, 1]) + none[0] / 0.8 - none[0])  # surely an entity
    second = 3.0 * (1 - float(chances[1, 2]) - none[1])  # hardly one
    positive = max(0.0, first + second)
    negative = none[1] + none[3]  # words that hardly are entities; word 2 says nothing
    assert float(loss.total) == pytest.approx(2.0 * positive + negative)
    assert loss.parts["rest"] == pytest.approx(negative)


def test_confidence_risk_estimates_what_complete_labels_would_say() -> None:
    """With true confidences, 1 and 0, that of the entities and that of all others."""
    gold = [(0, 1, "A"), (1, 2, "B")]
    frequency = 0.5
    scores = _scores(batch_of([sentence(3)], LABELS))
    mean = 0.0
    for hidden in product((False, True), repeat=2):
        kept = [e for e, gone in zip(gold, hidden, strict=True) if not gone]
        batch = batch_of([sentence(3, kept)], LABELS)
        priors = [Prior(1 / 3, frequency / 3)] * 2
        objective = ConfidenceRisk(_tagger(), priors, _confident(1.0, 1.0, 0.0), gamma=1.0)
        mean += 0.25 * float(objective(_output(batch, scores), batch, RNG).total)
    chances = torch.softmax(scores[0], -1)
    whole = sum(1 - float(chances[word, tag]) for word, tag in enumerate((1, 2, 0)))
    assert mean == pytest.approx(whole)


def test_gradients_are_those_of_the_risks() -> None:
    batch = batch_of([sentence(4, [(0, 2, "A")]), sentence(3, [(1, 2, "B")])], LABELS)
    priors = [Prior(0.3, 0.2), Prior(0.2, 0.1)]
    scores = _scores(batch).requires_grad_()

    def confidence(batch: Batch, output: Output) -> Tensor:
        return torch.full(batch.words.shape, 0.7, dtype=torch.double)

    for objective in (
        PositiveUnlabelledRisk(_tagger(), priors, gamma=2.0),
        PositiveUnlabelledRisk(_tagger(), priors, gamma=2.0, warmup=1),
        ConfidenceRisk(_tagger(), priors, confidence, gamma=2.0),
        ConfidenceRisk(_tagger(), priors, confidence, gamma=2.0, warmup=1),
    ):

        def total(scores: Tensor, objective: Any = objective) -> Tensor:
            found: Tensor = objective(_output(batch, scores), batch, RNG).total
            return found

        assert torch.autograd.gradcheck(total, (scores,))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Prior(0.1, 0.2), "less than the share of words that is labelled"),
        (lambda: Prior(1.1, 0.2), "between 0 and 1; 1.1 is not"),
        (lambda: PositiveUnlabelledRisk(_tagger(), [], gamma=1.0), "0 priors for 2 labels"),
        (lambda: PositiveUnlabelledRisk(_tagger(), [Prior(0, 0)] * 2, gamma=0.0), "gamma is 0"),
        (
            lambda: PositiveUnlabelledRisk(
                TokenTagger(HashedWords(), LABELS), [Prior(0, 0)] * 2, gamma=1.0
            ),
            "needs IO tags",
        ),
        (
            lambda: ConfidenceRisk(
                _tagger(), [Prior(0, 0)] * 2, _confident(0.5), gamma=1.0, threshold=1.0
            ),
            "threshold is 1",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()
