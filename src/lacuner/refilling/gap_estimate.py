"""How many labels a corpus misses, and how likely a span is one of them; no gold is looked at.

Some labels are held back before a training. For the model they are as unlabelled as the missing
ones, so both come back alike: if a share e of all entities without a label was held back, a span
with the margin m = ln P(any label) - ln P(no entity) is

    an entity         with the probability  σ(m + offset),
    one held back     with the probability  e · σ(m + offset),

where the offset mends what gaps do to margins (Elkan & Noto 2008; Lancaster & Imbens 1996 fit such
a model to cases and contaminated controls). Both numbers are those of greatest likelihood. With B
labels held back, B / e entities have no label, so that B / e - B are missing.

What no model finds comes back with any margin, and one such label would move the offset by itself:
for the likelihood a few spans are entities whatever their margin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]

_OFFSETS = np.arange(-3, 18.05, 0.1)  # gaps lower margins; losses that make up for it raise them
_STRAY = 0.005  # the share of spans that are entities whatever their margin
_CELL = 0.1  # margins within it count as one
_STEPS = 20  # halvings of the interval that ln e is in
_LEAST_SHARE = 1e-6
_REPEATS = 200
_INTERVAL = 0.9
_HARDLY_ANY = 0.05  # of the labels: a corpus that misses no more is as complete as any


@dataclass(frozen=True)
class GapEstimate:
    """What labels that were held back say of those that are missing.

    Attributes:
        offset: Added to a margin, it gives the log-odds that the span is an entity.
        missing: How many labels are missing; None where too few were held back to tell.
        low: The lower end of an interval that holds the true number nine times out of ten.
        high: Its upper end.
        held_back: How many labels were held back.
        given: How many labels there are, those included, in sentences that may miss some.
    """

    offset: float
    missing: float | None
    low: float | None
    high: float | None
    held_back: int
    given: int = 0

    @classmethod
    def unknown(cls, held_back: int) -> GapEstimate:
        """Where too few labels were held back: margins are taken as they are."""
        return cls(0.0, None, None, None, held_back)

    @property
    def hardly_any(self) -> bool:
        """Are so few labels missing that what has none is no entity?"""
        return self.high is not None and self.high <= _HARDLY_ANY * self.given

    def probabilities(self, margins: Floats) -> Floats:
        """How likely spans with these margins are entities."""
        return _sigmoid(margins + self.offset)


def estimate_gaps(
    margins: Floats,
    is_held: Booleans,
    held_back: int,
    rng: np.random.Generator,
    *,
    looks: int = 1,
    names: Integers | None = None,
) -> GapEstimate:
    """Fits the model to the spans that could be entities and have no label.

    Args:
        margins: Of each span.  # [spans]
        is_held: Was its label held back?  # [spans]
        held_back: How many labels were, those included that are not among the spans.
        rng: For the interval, whose ends are quantiles over corpora drawn from this one.
        looks: How many models the spans are of, from each of which others were held back: the
            same corpus, seen so many times.
        names: What is drawn together for the interval: a number for each span, the same for all
            mentions of a name that were held back together. None draws each span for itself.
            # [spans]
    """
    cells, places = np.unique(np.round(margins / _CELL), return_inverse=True)
    held, others = (
        np.bincount(places[those], minlength=len(cells)) / looks for those in (is_held, ~is_held)
    )
    held_once = held_back / looks
    odds = _STRAY + (1 - _STRAY) * _sigmoid(cells[:, None] * _CELL + _OFFSETS)  # [cells, offsets]
    offset, share = _fit(held, others, odds)
    drawn = []
    for _ in range(_REPEATS):
        if names is None:
            held_then, others_then = (rng.poisson(cell).astype(float) for cell in (held, others))
        else:
            times = rng.poisson(1, names.max(initial=0) + 1)[names] / looks  # [spans]
            held_then, others_then = (
                np.bincount(places[those], times[those], len(cells))
                for those in (is_held, ~is_held)
            )
        lost = rng.poisson(max(held_once - held.sum(), 0))
        _, share_then = _fit(held_then, others_then, odds)
        drawn.append(_missing(held_then.sum() + lost, share_then))
    low, high = np.quantile(drawn, ((1 - _INTERVAL) / 2, (1 + _INTERVAL) / 2))
    return GapEstimate(offset, _missing(held_once, share), float(low), float(high), held_back)


def _fit(held: Floats, others: Floats, odds: Floats) -> tuple[float, float]:
    """The offset and the share e of greatest likelihood.

    Args:
        held: Spans in each cell whose label was held back.  # [cells]
        others: All others.  # [cells]
        odds: How likely those of a cell are entities, for each offset.  # [cells, offsets]
    """
    low, high = np.full(odds.shape[1], _LEAST_SHARE), np.ones(odds.shape[1])
    for _ in range(_STEPS):  # the likelihood is concave in e, so that its slope has one zero
        share = np.sqrt(low * high)
        slope = held.sum() / share - others @ (odds / np.maximum(1 - share * odds, 1e-12))
        low, high = np.where(slope > 0, share, low), np.where(slope > 0, high, share)
    share = np.sqrt(low * high)
    likely = share * odds  # [cells, offsets]
    gain = held @ np.log(np.maximum(likely, 1e-300)) + others @ np.log1p(
        -np.minimum(likely, 1 - 1e-12)
    )
    best = int(gain.argmax())
    return float(_OFFSETS[best]), float(share[best])


def _missing(held_back: float, share: float) -> float:
    return float(held_back / share - held_back)


def _sigmoid(values: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(values, -60, 60)))
