"""Which words without a label are likely parts of unlabelled entities, and how many of them.

Two-step learning (IJSWIS 20(1), 2024), step 1: a network that has seen labels with gaps a few times
only still scores O lower at unlabelled entities than at words that are really outside. "O-value"
is that score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GRID = (*(0.1 * 2.0**-power for power in range(5, -1, -1)), 0.15)  # l in the paper
MOST = 0.5  # the largest share that is chosen without gold
ENOUGH = 20  # held back words without which nothing is chosen
_SURE = 0.2  # the least share of held back words that an estimate may rest on

Values = NDArray[np.float32]
Booleans = NDArray[np.bool_]


def smallest(values: Values, share: float) -> Booleans:
    """The ⌈l·m⌉ smallest of m values; of equal ones the first.

    Args:
        values: O-values.  # [words]
        share: l, from 0 to 1.

    Returns:
        Which they are.  # [words]
    """
    chosen = np.zeros(len(values), dtype=bool)
    # 0.1 · 30 is a little more than 3 in floating point; its ceiling is 3 all the same.
    count = min(len(values), math.ceil(round(share * len(values), 6)))
    chosen[np.argsort(values, kind="stable")[:count]] = True
    return chosen


@dataclass(frozen=True)
class ChosenShare:
    """A share that was chosen without gold, and what is expected of it.

    Attributes:
        share: l.
        missing: About which share of the words without a label belongs to entities.
        precision: About which share of the removed words is expected to be of entities.
        recall: Which share of such words is expected to be removed.
    """

    share: float
    missing: float
    precision: float
    recall: float


def chosen_share(values: Values, held_back: Values) -> ChosenShare | None:
    """The l of the best expected F1 of the removed words, found by entities that were held back.

    Labelled entities that the network was shown as O ("spies", Liu et al. 2002) have the O-values
    that unlabelled entities have, if labels are missing at random. So for every threshold t the
    share F_s(t) of their words at or below it is the recall R(t) of removal. With F(t), that share
    of all words without a label, of which a share π belongs to entities, precision is
    P(t) = π F_s(t) / F(t). As that cannot exceed 1, π ≤ F(t) / F_s(t) for all t; the least of these
    bounds is taken for π (too much where entities are nowhere alone, too little by chance). The F1
    of P and R is 2 π F_s(t) / (F(t) + π); the best t gives l = F(t).

    Args:
        values: O-values of words without a label.  # [words]
        held_back: O-values of words of entities that were held back.  # [spies]

    Returns:
        None where there are too few to tell. l is at least the smallest of the paper's grid, and at
        most a half.
    """
    if len(held_back) < ENOUGH or not len(values):
        return None
    thresholds = np.sort(held_back)
    recall = np.searchsorted(thresholds, thresholds, side="right") / len(thresholds)  # F_s(t)
    share = np.searchsorted(np.sort(values), thresholds, side="right") / len(values)  # F(t)
    share = np.maximum(share, 1 / len(values))
    missing = min(1.0, float((share / recall)[recall >= _SURE].min()))  # π
    best = int(np.argmax(recall / (share + missing)))
    chosen = float(np.clip(share[best], GRID[0], MOST))
    reached = int(np.searchsorted(share, chosen, side="right"))
    found = float(recall[reached - 1]) if reached else 0.0
    return ChosenShare(chosen, missing, min(1.0, missing * found / chosen), found)
