"""Tiny random masked language models with vocabularies of their own, made on the spot."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from lacuner.encoders.pretrained import quietly

hf: Any = transformers  # most of it has no types

TEXT = (
    "The ferry from Gdynia to Oslo was late again .",
    "The tram from Ghent to Lisbon was early again .",
    "Maren Holt moved from Oslo to Ghent in May .",
    "Ines Okafor moved from Lisbon to Gdynia in June .",
    "Nobody expected rain in the harbour of Lisbon .",
    "Nobody expected snow in the harbour of Gdynia .",
    "In 1996 the tram was late , in 2004 it was early .",
)
_SIZES: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48,
}  # fmt: skip


def word_piece(text: Iterable[str] = TEXT, *, lower: bool = False, size: int = 300) -> Any:
    """A BERT tokeniser with the letters and the most frequent words of a text.

    Its vocabulary is counted, not trained: `WordPieceTrainer` finds another one each time.
    """
    normalizer = normalizers.BertNormalizer(lowercase=lower)
    before: Any = pre_tokenizers.BertPreTokenizer()
    words = Counter(
        word for line in text for word, _ in before.pre_tokenize_str(normalizer.normalize_str(line))
    )
    pad, unk, cls, sep, mask = names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = sorted({letter for word in words for letter in word})
    pieces = [*names, *letters, *(f"##{letter}" for letter in letters)]
    pieces += sorted(words.keys() - set(letters), key=lambda word: (-words[word], word))
    vocabulary = {piece: number for number, piece in enumerate(pieces[:size])}
    tokeniser: Any = Tokenizer(models.WordPiece(vocabulary, unk_token=unk))
    tokeniser.normalizer = normalizer
    tokeniser.pre_tokenizer = before
    tokeniser.post_processor = processors.BertProcessing((sep, 3), (cls, 2))
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokeniser, pad_token=pad, unk_token=unk, cls_token=cls, sep_token=sep,
        mask_token=mask,
    )  # fmt: skip


def byte_pairs(text: Iterable[str] = TEXT, *, size: int = 500) -> Any:
    """A RoBERTa tokeniser, trained on a text; by itself it adds no space before the first word."""
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokeniser: Any = Tokenizer(models.BPE())
    tokeniser.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=names, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    tokeniser.train_from_iterator(text, trainer)
    tokeniser.decoder = decoders.ByteLevel()
    tokeniser.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    begin, pad, end, unk, mask = names
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokeniser, pad_token=pad, unk_token=unk, cls_token=begin, sep_token=end,
        bos_token=begin, eos_token=end, mask_token=mask,
    )  # fmt: skip


def write_bert(
    folder: Path, tokeniser: Any = None, *, head: bool = True, positions: int = 64
) -> Path:
    """A BERT of random weights, with the head that fills gaps or without."""
    tokeniser = tokeniser or word_piece()
    torch.manual_seed(1)
    config = hf.BertConfig(vocab_size=len(tokeniser), max_position_embeddings=positions, **_SIZES)
    return _write(folder, (hf.BertForMaskedLM if head else hf.BertModel)(config), tokeniser)


def write_roberta(
    folder: Path, tokeniser: Any = None, *, head: bool = True, positions: int = 66
) -> Path:
    """A RoBERTa of random weights, with the head that fills gaps or without."""
    tokeniser = tokeniser or byte_pairs()
    torch.manual_seed(2)
    config = hf.RobertaConfig(
        vocab_size=len(tokeniser), max_position_embeddings=positions, pad_token_id=1,
        bos_token_id=0, eos_token_id=2, **_SIZES,
    )  # fmt: skip
    return _write(folder, (hf.RobertaForMaskedLM if head else hf.RobertaModel)(config), tokeniser)


def write_decided(folder: Path, chances: dict[str, float], tokeniser: Any = None) -> Path:
    """A BERT that gives these pieces these probabilities whatever it reads, and others nearly 0."""
    tokeniser = tokeniser or word_piece()
    config = hf.BertConfig(vocab_size=len(tokeniser), max_position_embeddings=64, **_SIZES)
    model = hf.BertForMaskedLM(config)
    head = model.cls.predictions
    torch.nn.init.zeros_(head.transform.LayerNorm.weight)  # with its bias: nothing but the bias
    torch.nn.init.constant_(head.bias, -30.0)
    with torch.no_grad():
        for piece, chance in chances.items():
            assert piece in tokeniser.get_vocab()
            head.bias[tokeniser.get_vocab()[piece]] = math.log(chance)
    return _write(folder, model, tokeniser)


def _write(folder: Path, model: Any, tokeniser: Any) -> Path:
    with quietly():
        model.save_pretrained(folder)
        tokeniser.save_pretrained(folder)
    return folder
