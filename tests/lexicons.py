"""A small Chinese text, an English one, and lexicons for both, with a tiny BERT that reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from lacuner import Sentence

hf: Any = transformers  # most of it has no types

CHINESE = (
    "他在北京大学读书", "南京市长江大桥很长", "海淀在北京", "市长读大学", "很长", "大",
    "长江在南京", "北京市长在长江大桥",
)  # fmt: skip
CHINESE_WORDS = (
    "北京", "大学", "北京大学", "京大", "读书", "南京", "南京市", "市长", "长江", "大桥",
    "长江大桥", "江大", "海淀", "大", "上海", "上海大学",
)  # fmt: skip
ENGLISH = ("Maren moved to New York City", "the New York ferry", "york is old , New Orsa is not")
ENGLISH_WORDS = ("New_York", "New York City", "York", "ferry", "Orsa", "Lake Orsa")
WIDTH = 6


def chinese() -> list[Sentence]:
    """Sentences whose tokens are characters."""
    return [Sentence(str(number), tuple(text)) for number, text in enumerate(CHINESE)]


def english() -> list[Sentence]:
    """Sentences whose tokens are words."""
    return [Sentence(str(number), tuple(text.split())) for number, text in enumerate(ENGLISH)]


def write_lexicon(path: Path, words: tuple[str, ...] = CHINESE_WORDS, width: int = WIDTH) -> Path:
    """A file of random vectors for some words, in the form of word2vec, fields by tabs."""
    rng = np.random.default_rng(7)
    rows = ("\t".join([word, *map(str, 3 * rng.normal(size=width))]) for word in words)
    path.write_text(f"{len(words)} {width}\n" + "".join(row + "\n" for row in rows), "utf-8")
    return path


def write_chinese_bert(folder: Path, *, positions: int = 32) -> Path:
    """A tiny BERT that knows the characters of the text above, and sees so many pieces."""
    torch.manual_seed(1)
    characters = sorted({char for text in (*CHINESE, *CHINESE_WORDS) for char in text})
    entries = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *characters, *"abcdefghijklmnopqrstuvwxyz"]
    entries += [f"##{char}" for char in "abcdefghijklmnopqrstuvwxyz"]
    tokeniser = Tokenizer(
        models.WordPiece({entry: n for n, entry in enumerate(entries)}, unk_token="[UNK]")
    )
    tokeniser.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokeniser.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokeniser.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    config = hf.BertConfig(
        vocab_size=len(entries), hidden_size=16, num_hidden_layers=3, num_attention_heads=2,
        intermediate_size=24, max_position_embeddings=positions,
    )  # fmt: skip
    hf.BertModel(config).save_pretrained(folder)
    hf.PreTrainedTokenizerFast(
        tokenizer_object=tokeniser, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
        sep_token="[SEP]", model_max_length=positions,
    ).save_pretrained(folder)  # fmt: skip
    return folder
