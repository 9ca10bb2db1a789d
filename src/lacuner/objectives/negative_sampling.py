"""Negative sampling: a few unlabelled spans stand for all of them.

Entities are rare, so a small draw from the unlabelled spans hardly ever holds an unlabelled entity
(Li, Liu & Shi 2021). The weighted form asks the model which spans to draw (Li, Liu & Shi 2022);
"eq." below means an equation of that paper.
"""

from __future__ import annotations

import math
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.span_roles import (
    SpanRoles,
    hidden_spans,
    span_roles,
    spans_with_a,
    words_within,
)
from lacuner.objectives.loss import Loss
from lacuner.suggestions import unknown_name

RATE, EXPONENT, FLOOR = 0.35, 8.0, 0.2  # λ and μ of the paper; κ of our own form
FORMS = ("adaptive", "power", "printed")
_TINY = 1e-30  # the least weight a span can have: it is drawn when nothing else is left


class Sampler(Protocol):
    """Chooses spans of a batch that shall count as negatives."""

    def __call__(
        self, output: Output, batch: Batch, candidates: Tensor, rng: torch.Generator
    ) -> Tensor: ...


class UniformSampler:
    """Draws ⌈λn⌉ of the candidates of a sentence of n words, all with equal chance.

    Args:
        rate: λ, from 0 to 1.
    """

    def __init__(self, rate: float = RATE) -> None:
        self.rate = _checked_rate(rate)

    def __call__(
        self, output: Output, batch: Batch, candidates: Tensor, rng: torch.Generator
    ) -> Tensor:
        """The drawn spans.  # [batch, words, widths]"""
        weights = torch.zeros(candidates.shape, device=candidates.device)
        return draw(weights, candidates, draws(batch.lengths, self.rate), rng)


class WeightedSampler:
    """Draws hard negatives often, and spans that the model takes for entities seldom (eq. 14-16).

    With the model's own distribution z of a span, no gradient through it: u = -Σ z ln z is how
    unsure it is, v = z_O - max z (never above 0) how little of an entity it sees. `printed` draws
    with weight exp(u (1+v)^μ / T), as in the paper; since that lies between 1 and the number of
    labels it cannot keep recognised entities out. `power` draws with weight
    ((κ + u) (1+v)^μ)^(1/T), which can: it reaches 0 for them, and κ leaves easy negatives a share.
    T = √(C - c) falls to 1 in the course of C epochs, so that the first ones draw almost evenly.

    Which κ is right depends on how much is missing. With few gaps, what the model is unsure of are
    hard negatives, which teach most: κ is small. With many, they are the missing entities: κ is
    large. `adaptive` takes κ max(1, m / a)², for a annotated entities of the batch and m spans
    apart from them that the model takes for entities: about the number of missing labels for each
    that is there, found out while training. And what shares a word with an annotated entity is
    none itself, whatever the model takes it for: there v counts as 0.

    Args:
        epochs: C, the epochs of the training.
        rate: λ, from 0 to 1.
        form: `adaptive`, `power` or `printed`.
        exponent: μ.
        floor: κ, for `power` and, at least, for `adaptive`.

    Raises:
        UsageError: A rate outside of [0, 1], an unknown form, a floor of 0 or less.
    """

    def __init__(
        self,
        epochs: int,
        *,
        rate: float = RATE,
        form: str = "adaptive",
        exponent: float = EXPONENT,
        floor: float = FLOOR,
    ) -> None:
        if form not in FORMS:
            raise UsageError(unknown_name("form of weights", form, FORMS))
        if floor <= 0 or exponent < 0:
            raise UsageError(
                f"floor is {floor:g} and exponent {exponent:g}; the floor must be above 0 and the "
                "exponent at least 0."
            )
        self.epochs, self.rate, self.form = epochs, _checked_rate(rate), form
        self.exponent, self.floor = exponent, floor

    def __call__(
        self, output: Output, batch: Batch, candidates: Tensor, rng: torch.Generator
    ) -> Tensor:
        """The drawn spans.  # [batch, words, widths]"""
        scores = output.scores.detach()
        if self.form == "adaptive":
            labelled = words_within(batch.entities, batch.words)
            apart = ~spans_with_a(labelled, candidates.shape[2])
            missing = int((candidates & apart & (scores.argmax(-1) > 0)).sum())
            floor = self.floor * max(1.0, missing / max(1, len(batch.entities))) ** 2
            weights = self.log_weights(scores, batch.epoch, floor=floor, spared=apart)
        else:
            weights = self.log_weights(scores, batch.epoch)
        return draw(weights, candidates, draws(batch.lengths, self.rate), rng)

    def log_weights(
        self,
        scores: Tensor,
        epoch: int,
        *,
        floor: float | None = None,
        spared: Tensor | None = None,
    ) -> Tensor:
        """Logarithms of the weights that spans are drawn with, up to a constant.

        Args:
            scores: Logits.  # [..., labels]
            epoch: c, from 0.
            floor: κ, in place of the sampler's.
            spared: Spans that weigh the less the more they look like entities; None: all.  # [...]
        """
        logs = torch.log_softmax(scores.float(), -1)
        z = logs.exp()
        unsure = -(z * logs).sum(-1)  # eq. 14, u
        entity_like = z[..., 0] - z.max(-1).values  # eq. 15, v
        heat = math.sqrt(max(1, self.epochs - epoch))  # eq. 16, T
        if self.form == "printed":
            return unsure * (1 + entity_like) ** self.exponent / heat  # eq. 16, r / T
        kept = (1 + entity_like).clamp(min=_TINY).log()
        if spared is not None:
            kept = kept.masked_fill(~spared, 0.0)
        share = self.floor if floor is None else floor
        return ((share + unsure).log() + self.exponent * kept) / heat


