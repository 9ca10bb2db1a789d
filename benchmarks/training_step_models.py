"""The models of `benchmarks.training_step`, each with all that a step of training needs."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from lacuner import demo
from lacuner.encoders import build_encoder
from lacuner.models.batch import Batch, Output
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.targets import tag_targets
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.cross_entropy import CrfLikelihood, SpanCrossEntropy, TagCrossEntropy
from lacuner.training.loop import make_optimiser

SEED = 1
WIDEST = 10
BARE, SPAN = "bare token classifier", "span classifier, endpoints"
PARTS = (
    "encoder forward",
    "head forward",
    "loss",
    "head and loss backward",
    "encoder backward",
    "clip",
    "optimiser",
)

# Without types in torch's backward, a loss is anything.
Loss = Callable[[Output, Batch], Any]


class BareTagger(nn.Module):
    """What the span classifier is measured by: dropout and one linear layer over the words."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(0.1)
        self.classify = nn.Linear(encoder.width, 1 + 2 * len(demo.LABELS))

    def forward(self, batch: Batch) -> Output:
        """Scores of BIO tags."""
        hidden = self.encoder(batch.inputs)
        return Output(hidden, self.classify(self.dropout(hidden)), batch.words)


class Trained:
    """A model with all that a step of training needs.

    Args:
        name: One of `KINDS`.
    """

    def __init__(self, name: str) -> None:
        torch.manual_seed(SEED)
        encoder = build_encoder("minilm", (), freeze="embeddings")
        self.model, self.loss = KINDS[name](encoder)
        self.optimiser = make_optimiser(self.model, 1.5e-4, 1e-3, 0.01)
        self.model.train()

    def step(self, batch: Batch) -> float:
        """Seconds of a step, as the loop makes it."""
        begin = perf_counter()
        self.loss(self.model(batch), batch).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return perf_counter() - begin

    def parts(self, batch: Batch) -> dict[str, float]:
        """Seconds of the parts of a step: the graph is cut where the encoder ends."""
        cut: dict[str, Any] = {}

        def at_the_cut(module: nn.Module, given: Any, vectors: Tensor) -> Tensor:
            cut.update(vectors=vectors, leaf=vectors.detach().requires_grad_(), at=perf_counter())
            leaf: Tensor = cut["leaf"]
            return leaf

        hook = self.model.encoder.register_forward_hook(at_the_cut)
        times = [perf_counter()]
        output = self.model(batch)
        hook.remove()
        times += [cut["at"], perf_counter()]
        loss = self.loss(output, batch)
        times.append(perf_counter())
        loss.backward()
        times.append(perf_counter())
        cut["vectors"].backward(cut["leaf"].grad)
        times.append(perf_counter())
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        times.append(perf_counter())
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        times.append(perf_counter())
        return dict(zip(PARTS, np.diff(times).tolist(), strict=True))


def _bare(encoder: Any) -> tuple[Any, Loss]:
    tag_set = TokenTagger(encoder, demo.LABELS).tag_set
    known: dict[int, Tensor] = {}

    def loss(output: Output, batch: Batch) -> Tensor:
        if id(batch) not in known:  # as a collator would have made it, outside of the step
            targets, settled = tag_targets(batch, tag_set)
            known[id(batch)] = targets.masked_fill(~settled, -100).flatten()
        return functional.cross_entropy(output.scores.flatten(0, 1), known[id(batch)])

    return BareTagger(encoder), loss


def _span(features: str) -> Callable[[Any], tuple[Any, Loss]]:
    def build(encoder: Any) -> tuple[Any, Loss]:
        model = SpanClassifier(
            encoder, demo.LABELS, max_width=WIDEST, features=features, dropout=0.1
        )
        objective, rng = SpanCrossEntropy(), torch.Generator()
        return model, lambda output, batch: objective(output, batch, rng).total

    return build


def _tagger(head: str, scheme: str) -> Callable[[Any], tuple[Any, Loss]]:
    def build(encoder: Any) -> tuple[Any, Loss]:
        model = TokenTagger(encoder, demo.LABELS, scheme=scheme, head=head, dropout=0.1)
        objective = CrfLikelihood(model) if head == "crf" else TagCrossEntropy(model)
        rng = torch.Generator()
        return model, lambda output, batch: objective(output, batch, rng).total

    return build


KINDS: dict[str, Callable[[Any], tuple[Any, Loss]]] = {
    BARE: _bare,
    SPAN: _span("endpoints"),
    "span classifier, interaction": _span("interaction"),
    "span classifier, biaffine": _span("biaffine"),
    "token tagger, softmax": _tagger("softmax", "bio"),
    "token tagger, crf": _tagger("crf", "bio"),
    "token tagger, two_part": _tagger("two_part", "io"),
}
