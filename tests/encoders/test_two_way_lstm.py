"""An LSTM reads sentences of different lengths as torch does one by one, only faster."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from lacuner.encoders import two_way_lstm
from lacuner.encoders.two_way_lstm import read_both_ways

LENGTHS = [5, 1, 0, 3]


def _given(layers: int, dropout: float = 0.0) -> tuple[nn.LSTM, Tensor, Tensor]:
    torch.manual_seed(0)
    lstm = nn.LSTM(
        6, 4, num_layers=layers, bidirectional=True, batch_first=True, dropout=dropout
    ).double()
    features = torch.randn(len(LENGTHS), 7, 6, dtype=torch.double, requires_grad=True)
    is_word = torch.arange(7) < torch.tensor(LENGTHS)[:, None]
    return lstm, features, is_word


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("way", ["_read_turned", "_read_packed"])
def test_states_and_gradients_are_those_of_each_sentence_alone(layers: int, way: str) -> None:
    lstm, features, is_word = _given(layers)
    states = getattr(two_way_lstm, way)(lstm, features, is_word.sum(1))
    weights = torch.randn_like(states) * is_word[..., None]
    alone = [lstm(features[None, n, :length])[0][0] for n, length in enumerate(LENGTHS) if length]
    kept = [states[n, :length] for n, length in enumerate(LENGTHS) if length]
    for one, other in zip(alone, kept, strict=True):
        torch.testing.assert_close(one, other)
    parts = [weights[n, :length] for n, length in enumerate(LENGTHS) if length]
    total = sum((a * w).sum() for a, w in zip(alone, parts, strict=True))
    assert isinstance(total, Tensor)
    wanted = [features, *lstm.parameters()]
    found = torch.autograd.grad((states * weights).sum(), wanted)
    for one, other in zip(torch.autograd.grad(total, wanted), found, strict=True):
        torch.testing.assert_close(one, other)


def test_what_lies_behind_a_sentence_is_not_read() -> None:
    lstm, features, is_word = _given(2)
    other = torch.where(is_word[..., None], features, 99.0)
    first, second = (read_both_ways(lstm, one, is_word)[is_word] for one in (features, other))
    assert torch.equal(first, second)


def test_dropout_lies_between_layers_and_only_in_training() -> None:
    lstm, features, is_word = _given(2, dropout=0.5)
    first, second = (read_both_ways(lstm, features, is_word) for _ in range(2))
    assert not torch.equal(first, second)
    lstm.eval()
    first, second = (read_both_ways(lstm, features, is_word) for _ in range(2))
    assert torch.equal(first, second)