class SampledCrossEntropy:
    """Cross-entropy of the annotated entities and of the negatives that a sampler draws.

    Ambiguous spans take no part. Negatives that somebody vouches for (complete sentences, rejected
    spans, words outside) can be drawn like all others; they need no luck, though, so that by
    default all of them count.

    Args:
        sampler: Draws the negatives.
        all_trusted: All trusted negatives count, drawn or not.
    """

    def __init__(self, sampler: Sampler, *, all_trusted: bool = True) -> None:
        self.sampler, self.all_trusted = sampler, all_trusted

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss; its parts are those of entities and of negatives, its counts the draws'."""
        roles = span_roles(output, batch)
        drawn = self.sampler(output, batch, roles.unknown | roles.trusted, rng)
        return self.of(output, batch, roles, drawn)

    def of(self, output: Output, batch: Batch, roles: SpanRoles, drawn: Tensor) -> Loss:
        """The loss of these draws."""
        negatives = drawn | roles.trusted if self.all_trusted else drawn
        chosen = roles.annotated | negatives
        targets = roles.targets[chosen]
        losses = functional.cross_entropy(output.scores[chosen], targets, reduction="none")
        sentences = max(1, len(batch))
        total = losses.sum() / sentences  # -log z, summed (eq. 4), by sentence
        entities = float(losses.detach()[targets > 0].sum()) / sentences
        return Loss(
            total,
            {"entities": entities, "negatives": float(total.detach()) - entities},
            missampling_counts(output, batch, drawn),
        )


def missampling_counts(output: Output, batch: Batch, drawn: Tensor) -> dict[str, int]:
    """How many negatives were drawn, and how many of them are entities (eq. 12).

    Empty where the missing entities are not known.
    """
    hidden = hidden_spans(output, batch)
    if hidden is None:
        return {}
    return {"drawn": int(drawn.sum()), "missampled": int((drawn & hidden).sum())}


def draws(lengths: Tensor, rate: float) -> Tensor:
    """⌈λn⌉ for each sentence.  # [batch]"""
    # What rounding adds to a whole number must not become one more draw.
    return (rate * lengths.double() - 1e-9).ceil().clamp(min=0).long()


def draw(log_weights: Tensor, candidates: Tensor, counts: Tensor, rng: torch.Generator) -> Tensor:
    """Draws spans of each sentence without replacement, each time in proportion to the weights.

    The highest k of log-weights with Gumbel noise are distributed exactly as k such draws one
    after another (Kool, van Hoof & Welling 2019).

    Args:
        log_weights: Logarithms of weights, up to a constant.  # [batch, words, widths]
        candidates: What can be drawn.  # [batch, words, widths]
        counts: How many to draw of each sentence; all, where it has no more.  # [batch]
        rng: Where chance comes from.

    Returns:
        The drawn spans.  # [batch, words, widths]
    """
    keys = log_weights.flatten(1).masked_fill(~candidates.flatten(1), -torch.inf)
    most = min(int(counts.max()), keys.shape[1]) if len(counts) else 0
    keys = keys - torch.empty(keys.shape).exponential_(generator=rng).log().to(keys.device)
    best, place = keys.topk(most, 1)  # [batch, most]
    rank = torch.arange(most, device=keys.device)
    taken = (rank < counts[:, None]) & (best > -torch.inf)
    drawn = torch.zeros_like(keys, dtype=torch.bool).scatter_(1, place, taken)
    return drawn.view(candidates.shape)


def _checked_rate(rate: float) -> float:
    if not 0 <= rate <= 1:
        raise UsageError(f"A sampling rate is between 0 and 1; {rate:g} is not.")
    return rate
