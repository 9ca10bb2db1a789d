"""Masked language models score just the places they are asked for, and load with clear errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from lacuner.encoders.language_model import MaskedLanguageModel, load_language_model
from lacuner.encoders.pretrained import quietly
from lacuner.errors import UsageError
from tests.language_models import byte_pairs, word_piece, write_bert, write_roberta

hf: Any = transformers
_SMALL: dict[str, Any] = {
    "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16,
    "max_position_embeddings": 32,
}  # fmt: skip


def _kinds() -> dict[str, Any]:
    size = {"vocab_size": len(word_piece())}
    return {
        "bert": hf.BertConfig(**_SMALL, **size),
        "albert": hf.AlbertConfig(**_SMALL, **size, embedding_size=8),
        "electra": hf.ElectraConfig(**_SMALL, **size, embedding_size=8),
        "distilbert": hf.DistilBertConfig(
            dim=16, n_layers=1, n_heads=2, hidden_dim=16, max_position_embeddings=32, **size
        ),
        "modernbert": hf.ModernBertConfig(
            **_SMALL, **size, pad_token_id=0, bos_token_id=2, eos_token_id=3, cls_token_id=2,
            sep_token_id=3,
        ),
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["bert", "albert", "electra", "distilbert", "modernbert"])
def test_scores_are_those_of_the_whole_model_at_the_places(kind: str) -> None:
    torch.manual_seed(0)
    whole = hf.AutoModelForMaskedLM.from_config(_kinds()[kind]).eval()
    model = MaskedLanguageModel(whole, word_piece())
    rows = [np.array([2, 9, 10, 11, 3]), np.array([2, 12, 3])]
    inputs = model.collate(rows, [np.array([1, 3]), np.array([1])])
    with torch.no_grad():
        scores = model(inputs)
        full = whole(input_ids=inputs["pieces"], attention_mask=inputs["attention"]).logits
    torch.testing.assert_close(scores, torch.stack((full[0, 1], full[0, 3], full[1, 1])))
    assert inputs["attention"].tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]


@pytest.mark.parametrize("write", [write_bert, write_roberta])
def test_checkpoint_without_a_head_gets_a_tied_one_when_asked(write: Any, tmp_path: Path) -> None:
    headless = write(tmp_path / "headless", head=False)
    with pytest.raises(UsageError, match=r"no head that fills gaps.*lacuner adapt"):
        load_language_model(headless)
    model = load_language_model(headless, fresh_head=True)
    assert model.has_fresh_head and model.is_tied
    everything = {id(parameter) for parameter in model.parameters()}
    pretrained = {id(parameter) for parameter in model.pretrained_parameters()}
    assert pretrained < everything
    assert id(model.model.get_input_embeddings().weight) in pretrained


def test_checkpoint_with_a_head_keeps_it(tmp_path: Path) -> None:
    folder = write_bert(tmp_path / "whole")
    model = load_language_model(folder)
    assert not model.has_fresh_head
    assert len(model.pretrained_parameters()) == len(list(model.parameters()))
    model.save(tmp_path / "again")
    again = load_language_model(tmp_path / "again")
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])


def test_freezing_spares_the_head(tmp_path: Path) -> None:
    model = load_language_model(write_bert(tmp_path / "bert"))
    model.freeze("all")
    trained = [name for name, p in model.named_parameters() if p.requires_grad]
    assert trained and all("predictions" in name for name in trained)


def test_limit_leaves_out_positions_that_roberta_never_uses(tmp_path: Path) -> None:
    assert load_language_model(write_roberta(tmp_path / "roberta")).limit == 64


def _save(folder: Path, model: Any, tokeniser: Any) -> Path:
    with quietly():
        model.save_pretrained(folder)
        tokeniser.save_pretrained(folder)
    return folder


def test_other_kinds_of_models_are_refused(tmp_path: Path) -> None:
    tokeniser = byte_pairs()
    config = hf.GPT2Config(vocab_size=len(tokeniser), n_embd=16, n_layer=1, n_head=2)
    with pytest.raises(UsageError, match=r"\(gpt2\) cannot be a masked language model"):
        load_language_model(_save(tmp_path / "gpt2", hf.GPT2Model(config), tokeniser))
    config = hf.BartConfig(
        vocab_size=len(tokeniser), d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16,
        decoder_ffn_dim=16, max_position_embeddings=32,
    )  # fmt: skip
    with pytest.raises(UsageError, match=r"\(bart\) cannot be a masked language model"):
        load_language_model(_save(tmp_path / "bart", hf.BartModel(config), tokeniser))


def test_model_that_looks_at_padding_is_refused(tmp_path: Path) -> None:
    torch.manual_seed(0)
    tokeniser = word_piece()
    config = hf.ConvBertConfig(**_SMALL | {"num_attention_heads": 4}, vocab_size=len(tokeniser))
    folder = _save(tmp_path / "convbert", hf.ConvBertForMaskedLM(config), tokeniser)
    with pytest.raises(UsageError, match="looks at padding"):
        load_language_model(folder)


def test_tokeniser_without_a_mask_is_refused(tmp_path: Path) -> None:
    tokeniser = word_piece()
    tokeniser.mask_token = None
    with pytest.raises(UsageError, match="no piece that stands for a gap"):
        load_language_model(write_bert(tmp_path / "maskless", tokeniser))


@pytest.mark.parametrize("fresh_head", [True, False])
def test_tokeniser_that_does_not_fit_is_refused(fresh_head: bool, tmp_path: Path) -> None:
    folder = write_bert(tmp_path / "bert", head=not fresh_head)
    byte_pairs().save_pretrained(folder)
    with pytest.raises(UsageError, match=r"numbers 375 pieces, but the model knows only 117"):
        load_language_model(folder, fresh_head=fresh_head)
    for path in folder.glob("token*"):
        path.unlink()
    with pytest.raises(UsageError, match="no tokeniser that knows any words"):
        load_language_model(folder, fresh_head=fresh_head)


def test_checkpoint_that_lacks_weights_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = write_bert(tmp_path / "damaged")
    weights = load_file(folder / "model.safetensors")
    gone = next(name for name in weights if "attention" in name)
    save_file(
        {name: t for name, t in weights.items() if name != gone}, folder / "model.safetensors",
        metadata={"format": "pt"},
    )  # fmt: skip
    with pytest.raises(UsageError, match=r"lacks 1 of its weights, for instance bert\."):
        load_language_model(folder)
