"""Probabilities that mean what they say: a temperature fitted on a dev corpus, and its measure.

A network that was trained long is surer than it is right. Dividing its scores by one number, the
temperature, leaves every decision as it is and mends that (Guo 2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.models import Model
from lacuner.models.batch import Batch, Output
from lacuner.models.chunk_targets import chunk_targets, scores_of_chunks
from lacuner.models.crf import FORBIDDEN, LinearChainCrf
from lacuner.models.targets import span_targets, tag_targets
from lacuner.models.tie_or_break import TieOrBreak
from lacuner.models.token_tagger import TokenTagger

LOWEST, HIGHEST = 0.05, 20.0
_STEPS = 60
_CLOSE = 1e-9


def fit_temperature(scores: Tensor, targets: Tensor) -> float:
    """The temperature under which the targets are most likely.

    The likelihood is concave in the inverse of the temperature, so Newton's steps, kept between
    shrinking bounds, find the one best value; the same input gives the same answer.

    Args:
        scores: Logits.  # [rows, classes]
        targets: What is right.  # [rows]

    Returns:
        A number between 0.05 and 20; 1 where there are no rows.

    Example:
        For a span classifier the rows are the spans of a dev corpus:
        `targets, settled = span_targets(output, batch)`, then
        `fit_temperature(output.scores[settled], targets[settled])`.
    """
    if not len(targets):
        return 1.0
    scores = scores.detach().cpu().double()
    right = scores.gather(1, targets.detach().cpu()[:, None])[:, 0]
    low, high = 1 / HIGHEST, 1 / LOWEST
    inverse = 1.0
    for _ in range(_STEPS):
        probabilities = torch.softmax(scores * inverse, 1)
        mean = (probabilities * scores).sum(1)
        slope = float((mean - right).mean())  # of the negative log-likelihood
        bend = float(((probabilities * scores.square()).sum(1) - mean.square()).mean())
        if slope > 0:
            high = inverse
        else:
            low = inverse
        step = inverse - slope / bend if bend > 0 else math.inf
        moved = step if low < step < high else math.sqrt(low * high)
        if abs(moved - inverse) <= _CLOSE * inverse:
            break
        inverse = moved
    return 1 / inverse


class TemperatureFit:
    """Fits the temperature of a model on batches with complete labels.

    Args:
        model: The model whose outputs are added.

    Example:
        >>> def temperature(model, batches):
        ...     fit = TemperatureFit(model)
        ...     for batch in batches:
        ...         fit.add(model(batch), batch)
        ...     return fit.temperature()
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._crf = model.crf if isinstance(model, TokenTagger) else None
        self._batches: list[tuple[Tensor, Tensor, Tensor]] = []

    def add(self, output: Output, batch: Batch) -> None:
        """Notes what the model says of a batch, and what is right."""
        scores = output.scores.detach()
        if isinstance(self._model, TieOrBreak):
            scores, targets = _chunk_decisions(output, batch)
            settled = torch.ones_like(targets, dtype=torch.bool)
        elif isinstance(self._model, TokenTagger):
            targets, settled = tag_targets(batch, self._model.tag_set)
            targets = _likeliest(self._model, output, targets)
        else:
            targets, settled = span_targets(output, batch)
        if self._crf is None:
            self._batches.append((scores[settled], targets[settled], settled[settled]))
        else:
            self._batches.append((scores, targets, output.mask))

    @torch.no_grad()
    def temperature(self) -> float:
        """The temperature under which what is right is most likely; 1 if nothing was added."""
        if not self._batches:
            return 1.0
        if self._crf is not None:
            return _golden_section(self._crf, self._batches)
        scores, targets, _ = zip(*self._batches, strict=True)
        return fit_temperature(torch.cat(scores), torch.cat(targets))


