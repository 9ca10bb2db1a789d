"""Which distant labels to believe: words whose label the model contradicts are left out.

Meng et al. 2021, "RoSTER", section 2.2 and appendix C. The rules, on the words of a whole corpus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

THRESHOLD = 0.7  # τ of the paper
DROPPED = 0.5  # share of the words labelled O that a model never sees
RARE = 0.9  # a type keeps all its words when more than this share of them would go

Booleans = NDArray[np.bool_]


@dataclass(frozen=True)
class WordLabels:
    """The labels of all words of a corpus.

    Attributes:
        targets: The number of the label, 0 for words without one.  # [words]
        trusted: Words that somebody vouches for: they always count.  # [words]
    """

    targets: NDArray[np.int64]
    trusted: Booleans

    @property
    def doubtful_outside(self) -> Booleans:
        """Words without a label that may well be part of an unlabelled entity.  # [words]"""
        found: Booleans = (self.targets == 0) & ~self.trusted
        return found


def drawn_words(labels: WordLabels, dropped: float, rng: np.random.Generator) -> Booleans:
    """Which words a model sees at all: a random part of those without a label is dropped.

    Args:
        labels: The labels.
        dropped: The share that is dropped.
        rng: Where the draw comes from; another one for every model of an ensemble.

    Returns:
        [words].
    """
    return ~labels.doubtful_outside | (rng.random(len(labels.targets)) >= dropped)


def believed_labels(
    labels: WordLabels,
    agreement: NDArray[np.floating],
    *,
    threshold: float = THRESHOLD,
    rare: float = RARE,
) -> Booleans:
    """Which labels the model agrees with strongly: w_i = 1(f_{i,y_i} > τ), below eq. 5.

    One-sided on "in an entity or not": only words without a label can be removed there, for what
    a dictionary labels is mostly an entity. The type of any word can be removed, except for types
    that would lose nearly everything: the model has not learnt them yet.

    Args:
        labels: The labels.
        agreement: The probability of both parts of each word's label, as
            `generalized_cross_entropy.label_log_probabilities` has its logarithm.  # [words, 2]
        threshold: τ.
        rare: A type of which more than this share would be removed keeps all its words.

    Returns:
        For both parts.  # [words, 2]
    """
    sure = agreement > threshold
    entity = ~labels.doubtful_outside | sure[:, 0]
    label = labels.trusted | sure[:, 1]
    for number in np.unique(labels.targets[labels.targets > 0]):
        of_type = labels.targets == number
        if np.mean(~sure[of_type, 1]) > rare:
            label |= of_type
    return np.stack([entity, label], 1)
