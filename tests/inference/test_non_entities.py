"""A tagger that has tags of spans that are no entity: decoding and calibration."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from lacuner.inference.calibration import TemperatureFit, fit_temperature
from lacuner.inference.decode import decode
from lacuner.models.distribution import shifted
from lacuner.models.token_tagger import TokenTagger
from tests.neural import HashedWords, batch_of, output_of, sentence

TAGS = ("O", "B-A", "I-A", "B-NON", "I-NON")


def _model(head: str = "softmax") -> TokenTagger:
    return TokenTagger(HashedWords(), ("A",), head=head, non_entities=True)


def _scores(*tags: str) -> Tensor:
    scores = torch.zeros(1, len(tags), len(TAGS))
    for word, tag in enumerate(tags):
        scores[0, word, TAGS.index(tag)] = 4.0
    return scores


@pytest.mark.parametrize("head", ["softmax", "crf"])
def test_predicted_non_entity_is_no_entity_and_ends_one(head: str) -> None:
    scores = _scores("B-NON", "I-NON", "B-A", "I-A", "B-NON", "O")
    output = output_of(scores, torch.ones(1, 6, dtype=torch.bool))
    assert [entity.key for entity in decode(_model(head), output)[0]] == [(2, 4, "A")]


def test_offset_is_taken_off_all_tags_that_say_no_entity() -> None:
    output = output_of(_scores("B-NON", "O"), torch.ones(1, 2, dtype=torch.bool))
    found = shifted(output, 1.5, silent=2).scores - output.scores
    assert found[0].tolist() == [[-1.5, 0, 0, -1.5, -1.5]] * 2
    assert len(decode(_model(), output, offset=9.0)[0]) == 2
    assert decode(_model(), output)[0] == []


@pytest.mark.parametrize("head", ["softmax", "crf"])
def test_words_in_no_entity_are_right_with_any_tag_that_says_so(head: str) -> None:
    model = _model(head)
    batch = batch_of([sentence(4, [(2, 3, "A")])], ("A",))
    scores = _scores("B-NON", "I-NON", "B-A", "O") + torch.randn(
        1, 4, 5, generator=torch.Generator().manual_seed(0)
    )
    fit = TemperatureFit(model)
    fit.add(output_of(scores, batch.words), batch)
    right = torch.tensor([[TAGS.index(tag) for tag in ("B-NON", "I-NON", "B-A", "O")]])
    if model.crf is None:
        assert fit.temperature() == fit_temperature(scores[0], right[0])
    else:
        # Taken for wrong, they would ask for scores that are less sure.
        assert fit.temperature() < 1.0
