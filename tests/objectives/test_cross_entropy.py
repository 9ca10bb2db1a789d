"""Cross-entropy against its closed form, and what it leaves out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from lacuner import Corpus
from lacuner.errors import UsageError
from lacuner.models import build_model
from lacuner.models.span_features import band_mask
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.cross_entropy import CrfLikelihood, SpanCrossEntropy, TagCrossEntropy
from lacuner.objectives.loss import Objective
from tests.neural import HashedWords, batch_of, output_of, sentence

LABELS = ("LOC", "PER")
RNG = torch.Generator()
SENTENCES = [
    sentence(5, [(0, 2, "PER"), (0, 1, "LOC"), (0, 5, "LOC")], ambiguous=[(3, 5)]),
    sentence(2, [(1, 2, "LOC")]),
    sentence(1),
]
# Which label each span has; the entity of five words is wider than the band.
LABELLED = {(0, 0, 1): 2, (0, 0, 0): 1, (1, 1, 0): 1}
AMBIGUOUS = (0, 3, 1)
WIDTHS = 3


def _scores(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), requires_grad=True)


def test_span_loss_is_the_sum_over_spans_by_sentence() -> None:
    batch = batch_of(SENTENCES, LABELS)
    mask = band_mask(batch.lengths, 5, WIDTHS)
    scores = _scores(3, 5, WIDTHS, 3)
    loss = SpanCrossEntropy()(output_of(scores, mask), batch, RNG)
    logs = functional.log_softmax(scores, -1)
    entities, rest = 0.0, 0.0
    for row, length in enumerate([5, 2, 1]):
        for start in range(length):
            for width in range(min(WIDTHS, length - start)):
                place = row, start, width
                if place in LABELLED:
                    entities -= float(logs[(*place, LABELLED[place])].detach())
                elif place != AMBIGUOUS:
                    rest -= float(logs[(*place, 0)].detach())
    assert loss.total.item() == pytest.approx((entities + rest) / 3)
    assert loss.parts == pytest.approx({"entities": entities / 3, "rest": rest / 3}, rel=1e-4)


def test_span_gradient_is_softmax_minus_one_hot() -> None:
    batch = batch_of(SENTENCES, LABELS)
    mask = band_mask(batch.lengths, 5, WIDTHS)
    scores = _scores(3, 5, WIDTHS, 3)
    loss = SpanCrossEntropy()(output_of(scores, mask), batch, RNG)
    (gradient,) = torch.autograd.grad(loss.total, scores)
    right = torch.softmax(scores.detach(), -1)
    for row in range(3):
        for start in range(5):
            for width in range(WIDTHS):
                place = row, start, width
                if not mask[place] or place == AMBIGUOUS:
                    right[place] = 0
                else:
                    right[(*place, LABELLED.get(place, 0))] -= 1
    assert torch.allclose(gradient, right / 3, atol=1e-6)


def test_tag_gradient_is_softmax_minus_one_hot() -> None:
    found = [sentence(4, [(0, 2, "PER")], ambiguous=[(1, 3)]), sentence(2)]
    batch = batch_of(found, LABELS)
    scores = _scores(2, 4, 5)
    objective = TagCrossEntropy(TokenTagger(HashedWords(), LABELS))
    loss = objective(output_of(scores, batch.words), batch, RNG)
    (gradient,) = torch.autograd.grad(loss.total, scores)
    right = torch.softmax(scores.detach(), -1)
    right[0, [0, 1, 3], [3, 4, 0]] -= 1  # B-PER, I-PER, O
    right[0, 2] = 0  # ambiguous, and in no entity
    right[1, [0, 1], 0] -= 1
    right[1, 2:] = 0
    assert torch.allclose(gradient, right / 2, atol=1e-6)


def _crf_model() -> TokenTagger:
    torch.manual_seed(0)
    model = TokenTagger(HashedWords(), LABELS, head="crf")
    assert model.crf is not None
    for parameter in model.crf.parameters():
        nn.init.normal_(parameter)
    return model


def test_crf_gradient_is_marginals_minus_one_hot() -> None:
    batch = batch_of([sentence(4, [(0, 2, "PER")]), sentence(2)], LABELS)
    model = _crf_model()
    assert model.crf is not None
    scores = _scores(2, 4, 5)
    loss = CrfLikelihood(model)(output_of(scores, batch.words), batch, RNG)
    (gradient,) = torch.autograd.grad(loss.total, scores)
    right = model.crf.marginals(scores, batch.words).detach()
    right[0, [0, 1, 2, 3], [3, 4, 0, 0]] -= 1
    right[1, [0, 1], 0] -= 1
    assert torch.allclose(gradient, right / 2, atol=1e-5)


def test_crf_lets_ambiguous_words_have_any_tag() -> None:
    batch = batch_of([sentence(3, [(0, 1, "PER")], ambiguous=[(1, 2)])], LABELS)
    model = _crf_model()
    assert model.crf is not None
    scores = _scores(1, 3, 5)
    loss = CrfLikelihood(model)(output_of(scores, batch.words), batch, RNG)
    rows = torch.tensor([[3, tag, 0] for tag in range(5)])  # B-PER, any, O
    agreeing = model.crf.score(scores.expand(5, -1, -1), rows, batch.words.expand(5, -1))
    right = model.crf.log_partition(scores, batch.words)[0] - agreeing.logsumexp(0)
    assert torch.allclose(loss.total, right)


def test_crf_likelihood_needs_a_crf() -> None:
    with pytest.raises(UsageError, match="head crf"):
        CrfLikelihood(TokenTagger(HashedWords(), LABELS))


def _case(kind: str, head: str) -> tuple[nn.Module, Objective]:
    torch.manual_seed(0)
    if kind == "span_classifier":
        return build_model(
            kind, HashedWords(16), LABELS, hidden=32, dropout=0.0
        ), SpanCrossEntropy()
    scheme = "io" if head == "two_part" else "bio"
    model = TokenTagger(HashedWords(16), LABELS, head=head, scheme=scheme, dropout=0.0)
    return model, CrfLikelihood(model) if head == "crf" else TagCrossEntropy(model)


CASES = [
    ("span_classifier", ""),
    ("token_tagger", "softmax"),
    ("token_tagger", "crf"),
    ("token_tagger", "two_part"),
]


@pytest.mark.parametrize(("kind", "head"), CASES)
def test_batch_without_any_label_has_a_finite_loss(kind: str, head: str) -> None:
    model, objective = _case(kind, head)
    batch = batch_of([sentence(1), sentence(3, [(0, 1, "UNSEEN")])], LABELS, HashedWords())
    loss = objective(model(batch), batch, RNG)
    loss.total.backward()  # type: ignore[no-untyped-call]
    assert loss.total.item() > 0
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize(("kind", "head"), CASES)
def test_training_brings_the_loss_down(kind: str, head: str, small_corpus: Corpus) -> None:
    model, objective = _case(kind, head)
    batch = batch_of(small_corpus.sentences, LABELS, HashedWords())
    optimiser = torch.optim.Adam(model.parameters(), 0.02)
    losses = []
    for _ in range(60):
        loss = objective(model(batch), batch, RNG).total
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(loss.item())
    # Not to zero: words like Jordan have two labels, which this encoder cannot tell apart.
    assert losses[-1] < 0.2 * losses[0]
