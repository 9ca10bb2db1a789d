"""The model of ties and breaks: shapes, padding, rebuilding."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from lacuner import Sentence
from lacuner.errors import UsageError
from lacuner.models import build_model
from lacuner.models.tie_or_break import TieOrBreak
from tests.neural import HashedWords, batch_of

LABELS = ("A", "B")
LONG = Sentence("1", ("u", "v", "w", "x", "y"))
SHORT = Sentence("2", ("u", "x"))


def _model() -> TieOrBreak:
    torch.manual_seed(0)
    return TieOrBreak(HashedWords(), LABELS, max_width=3, hidden=8).eval()


def test_sentence_gets_the_same_scores_alone_and_beside_a_longer_one() -> None:
    model = _model()
    both = model(batch_of([LONG, SHORT], LABELS, model.encoder))
    alone = model(batch_of([SHORT], LABELS, model.encoder))
    assert both.gaps is not None and alone.gaps is not None
    assert both.gaps.shape == (2, 4) and alone.gaps.shape == (1, 1)
    assert both.scores.shape == (2, 5, 3, 3) and alone.scores.shape == (1, 2, 2, 3)
    assert torch.allclose(both.gaps[1, :1], alone.gaps[0])
    assert torch.allclose(both.scores[1, :2, :2][alone.mask[0]], alone.scores[0][alone.mask[0]])
    assert both.mask.sum().item() == 5 + 4 + 3 + 2 + 1


def test_sentence_of_one_word_has_no_gap() -> None:
    model = _model()
    output = model(batch_of([Sentence("1", ("u",))], LABELS, model.encoder))
    assert output.gaps is not None and output.gaps.shape == (1, 0)
    assert output.scores.shape == (1, 1, 1, 3)


def test_description_builds_the_same_model_again() -> None:
    model = _model()
    twin = build_model(encoder=HashedWords(), labels=LABELS, **model.description())
    twin.load_state_dict(model.state_dict())
    batch = batch_of([LONG], LABELS, model.encoder)
    assert torch.equal(twin.eval()(batch).scores, model(batch).scores)


@pytest.mark.parametrize("wrong", [{"max_width": 0}, {"hidden": 0}, {"dropout": 1.0}])
def test_sizes_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        TieOrBreak(HashedWords(), LABELS, **wrong)
