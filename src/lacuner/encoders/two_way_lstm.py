"""An LSTM that reads sentences of different lengths both ways."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def read_both_ways(lstm: nn.LSTM, features: Tensor, is_word: Tensor) -> Tensor:
    """The states of both directions at every word; padding behind a sentence is not read.

    Args:
        lstm: Both ways, with the batch first.
        features: What it reads.  # [batch, words, width]
        is_word: Which places are words: those before the end of each sentence; some are.
            # [batch, words]

    Returns:
        The states; those behind the end of a sentence mean nothing.  # [batch, words, 2 · hidden]
    """
    lengths = is_word.sum(1)
    if features.device.type == "cpu":  # where packed sequences are slow
        with torch.autocast("cpu", enabled=False):  # not every CPU has an LSTM of half precision
            return _read_turned(lstm, features.to(lstm.all_weights[0][0].dtype), lengths)
    return _read_packed(lstm, features, lengths)


def _read_packed(lstm: nn.LSTM, features: Tensor, lengths: Tensor) -> Tensor:
    """As torch would have it; a sentence without words counts as one of a single word."""
    packed = pack_padded_sequence(
        features, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
    )
    states, _ = pad_packed_sequence(
        lstm(packed)[0], batch_first=True, total_length=features.shape[1]
    )
    return states


def _read_turned(lstm: nn.LSTM, features: Tensor, lengths: Tensor) -> Tensor:
    """From left to right as they are, where padding comes last; and once more, turned round."""
    turned = _turned_places(lengths, features.shape[1])[..., None]
    weights = iter(lstm.all_weights)
    for layer in range(lstm.num_layers):
        if layer:
            features = functional.dropout(features, lstm.dropout, lstm.training)
        there = _read(lstm, features, next(weights))
        back = _read(lstm, features.take_along_dim(turned, 1), next(weights))
        features = torch.cat((there, back.take_along_dim(turned, 1)), dim=-1)
    return features


def _read(lstm: nn.LSTM, features: Tensor, weights: list[nn.Parameter]) -> Tensor:
    """One layer, in one direction.  # [batch, words, hidden]"""
    nothing = features.new_zeros(1, len(features), lstm.hidden_size)
    states, _, _ = torch.lstm(
        features, (nothing, nothing), tuple(weights), lstm.bias, 1, 0.0, lstm.training, False, True
    )
    return states


def _turned_places(lengths: Tensor, words: int) -> Tensor:
    """The place that each place changes with when a sentence is turned round; padding stays."""
    places = torch.arange(words, device=lengths.device)
    turned = lengths[:, None] - 1 - places
    return torch.where(turned >= 0, turned, places)  # [batch, words]
