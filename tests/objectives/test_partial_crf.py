"""The likelihood of partial labels against enumeration of all rows of tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product

import pytest
import torch
from torch import Tensor

from lacuner import Ambiguity, Entity, Sentence
from lacuner.corpus.sentence import Span
from lacuner.corpus.tagging import decode_tags
from lacuner.errors import UsageError
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.cross_entropy import CrfLikelihood
from lacuner.objectives.expected_entity_ratio import ExpectedEntityRatio
from lacuner.objectives.partial_crf import PartialCrfLikelihood
from tests.neural import HashedWords, batch_of, output_of

LABELS = ("A", "B")
WORDS = ("u", "v", "w", "x")
SENTENCES = [
    Sentence("1", WORDS, (Entity(0, 2, "A"),)),
    Sentence("2", WORDS[:3], (Entity(1, 2, "B"),), complete=True),
    Sentence("3", WORDS, ambiguous=(Ambiguity(1, 3, ("A", "B")),), outside=((3, 4),)),
    Sentence("4", WORDS[:1]),
]
REJECTING = [
    Sentence("1", WORDS, (Entity(0, 1, "B"),), rejected=((2, 4),)),
    Sentence("2", WORDS[:3], rejected=((1, 2),)),
]
RNG = torch.Generator()


def _model(scheme: str) -> TokenTagger:
    torch.manual_seed(2)
    model = TokenTagger(HashedWords(), LABELS, scheme=scheme, head="crf").double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model


def _scores(model: TokenTagger) -> Tensor:
    torch.manual_seed(3)
    return torch.randn(len(SENTENCES), 4, len(model.tag_set), dtype=torch.double)


def _agrees(sentence: Sentence, row: tuple[str, ...], scheme: str) -> bool:
    found = {(start, end): label for start, end, label in decode_tags(row, scheme).spans}
    told: dict[Span, tuple[str, ...]] = {e.span: (e.label,) for e in sentence.entities}
    told |= {each.span: each.labels or LABELS for each in sentence.ambiguous}
    unsaid = {word for span in found if span not in told for word in range(*span)}
    closed = {word for span in sentence.outside for word in range(*span)}
    return (
        all(found.get(span) in labels for span, labels in told.items())
        and not (unsaid if sentence.complete else unsaid & closed)
        and not found.keys() & set(sentence.rejected)
    )


def _enumerated(
    model: TokenTagger,
    sentences: Sequence[Sentence],
    scores: Tensor,
    beliefs: Tensor | None = None,
) -> float:
    """The mean over sentences of minus the log-probability that a row drawn from the CRF agrees."""
    assert model.crf is not None
    scheme, tags, losses = model.tag_set.scheme, model.tags, []
    for row, sentence in enumerate(sentences):
        every, agreeing = [], []
        for numbers in product(range(len(tags)), repeat=len(sentence)):
            names = tuple(tags[number] for number in numbers)
            if decode_tags(names, scheme).broken:
                continue
            score = sum(scores[row, i, n] for i, n in enumerate(numbers))
            score = score + model.crf.begin[numbers[0]] + model.crf.end[numbers[-1]]
            for before, after in pairwise(numbers):
                score = score + model.crf.follow[before, after]
            every.append(score)
            if _agrees(sentence, names, scheme):
                weight = sum(beliefs[row, i, n] for i, n in enumerate(numbers)) if (
                    beliefs is not None) else 0.0  # fmt: skip
                agreeing.append(score + weight)
        loss = torch.logsumexp(torch.stack(every), 0) - torch.logsumexp(torch.stack(agreeing), 0)
        losses.append(float(loss.detach()))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_loss_equals_enumeration(scheme: str) -> None:
    model = _model(scheme)
    scores, batch = _scores(model), batch_of(SENTENCES, LABELS)
    found = PartialCrfLikelihood(model)(output_of(scores, batch.words), batch, RNG)
    assert float(found.total.detach()) == pytest.approx(_enumerated(model, SENTENCES, scores))


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_rejected_span_loses_the_rows_that_have_it(scheme: str) -> None:
    model = _model(scheme)
    scores, batch = _scores(model)[:2], batch_of(REJECTING, LABELS)
    found = PartialCrfLikelihood(model)(output_of(scores, batch.words), batch, RNG)
    right = _enumerated(model, REJECTING, scores)
    assert float(found.total.detach()) == pytest.approx(right, rel=1e-3)  # _SURE makes it inexact
    assert found.parts["rejected"] > 0.01
    assert sum(found.parts.values()) == pytest.approx(float(found.total.detach()))


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_beliefs_weigh_the_rows_that_agree(scheme: str) -> None:
    model = _model(scheme)
    scores, batch = _scores(model), batch_of(SENTENCES, LABELS)
    beliefs = torch.log_softmax(scores.flip(0) * 2, -1)
    objective = PartialCrfLikelihood(model, beliefs=lambda output, batch: beliefs)
    found = objective(output_of(scores, batch.words), batch, RNG)
    right = _enumerated(model, SENTENCES, scores, beliefs)
    assert float(found.total.detach()) == pytest.approx(right)


def test_complete_labels_are_plain_likelihood() -> None:
    model = _model("bioes")
    sentences = [replace(each, complete=True, ambiguous=()) for each in SENTENCES]
    scores, batch = _scores(model), batch_of(sentences, LABELS)
    output = output_of(scores, batch.words)
    partial = PartialCrfLikelihood(model)(output, batch, RNG).total
    assert torch.allclose(partial, CrfLikelihood(model)(output, batch, RNG).total)


def test_nothing_known_costs_nothing() -> None:
    model = _model("bioes")
    batch = batch_of([Sentence("1", WORDS)], LABELS)
    output = output_of(_scores(model)[:1], batch.words)
    assert float(PartialCrfLikelihood(model)(output, batch, RNG).total.detach()) == pytest.approx(0)


def test_gradients_pass_gradcheck() -> None:
    model = _model("bio")
    batch = batch_of([*SENTENCES[:3], REJECTING[0]], LABELS)
    partial = PartialCrfLikelihood(model)
    for objective in (partial, ExpectedEntityRatio(partial, ratio=0.2, margin=0.01)):
        assert torch.autograd.gradcheck(
            lambda scores, of=objective: of(output_of(scores, batch.words), batch, RNG).total,
            (_scores(model).requires_grad_(),),
        )


def test_rejected_span_that_the_model_is_sure_of_has_a_finite_gradient() -> None:
    model = _model("bioes").float()
    batch = batch_of([Sentence("1", WORDS[:1], rejected=((0, 1),))], LABELS)
    scores = torch.zeros(1, 1, len(model.tag_set))
    scores[0, 0, model.tags.index("S-A")] = 9.0
    scores.requires_grad_()
    PartialCrfLikelihood(model)(output_of(scores, batch.words), batch, RNG).total.backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None and scores.grad.isfinite().all()
    assert scores.grad[0, 0, model.tags.index("S-A")] > 0.1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TokenTagger(HashedWords(), LABELS), "head crf"),
        (TokenTagger(HashedWords(), LABELS, head="crf", scheme="io"), "where an entity begins"),
    ],
)
def test_model_that_does_not_fit_is_refused(model: TokenTagger, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        PartialCrfLikelihood(model)
