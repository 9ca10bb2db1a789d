"""Hiding words in training: some, only in training, only words, and never by surprise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lacuner import Sentence
from lacuner.encoders import build_encoder
from lacuner.encoders.hiding import draw_hidden
from lacuner.encoders.transformer import TransformerEncoder
from lacuner.errors import UsageError
from tests.encoders.conftest import sentence
from tests.lexicons import chinese, write_lexicon

TEXT = sentence("the bergen ferry met Rain in the harbour")
KINDS = ("uncased_bert", "bilstm", "flat_lattice")


def _encoder(request: pytest.FixtureRequest, kind: str, hide: float) -> tuple[Any, Sentence]:
    torch.manual_seed(0)
    if kind == "bilstm":
        encoder, text = build_encoder("bilstm", [TEXT], hide=hide, dropout=0.0), TEXT
    elif kind == "flat_lattice":
        text = chinese()[0]
        lexicon = write_lexicon(request.getfixturevalue("tmp_path") / "words.txt")
        encoder = build_encoder("flat_lattice", [text], lexicon=lexicon, hide=hide, dropout=0.0)
    else:
        folder: Path = request.getfixturevalue(kind)
        encoder, text = TransformerEncoder.from_pretrained(str(folder), hide=hide), TEXT
        for module in encoder.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
    return encoder, text


def _vectors(encoder: Any, text: Sentence) -> Tensor:
    vectors: Tensor = encoder(encoder.collate(encoder.tokenise([text])))
    return vectors.detach()


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_hidden_in_training_and_not_afterwards(
    request: pytest.FixtureRequest, kind: str
) -> None:
    plain, text = _encoder(request, kind, 0.0)
    hiding, _ = _encoder(request, kind, 0.6)
    truth = _vectors(plain.eval(), text)
    assert torch.allclose(_vectors(hiding.eval(), text), truth, atol=1e-6)
    assert not torch.allclose(_vectors(hiding.train(), text), truth, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_drawn_where_nothing_is_hidden(
    request: pytest.FixtureRequest, kind: str
) -> None:
    encoder, text = _encoder(request, kind, 0.0)
    encoder.train()
    before = torch.get_rng_state()
    _vectors(encoder, text)
    assert torch.equal(torch.get_rng_state(), before)


def test_special_pieces_and_padding_are_never_hidden(request: pytest.FixtureRequest) -> None:
    encoder, _ = _encoder(request, "uncased_bert", 0.999)
    inputs = encoder.collate(encoder.tokenise([TEXT, sentence("the rain")]))
    seen: list[Tensor] = []
    read = encoder.model.get_input_embeddings().register_forward_pre_hook(
        lambda _, given: seen.append(given[0])
    )
    encoder.train()(inputs)
    read.remove()
    words = inputs["piece_shapes"] > 0
    assert torch.equal(seen[0][~words], inputs["pieces"][~words])
    hidden = seen[0][words] == encoder.subwords.mask
    assert hidden.float().mean() > 0.9


def test_share_is_that_of_the_places_that_are_there() -> None:
    torch.manual_seed(0)
    there = torch.rand(200, 200) < 0.5
    hidden = draw_hidden(there, 0.3)
    assert not (hidden & ~there).any()
    assert hidden.sum() / there.sum() == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize("share", [-0.1, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_share_is_refused(
    request: pytest.FixtureRequest, kind: str, share: float
) -> None:
    with pytest.raises(UsageError, match=r"encoder\.hide is .* below 1"):
        _encoder(request, kind, share)
