"""An LSTM over sentences of different lengths, which does not see the padding between them."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def read_both_ways(lstm: nn.LSTM, features: Tensor, is_word: Tensor) -> Tensor:
    """What an LSTM makes of the words.

    Args:
        lstm: With the batch first.
        features: # [batch, words, features]
        is_word: Which places hold a word; those of a sentence come first.  # [batch, words]

    Returns:
        The states of the last layer; those of padding mean nothing.  # [batch, words, states]
    """
    # A packed sentence has at least one word; what an empty one gets is nobody's.
    packed = pack_padded_sequence(
        features, is_word.sum(dim=1).clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
    )
    states: Tensor = pad_packed_sequence(
        lstm(packed)[0], batch_first=True, total_length=is_word.shape[1]
    )[0]
    return states