def _likeliest(model: TokenTagger, output: Output, targets: Tensor) -> Tensor:
    """Where several tags say "no entity", the likeliest of them is right.  # [batch, words]"""
    if not model.silent:
        return targets
    allowed = functional.one_hot(targets, len(model.tag_set)).bool()
    allowed[..., -model.silent :] |= (targets == 0)[..., None]
    if model.crf is not None:
        return model.crf.viterbi(output.scores, output.mask, allowed)[0]
    return output.scores.masked_fill(~allowed, -math.inf).argmax(-1)


def _chunk_decisions(output: Output, batch: Batch) -> tuple[Tensor, Tensor]:
    """All decisions on gaps and on types of chunks, as rows of as many classes as types have.

    Returns:
        Scores [rows, classes], and what is right [rows].
    """
    assert output.gaps is not None
    told = chunk_targets(batch, output.scores.shape[-1] - 1)
    fits, types = scores_of_chunks(output, told.chunks)
    settled = told.types[fits].sum(1) == 1
    gaps = types.new_full((int(told.known.sum()), types.shape[1]), FORBIDDEN)
    gaps[:, 0], gaps[:, 1] = 0.0, output.gaps[told.known]  # a tie, a break
    right = told.types[fits][settled].long().argmax(1)
    return (
        torch.cat([gaps, types[settled]]).detach(),
        torch.cat([told.breaks[told.known].long(), right]),
    )


def _golden_section(
    crf: LinearChainCrf, batches: list[tuple[Tensor, Tensor, Tensor]], steps: int = 24
) -> float:
    """The temperature under which rows of tags are most likely, to about a thousandth."""

    def loss(logarithm: float) -> float:
        heat = math.exp(logarithm)
        return sum(
            float(
                (
                    crf.log_partition(scores, mask, temperature=heat)
                    - crf.score(scores, tags, mask, temperature=heat)
                ).sum()
            )
            for scores, tags, mask in batches
        )

    share = (math.sqrt(5) - 1) / 2
    low, high = math.log(LOWEST), math.log(HIGHEST)
    left, right = high - share * (high - low), low + share * (high - low)
    loss_left, loss_right = loss(left), loss(right)
    for _ in range(steps):
        if loss_left <= loss_right:
            high, right, loss_right = right, left, loss_left
            left = high - share * (high - low)
            loss_left = loss(left)
        else:
            low, left, loss_left = left, right, loss_right
            right = low + share * (high - low)
            loss_right = loss(right)
    return math.exp((low + high) / 2)


@dataclass(frozen=True)
class Reliability:
    """How sure and how right predictions are, bin by bin of sureness; empty bins are left out.

    Attributes:
        confidence: Mean probability that a bin's predictions claim.
        accuracy: The share of them that is right.
        count: How many they are.
    """

    confidence: tuple[float, ...]
    accuracy: tuple[float, ...]
    count: tuple[int, ...]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean gap between sure and right, from 0 to 1."""
        total = sum(self.count)
        if not total:
            return 0.0
        gaps = (abs(c - a) * n for c, a, n in zip(self.confidence, self.accuracy, self.count,
                                                  strict=True))  # fmt: skip
        return sum(gaps) / total


def reliability(confidence: Tensor, correct: Tensor, *, bins: int = 15) -> Reliability:
    """Compares how sure predictions are with how often they are right.

    Args:
        confidence: Probabilities that predictions claim, from 0 to 1.  # [rows]
        correct: Whether they are right.  # [rows]
        bins: Into how many equal parts sureness is cut.
    """
    confidence = confidence.detach().cpu().double()
    number = (confidence * bins).long().clamp(0, bins - 1)
    count = torch.bincount(number, minlength=bins)
    sure = torch.bincount(number, confidence, minlength=bins)
    right = torch.bincount(number, correct.detach().cpu().double(), minlength=bins)
    some = count > 0
    return Reliability(
        tuple((sure[some] / count[some]).tolist()),
        tuple((right[some] / count[some]).tolist()),
        tuple(count[some].tolist()),
    )


def expected_calibration_error(confidence: Tensor, correct: Tensor, *, bins: int = 15) -> float:
    """The mean gap between how sure and how right predictions are; see `reliability`."""
    return reliability(confidence, correct, bins=bins).error
