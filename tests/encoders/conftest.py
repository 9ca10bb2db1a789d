"""Tiny random models with tokenisers made on the spot, so that nothing is downloaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from lacuner import Sentence
from tests.lexicons import write_chinese_bert

hf: Any = transformers  # most of it has no types
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,-"


def word_piece(*, lower: bool = False, longest: int | None = None) -> Any:
    """A BERT tokeniser that knows a few words and all letters."""
    entries = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *_LETTERS, *(f"##{char}" for char in _LETTERS)]
    entries += ["berg", "##en", "the", "rain", "harbour"]
    tokeniser = Tokenizer(
        models.WordPiece({entry: n for n, entry in enumerate(entries)}, unk_token="[UNK]")
    )
    tokeniser.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokeniser.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokeniser.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokeniser,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        **({"model_max_length": longest} if longest else {}),
    )


def byte_pairs(*, prefix_space: bool) -> Any:
    """A RoBERTa tokeniser with a few merges."""
    entries = ["<s>", "<pad>", "</s>", "<unk>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    merges = [("Ġ", "t"), ("h", "e"), ("Ġt", "he"), ("e", "n"), ("r", "g"), ("rg", "en")]
    entries += ["".join(merge) for merge in merges]
    tokeniser = Tokenizer(models.BPE({entry: n for n, entry in enumerate(entries)}, merges))
    tokeniser.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    tokeniser.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokeniser,
        unk_token="<unk>",
        pad_token="<pad>",
        cls_token="<s>",
        sep_token="</s>",
    )


def sentence_pieces() -> Any:
    """A T5 tokeniser: unigrams with the mark of SentencePiece."""
    entries = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0), ("▁the", -1.0)]
    entries += [(char, -4.0) for char in _LETTERS] + [("en", -2.0), ("rg", -2.0)]
    tokeniser = Tokenizer(models.Unigram(entries, unk_id=2))
    tokeniser.pre_tokenizer = pre_tokenizers.Metaspace()
    tokeniser.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokeniser, unk_token="<unk>", pad_token="<pad>", eos_token="</s>"
    )


TOKENISERS: dict[str, Callable[[], Any]] = {
    "WordPiece": word_piece,
    "WordPiece, uncased": lambda: word_piece(lower=True),
    "byte pairs": lambda: byte_pairs(prefix_space=True),
    "SentencePiece": sentence_pieces,
}


def _write(folder: Path, model: Any, tokeniser: Any) -> Path:
    model.save_pretrained(folder)
    tokeniser.save_pretrained(folder)
    return folder


def _sizes(tokeniser: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokeniser),
        "hidden_size": 16,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "intermediate_size": 24,
    }


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cased BERT that sees 40 pieces."""
    torch.manual_seed(1)
    tokeniser = word_piece(longest=40)
    config = hf.BertConfig(**_sizes(tokeniser), max_position_embeddings=40)
    return _write(tmp_path_factory.mktemp("models") / "tiny-bert", hf.BertModel(config), tokeniser)


@pytest.fixture(scope="session")
def uncased_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uncased BERT."""
    torch.manual_seed(2)
    tokeniser = word_piece(lower=True)
    config = hf.BertConfig(**_sizes(tokeniser), max_position_embeddings=64)
    return _write(tmp_path_factory.mktemp("models") / "uncased", hf.BertModel(config), tokeniser)


@pytest.fixture(scope="session")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A RoBERTa with 42 positions, two of which it never uses; its tokeniser adds no space."""
    torch.manual_seed(3)
    tokeniser = byte_pairs(prefix_space=False)
    config = hf.RobertaConfig(
        **_sizes(tokeniser), max_position_embeddings=42, pad_token_id=1, bos_token_id=0,
        eos_token_id=2,
    )  # fmt: skip
    return _write(tmp_path_factory.mktemp("models") / "roberta", hf.RobertaModel(config), tokeniser)


@pytest.fixture(scope="session")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder-decoder."""
    torch.manual_seed(4)
    tokeniser = sentence_pieces()
    config = hf.T5Config(
        vocab_size=len(tokeniser), d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2,
        decoder_start_token_id=0,
    )  # fmt: skip
    return _write(tmp_path_factory.mktemp("models") / "t5", hf.T5Model(config), tokeniser)


@pytest.fixture(scope="session")
def convbert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose convolutions see padding."""
    torch.manual_seed(5)
    tokeniser = word_piece()
    config = hf.ConvBertConfig(**_sizes(tokeniser) | {"num_attention_heads": 4})
    model = hf.ConvBertModel(config)
    return _write(tmp_path_factory.mktemp("models") / "convbert", model, tokeniser)


@pytest.fixture(scope="session")
def funnel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that pools neighbouring places, padding among them."""
    torch.manual_seed(6)
    tokeniser = word_piece()
    config = hf.FunnelConfig(
        vocab_size=len(tokeniser), d_model=16, n_head=2, d_head=8, d_inner=24, block_sizes=[1, 1]
    )
    model = hf.FunnelModel(config)
    return _write(tmp_path_factory.mktemp("models") / "funnel", model, tokeniser)


def sentence(text: str) -> Sentence:
    """A sentence of these words."""
    return Sentence("1", tuple(text.split()))


@pytest.fixture(scope="session")
def chinese_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT that reads Chinese characters whole, 32 pieces at once."""
    return write_chinese_bert(tmp_path_factory.mktemp("models") / "chinese")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled lexicons go to a place that only these tests know."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
