"""A BiLSTM over another encoder: padding, saving, sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from lacuner import Sentence
from lacuner.encoders import load_encoder
from lacuner.encoders.bilstm import BiLSTMEncoder
from lacuner.encoders.recurrent import RecurrentEncoder
from lacuner.errors import UsageError
from tests.neural import HashedWords

LONG, SHORT = Sentence("1", ("u", "v", "w", "x")), Sentence("2", ("x", "u"))


def _vectors(encoder: Any, *sentences: Sentence) -> torch.Tensor:
    with torch.no_grad():
        vectors: torch.Tensor = encoder(encoder.collate(encoder.tokenise(sentences)))
    return vectors


def test_sentence_is_read_both_ways_and_without_its_padding() -> None:
    torch.manual_seed(0)
    encoder = RecurrentEncoder(HashedWords(), layers=2, hidden=5, dropout=0.3).eval()
    both, alone = _vectors(encoder, LONG, SHORT), _vectors(encoder, SHORT)
    assert both.shape == (2, 4, 10) and encoder.width == 10
    assert torch.allclose(both[1, :2], alone[0], atol=1e-6)
    assert not both[1, 2:].any()
    turned = _vectors(encoder, Sentence("3", SHORT.tokens[::-1]))
    assert not torch.allclose(turned[0, 1], alone[0, 0])  # the same word, in another place


def test_encoder_is_loaded_with_the_one_below(tmp_path: Path) -> None:
    torch.manual_seed(0)
    below = BiLSTMEncoder.build([LONG, LONG, SHORT])
    encoder = RecurrentEncoder(below, layers=1, hidden=3, dropout=0.0).eval()
    again = load_encoder(encoder.save(tmp_path), tmp_path).eval()
    again.load_state_dict(encoder.state_dict())
    assert torch.equal(_vectors(again, LONG, SHORT), _vectors(encoder, LONG, SHORT))


@pytest.mark.parametrize("size", [{"layers": 0}, {"hidden": 0}, {"dropout": 1.0}])
def test_impossible_size_is_refused(size: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="cannot be"):
        RecurrentEncoder(HashedWords(), **{"layers": 1, "hidden": 2, "dropout": 0.0, **size})
