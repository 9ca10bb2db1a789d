"""The hinge on the expected share of entities, by hand and against the CRF's rows."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from lacuner import Sentence
from lacuner.errors import UsageError
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.expected_entity_ratio import ExpectedEntityRatio
from lacuner.objectives.partial_crf import PartialCrfLikelihood
from tests.neural import HashedWords, batch_of, output_of

RNG = torch.Generator()


def _likelihood() -> PartialCrfLikelihood:
    torch.manual_seed(0)
    return PartialCrfLikelihood(TokenTagger(HashedWords(), ("A",), scheme="bioes", head="crf"))


def test_ratio_is_that_of_the_whole_batch_without_padding() -> None:
    batch = batch_of([Sentence("1", ("u", "v", "w")), Sentence("2", ("u",))], ("A",))
    scores = torch.zeros(2, 3, 5)
    scores[0, :, 0] = 50.0  # three words that are surely O
    scores[1, 0, 4] = 50.0  # one that is surely an entity
    scores[1, 1:, 4] = 50.0  # and padding, which does not count
    objective = ExpectedEntityRatio(_likelihood())
    assert float(objective.expected_ratio(output_of(scores, batch.words)).detach()) == (
        pytest.approx(0.25)
    )


@pytest.mark.parametrize(
    ("ratio", "margin", "hinge"), [(0.5, 0.1, 0.0), (0.65, 0.1, 0.05), (0.2, 0.05, 0.25)]
)
def test_hinge_begins_beyond_the_margin_on_both_sides(
    ratio: float, margin: float, hinge: float
) -> None:
    batch = batch_of([Sentence("1", ("u",))], ("A",))
    scores = torch.tensor([[[0.0, 0.0, 0.0, 0.0, 0.0]]])  # O and S are the only rows
    objective = ExpectedEntityRatio(_likelihood(), ratio=ratio, margin=margin, weight=3.0)
    found = objective(output_of(scores, batch.words), batch, RNG)
    assert found.parts["ratio"] == pytest.approx(0.5)
    assert found.parts["hinge"] == pytest.approx(hinge)
    # Nothing is known of the word, so that the likelihood costs nothing.
    assert float(found.total.detach()) == pytest.approx(3.0 * hinge, abs=1e-6)


@pytest.mark.parametrize("wrong", [{"ratio": 0.0}, {"ratio": 15}, {"margin": -1}, {"weight": -0.1}])
def test_shares_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ExpectedEntityRatio(_likelihood(), **wrong)
