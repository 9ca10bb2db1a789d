"""The loss without removed words, by hand and against the plain losses."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from lacuner.errors import UsageError
from lacuner.inference.decode import decode
from lacuner.models.batch import Batch, Output
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.cross_entropy import CrfLikelihood, TagCrossEntropy, crf_likelihood
from lacuner.objectives.loss import Objective
from lacuner.objectives.two_step import TwoStepTagging
from tests.neural import HashedWords, batch_of, sentence

SENTENCES = [sentence(5, [(1, 3, "A")]), sentence(3), sentence(4, ambiguous=[(0, 2)])]
RNG = torch.Generator().manual_seed(0)


def _model(**arguments: Any) -> TokenTagger:
    torch.manual_seed(0)
    return TokenTagger(HashedWords(), ("A",), **{"dropout": 0.0, **arguments})


def _batch(model: TokenTagger) -> Batch:
    return batch_of(SENTENCES, ("A",), model.encoder)


def _removes(*words: tuple[int, int]) -> Any:
    def removed(batch: Batch, output: Output) -> Tensor:
        found = torch.zeros_like(output.mask)
        for row, word in words:
            found[row, word] = True
        return found

    return removed


@pytest.mark.parametrize("head", ["softmax", "crf"])
def test_without_removal_and_draw_it_is_the_plain_loss(head: str) -> None:
    model = _model(head=head)
    batch = _batch(model)
    plain: Objective = CrfLikelihood(model) if head == "crf" else TagCrossEntropy(model)
    output = model(batch)
    found = TwoStepTagging(model, _removes(), rate=0.0)(output, batch, RNG)
    assert torch.allclose(found.total, plain(output, batch, RNG).total)
    assert found.counts == {"removed": 0, "drawn": 0}


def test_softmax_leaves_removed_words_out() -> None:
    model = _model()
    batch = _batch(model)
    output = model(batch)
    # Words of entities, of ambiguous spans and of nothing are not removed even if asked for.
    removed = _removes((0, 0), (1, 2), (0, 1), (2, 0), (1, 4))
    found = TwoStepTagging(model, removed, rate=0.0)(output, batch, RNG)
    targets = [[0, 1, 2, 0, 0], [0, 0, 0], [0, 0, 0, 0]]
    counted = [[1, 2, 3, 4], [0, 1], [2, 3]]
    right = sum(
        functional.cross_entropy(output.scores[row, word], torch.tensor(targets[row][word]))
        for row, words in enumerate(counted)
        for word in words
    )
    assert torch.allclose(found.total, torch.as_tensor(right) / 3)
    assert found.counts == {"removed": 2, "drawn": 0}


def test_crf_gives_removed_words_no_gradient_though_others_are_ambiguous() -> None:
    model = _model(head="crf")
    batch = _batch(model)
    output = model(batch)
    output.scores.retain_grad()
    removed = _removes((0, 0), (1, 0), (1, 1), (1, 2))
    loss = TwoStepTagging(model, removed, rate=0.0)(output, batch, RNG)
    loss.total.backward()  # type: ignore[no-untyped-call]
    gradient = output.scores.grad
    assert gradient is not None and gradient.isfinite().all()
    assert not gradient[0, 0].any() and not gradient[1].any()
    assert gradient[0, 1:].abs().sum(-1).min() > 0


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
@pytest.mark.parametrize("head", ["softmax", "crf"])
def test_learnt_non_entities_are_predicted_as_such(head: str, scheme: str) -> None:
    model = _model(head=head, scheme=scheme, non_entities=True, angle=True)
    batch = batch_of(SENTENCES[:1], ("A",), model.encoder)
    objective = TwoStepTagging(model, _removes((0, 0)), rate=1.0)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(60):
        loss = objective(model(batch), batch, RNG)
        optimiser.zero_grad()
        loss.total.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert loss.counts["removed"] == 1 and loss.counts["drawn"] > 0
    output = model(batch)
    best = (
        output.scores.argmax(-1)
        if model.crf is None
        else model.crf.viterbi(output.scores, output.mask)[0]
    )
    assert (best[0, 3:] > model.tag_set.places).all()  # words that are always drawn
    found = decode(model, output)[0]
    assert (1, 3, "A") in [entity.key for entity in found]
    assert {entity.label for entity in found} == {"A"}  # a predicted NON span is no entity


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_removed_words_are_never_in_a_drawn_span(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = _model(head="crf", scheme=scheme, non_entities=True, angle=True)
    sentences = [sentence(6, [(1, 2, "A")]), sentence(5), sentence(4)]
    batch = batch_of(sentences, ("A",), model.encoder)
    # Between, before and behind words that may be drawn; the last sentence has no word left.
    gone = [(0, 3), (1, 0), (1, 2), (1, 4), (2, 0), (2, 1), (2, 2), (2, 3)]
    learnt: list[Tensor] = []

    def watched(crf: Any, output: Output, targets: Tensor, *rest: Any) -> Any:
        learnt.append(targets)
        return crf_likelihood(crf, output, targets, *rest)

    monkeypatch.setattr("lacuner.objectives.two_step.crf_likelihood", watched)
    objective = TwoStepTagging(model, _removes(*gone), rate=1.0)
    rng = torch.Generator().manual_seed(1)
    output = model(batch)
    for _ in range(50):
        loss = objective(output, batch, rng)
        drawn = learnt.pop() > model.tag_set.places
        assert loss.counts["removed"] == len(gone)
        assert not any(bool(drawn[place]) for place in gone)
        # At γ = 1 as many spans are drawn as there are words, so that none that may be is left.
        free = [(0, 0), (0, 2), (0, 4), (0, 5), (1, 1), (1, 3)]
        assert all(bool(drawn[place]) for place in free) and int(drawn.sum()) == len(free)


def test_spans_are_not_drawn_where_there_are_no_tags_for_them() -> None:
    with pytest.raises(UsageError, match="without tags of non-entities"):
        TwoStepTagging(_model(), _removes(), rate=0.1)
