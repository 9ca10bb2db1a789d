"""Spans without a label that a model could take for entities, none over another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lacuner.corpus.sentence import Span
from lacuner.refilling.gap_estimate import Floats

NEARLY = 2.2  # taken off the scores of "no entity", it finds what has a probability of 0.1
_LEAST, _MOST = -40.0, -1e-12  # of logarithms of probabilities


@dataclass(frozen=True)
class Candidate:
    """A span that could be an entity.

    Attributes:
        sentence: The number of its sentence.
        start: Its first word.
        end: The word after its last.
        label: A label that it could have.
        margin: ln P(any label) - ln P(no entity).
        certainty: The probability of its label, given that it has one.
    """

    sentence: int
    start: int
    end: int
    label: str
    margin: float
    certainty: float

    @property
    def span(self) -> Span:
        """Its place."""
        return self.start, self.end

    @property
    def key(self) -> tuple[int, int, str]:
        """That of an entity with its place and label."""
        return self.start, self.end, self.label


def margins_of(candidates: Sequence[Candidate]) -> Floats:
    """The margins of candidates.  # [candidates]"""
    return np.array([candidate.margin for candidate in candidates], dtype=np.float64)


def margins_from(chances: Floats) -> Floats:
    """The margins of spans that are an entity with these probabilities, given as logarithms."""
    logs = np.clip(chances, _LEAST, _MOST)
    return logs - np.log(-np.expm1(logs))
