"""What a model says of labels: what it excludes, and how it is kept."""

from __future__ import annotations

from dataclasses import asdict
from math import exp

import pytest

from lacuner.refilling.candidates import Candidate
from lacuner.refilling.gap_estimate import GapEstimate
from lacuner.refilling.verdicts import Verdict


def test_back_from_json() -> None:
    one = Verdict(Candidate(0, 1, 2, "PER", 0.5, 0.9), (Candidate(0, 1, 3, "LOC", 1.0, 0.8),))
    assert Verdict.from_dict(asdict(one)) == one


def test_a_label_its_rivals_and_no_entity_exclude_each_other() -> None:
    gaps = GapEstimate(0.5, 40.0, 30.0, 50.0, 10)
    given = Candidate(0, 1, 2, "PER", -0.5, 0.9)
    longer, later = Candidate(0, 1, 3, "PER", 2.0, 0.8), Candidate(0, 0, 2, "LOC", 0.5, 0.8)
    relabelled = Candidate(0, 1, 2, "LOC", -0.5, 0.1)
    odds = exp(0.0), exp(2.5), exp(1.0)
    assert Verdict(given).chance(gaps) == pytest.approx(odds[0] / (1 + odds[0]))
    assert Verdict(given, (longer, later)).chance(gaps) == pytest.approx(odds[0] / (1 + sum(odds)))
    # Another label of the same span is no other place: certainty tells them apart.
    assert Verdict(given, (relabelled,)).chance(gaps) == Verdict(given).chance(gaps)
