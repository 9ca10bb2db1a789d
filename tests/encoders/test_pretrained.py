"""Loading models: what cannot be loaded is a sentence, and nothing is written meanwhile."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers.utils import logging

from lacuner.encoders.pretrained import load_pretrained, load_untrained
from lacuner.errors import UsageError
from tests.encoders.conftest import byte_pairs, word_piece

hf: Any = transformers  # most of it has no types


@pytest.fixture
def copy(bert: Path, tmp_path: Path) -> Path:
    """A copy of a model that a test may spoil."""
    return shutil.copytree(bert, tmp_path / "tiny-bert")


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No hub, and an empty working folder."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)


def _message(name: str | Path, known: tuple[str, ...] = ("minilm", "bilstm")) -> str:
    with pytest.raises(UsageError) as caught:
        load_pretrained(str(name), known=known)
    message = str(caught.value)
    assert "\n" not in message
    assert "Traceback" not in message
    return message


def test_missing_folder_names_those_nearby(copy: Path) -> None:
    wrong = copy.parent / "tiny-bret"
    assert _message(wrong) == f"There is no folder {wrong}. Did you mean {copy}?"


def test_misspelt_name_names_the_close_one(offline: None) -> None:
    assert "Did you mean minilm?" in _message("minlm")


def test_name_without_a_hub_says_so(offline: None) -> None:
    message = _message("nobody/none")
    assert "no folder 'nobody/none'" in message
    assert "hub, where it may be, cannot be reached" in message


def test_impossible_name_is_no_encoder(offline: None) -> None:
    assert "There is no encoder 'a model'" in _message("a model")


def test_folder_without_a_model_says_what_is_missing(copy: Path) -> None:
    (copy / "model.safetensors").unlink()
    assert "holds no weights" in _message(copy)
    (copy / "config.json").unlink()
    assert "no config.json" in _message(copy)


def test_file_is_no_encoder(copy: Path) -> None:
    assert "is a file" in _message(copy / "config.json")


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.json"])
def test_damaged_file_is_a_sentence(copy: Path, file: str) -> None:
    (copy / file).write_bytes((copy / file).read_bytes()[:20])
    assert "cannot be loaded: " in _message(copy)


def test_folder_without_a_tokeniser_is_refused(copy: Path) -> None:
    (copy / "tokenizer.json").unlink()
    assert "tokeniser" in _message(copy)
    (copy / "tokenizer_config.json").unlink()
    assert "has no tokeniser that knows any words" in _message(copy)


@pytest.mark.parametrize("kind", ["roberta", "t5", "bert"])
def test_tokeniser_that_transformers_makes_up_is_refused(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    bare = shutil.copytree(
        request.getfixturevalue(kind), tmp_path / kind, ignore=shutil.ignore_patterns("token*")
    )
    assert "has no tokeniser that knows any words" in _message(bare)
    with pytest.raises(UsageError, match="no tokeniser that knows any words"):
        load_untrained(bare)


def test_kind_without_a_made_up_tokeniser_is_refused_in_one_sentence(tmp_path: Path) -> None:
    config = hf.ModernBertConfig(
        vocab_size=50, hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, pad_token_id=0, bos_token_id=2, eos_token_id=3, cls_token_id=2,
        sep_token_id=3,
    )  # fmt: skip
    hf.ModernBertModel(config).save_pretrained(tmp_path / "modern")
    assert "cannot be loaded: it has no tokeniser" in _message(tmp_path / "modern")


def test_tokeniser_with_more_pieces_than_the_model_is_refused(copy: Path) -> None:
    byte_pairs(prefix_space=True).save_pretrained(copy)
    message = _message(copy)
    assert "numbers 266 pieces, but the model knows only 139" in message
    with pytest.raises(UsageError, match="do not belong together"):
        load_untrained(copy)


def test_model_may_know_more_pieces_than_its_tokeniser(tmp_path: Path) -> None:
    tokeniser = word_piece()
    config = hf.BertConfig(
        vocab_size=len(tokeniser) + 61, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16,
    )  # fmt: skip
    hf.BertModel(config).save_pretrained(tmp_path / "padded")
    tokeniser.save_pretrained(tmp_path / "padded")
    model, _ = load_pretrained(str(tmp_path / "padded"))
    assert model.get_input_embeddings().num_embeddings == len(tokeniser) + 61


def test_missing_weights_are_not_made_up(copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    weights = {name: tensor for name, tensor in weights.items() if "layer.1." not in name}
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    assert "lacks 16 of its weights" in _message(copy)


def test_code_of_a_model_is_never_run(copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModel": "own.Own"}}
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "own.py").write_text("raise SystemExit('run')")
    assert "code of its own, which Lacuner never runs" in _message(copy)


def test_weights_that_are_a_pickle_with_code_are_refused(copy: Path) -> None:
    (copy / "model.safetensors").unlink()
    torch.save({"embeddings.word_embeddings.weight": _Harmful()}, copy / "pytorch_model.bin")
    assert "cannot be loaded" in _message(copy)


class _Harmful:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("run",)


def test_weights_in_a_bin_file_are_loaded(copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    torch.save(weights, copy / "pytorch_model.bin")
    (copy / "model.safetensors").unlink()
    model, _ = load_pretrained(str(copy))
    name = "embeddings.word_embeddings.weight"
    assert torch.equal(model.state_dict()[name], weights[name])


def test_half_precision_is_loaded_as_float(copy: Path) -> None:
    weights = {n: t.half() for n, t in load_file(copy / "model.safetensors").items()}
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((copy / "config.json").read_text()) | {"dtype": "float16"}
    (copy / "config.json").write_text(json.dumps(config))
    model, _ = load_pretrained(str(copy))
    assert {p.dtype for p in model.parameters()} == {torch.float32}


def test_loading_is_silent_and_leaves_settings_alone(
    bert: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    load_pretrained(str(bert))
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_attention_in_training_keeps_no_table_of_all_pairs(
    request: pytest.FixtureRequest, name: str
) -> None:
    model, _ = load_pretrained(str(request.getfixturevalue(name)))
    kept: list[torch.Size] = []

    def keep(saved: torch.Tensor) -> torch.Tensor:
        kept.append(saved.shape)
        return saved

    pieces = torch.full((2, 23), 5)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda saved: saved):
        model.train()(input_ids=pieces, attention_mask=torch.ones_like(pieces))
    assert kept
    assert (23, 23) not in [tuple(shape[-2:]) for shape in kept]
