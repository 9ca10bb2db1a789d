"""The lexicon adapter, by hand, and where it sits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from lacuner import Sentence
from lacuner.encoders import build_encoder
from lacuner.encoders.lexicon_bert import LexiconAdapter
from lacuner.encoders.word_attention import WordAttention
from lacuner.errors import UsageError
from tests.encoders.conftest import byte_pairs
from tests.lexicons import chinese, write_lexicon

hf: Any = transformers


def _slow_attention(layer: WordAttention, place: Tensor, words: list[Tensor]) -> Tensor:
    if not words:
        return torch.zeros(layer.bilinear.out_features, dtype=place.dtype)
    weight = layer.bilinear.weight  # [word width, width]
    scores = torch.stack([(place @ weight.T) @ word for word in words])
    shares = torch.exp(scores) / torch.exp(scores).sum()
    return sum((share * word for share, word in zip(shares, words, strict=True)), torch.zeros(()))


def test_adapter_is_what_the_equations_say() -> None:
    torch.manual_seed(0)
    adapter = LexiconAdapter(6, 4, dropout=0.5).double().eval()
    torch.nn.init.normal_(adapter.norm.weight)
    places, words = torch.randn(2, 3, 6).double(), torch.randn(5, 4).double()
    slots = torch.tensor([[[1, 2], [0, 0], [3, 0]], [[4, 4], [2, 1], [0, 0]]])
    fast = adapter(places, words, slots)
    for row in range(2):
        for column in range(3):
            chosen = [
                adapter.transform[2](torch.tanh(adapter.transform[0](words[slot])))
                for slot in slots[row, column].tolist()
                if slot
            ]
            total = places[row, column] + _slow_attention(
                adapter.attention, places[row, column], chosen
            )
            centred = total - total.mean()
            normed = centred / (centred.square().mean() + adapter.norm.eps).sqrt()
            expected = normed * adapter.norm.weight + adapter.norm.bias
            torch.testing.assert_close(fast[row, column], expected)


def test_attention_of_a_place_without_words_is_zero_and_has_a_gradient() -> None:
    torch.manual_seed(0)
    attention = WordAttention(3, 2).double()
    places = torch.randn(2, 3).double().requires_grad_()
    words = torch.randn(3, 2).double().requires_grad_()
    slots = torch.tensor([[0, 0], [2, 1]])
    assert not attention(places, words, slots)[0].any()
    assert torch.autograd.gradcheck(lambda p, w: attention(p, w, slots), (places, words))


@pytest.mark.parametrize("layer", [1, 3])
def test_adapter_sits_after_its_layer(layer: int, chinese_bert: Path, tmp_path: Path) -> None:
    encoder = build_encoder(
        "lexicon_bert", chinese(), lexicon=str(write_lexicon(tmp_path / "words.txt")),
        transformer=str(chinese_bert), layer=layer, shape="off",
    ).eval()  # fmt: skip
    inputs = encoder.collate(encoder.tokenise([chinese()[0]]))
    model = encoder.reader.transformer.model
    with torch.no_grad():
        found = encoder(inputs)
        hidden = model.embeddings(inputs["pieces"])
        for number, block in enumerate(model.encoder.layer, 1):
            hidden = block(hidden)
            if number == layer:
                words = encoder.reader.lexicon(inputs)
                hidden = encoder.adapter(hidden, words, inputs["piece_slots"])
    torch.testing.assert_close(found[0], hidden[0, 1:-1])
    # Nothing stays behind: the transformer alone is what it was.
    with torch.no_grad():
        plain = encoder.reader.transformer(inputs)
    assert not torch.allclose(plain, found)


def test_words_come_to_a_piece_in_every_window(chinese_bert: Path, tmp_path: Path) -> None:
    encoder = build_encoder(
        "lexicon_bert", chinese(), lexicon=str(write_lexicon(tmp_path / "words.txt")),
        transformer=str(chinese_bert), window=8, overlap=3,
    )  # fmt: skip
    sentence = Sentence("1", tuple("南京市长江大桥在海淀"))
    item = encoder.tokenise([sentence])[0]
    slots = encoder.collate([item])["piece_slots"]
    assert len(item.pieces.windows) > 1
    for row, words in zip(slots, item.pieces.window_words, strict=True):
        for place, word in zip(row, words, strict=False):
            expected = item.slots[word - 1] > 0 if word else item.slots[0] < 0
            assert (place.numpy() > 0).tolist() == expected.tolist()


@pytest.mark.parametrize(("layer", "count"), [(0, 3), (4, 3)])
def test_layer_that_is_not_there_is_named(
    layer: int, count: int, chinese_bert: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=rf"There is no layer {layer}: .* has {count}"):
        build_encoder(
            "lexicon_bert", chinese(), lexicon=str(write_lexicon(tmp_path / "words.txt")),
            transformer=str(chinese_bert), layer=layer,
        )  # fmt: skip


def test_model_that_shares_its_layers_is_refused(chinese_bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "albert"
    tokeniser = hf.AutoTokenizer.from_pretrained(chinese_bert)
    config = hf.AlbertConfig(
        vocab_size=len(tokeniser), embedding_size=8, hidden_size=16, num_hidden_layers=3,
        num_attention_heads=2, intermediate_size=24, max_position_embeddings=32,
    )  # fmt: skip
    hf.AlbertModel(config).save_pretrained(folder)
    tokeniser.save_pretrained(folder)
    with pytest.raises(UsageError, match="not one module each"):
        build_encoder(
            "lexicon_bert", chinese(), lexicon=str(write_lexicon(tmp_path / "words.txt")),
            transformer=str(folder),
        )  # fmt: skip


@pytest.mark.parametrize("name", ["lexicon_bert", "word_fusion"])
def test_tokeniser_that_cuts_characters_is_refused(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "roberta"
    tokeniser = byte_pairs(prefix_space=True)
    config = hf.RobertaConfig(
        vocab_size=len(tokeniser), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=24, max_position_embeddings=40, pad_token_id=1,
    )  # fmt: skip
    hf.RobertaModel(config).save_pretrained(folder)
    tokeniser.save_pretrained(folder)
    message = r"cuts 16 of the corpus's 16 characters into several pieces, for instance '.'"
    with pytest.raises(UsageError, match=message):
        build_encoder(
            name, chinese(), lexicon=str(write_lexicon(tmp_path / "words.txt")),
            transformer=str(folder),
        )  # fmt: skip
