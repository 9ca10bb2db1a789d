"""What a model says of labels that it has not learnt from, and what it would say instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lacuner.refilling.candidates import Candidate, margins_of
from lacuner.refilling.gap_estimate import GapEstimate


@dataclass(frozen=True)
class Verdict:
    """What a model says of a label.

    Attributes:
        given: The label, with its margin and certainty.
        rivals: What the model would take instead: spans with a word of it, or another label.
    """

    given: Candidate
    rivals: tuple[Candidate, ...] = ()

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Verdict:
        """What `dataclasses.asdict` made of it."""
        return cls(Candidate(**row["given"]), tuple(Candidate(**rival) for rival in row["rivals"]))

    @property
    def elsewhere(self) -> list[Candidate]:
        """The rivals that are other spans, and not the same one with another label."""
        return [rival for rival in self.rivals if rival.span != self.given.span]

    def chance(self, gaps: GapEstimate) -> float:
        """How likely its span is an entity; it, its rivals and "no entity" exclude each other."""
        against = np.logaddexp.reduce([0.0, *(margins_of(self.elsewhere) + gaps.offset)])
        return float(gaps.probabilities(np.array(self.given.margin - against)))


def rivals_of(verdicts: Sequence[Verdict]) -> list[Candidate]:
    """What would be taken in other places instead, each once: two labels may have the same rival.

    Another label of the same span is none: where a model and the label agree that there is an
    entity, and not which, the label is right more often.
    """
    return list(dict.fromkeys(rival for one in verdicts for rival in one.elsewhere))
