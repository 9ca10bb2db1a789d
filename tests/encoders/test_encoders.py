"""The table of encoders, and how they are chosen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lacuner import Corpus
from lacuner.encoders import DEFAULT_ENCODER, ENCODERS, _kinds, build_encoder, load_encoder
from lacuner.encoders.bilstm import BiLSTMEncoder
from lacuner.encoders.transformer import TransformerEncoder
from lacuner.errors import DataError, UsageError


def test_default_is_in_the_table() -> None:
    assert DEFAULT_ENCODER in ENCODERS
    assert {entry.kind for entry in ENCODERS.values()} <= set(_kinds())


def test_import_of_the_table_loads_no_torch() -> None:
    program = "import sys, lacuner.encoders; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"torch", "transformers"} & set(loaded)


def test_folder_becomes_a_transformer(bert: Path, small_corpus: Corpus) -> None:
    encoder = build_encoder(str(bert), small_corpus.sentences, vectors=None, pooling="last")
    assert isinstance(encoder, TransformerEncoder)
    assert (encoder.name, encoder.pooling) == (str(bert), "last")


def test_settings_shared_by_all_kinds_are_taken_at_their_defaults(small_corpus: Corpus) -> None:
    settings: dict[str, Any] = {
        "pooling": "first", "freeze": "embeddings", "shape": "auto", "window": None, "vectors": None
    }  # fmt: skip
    assert isinstance(build_encoder("bilstm", small_corpus.sentences, **settings), BiLSTMEncoder)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("bilstm", {"pooling": "last"}, "'pooling' is nothing that the encoder 'bilstm' knows"),
        ("minilm", {"vectors": "a.txt"}, "'vectors' is nothing that the encoder 'minilm' knows"),
        ("minilm", {"poling": "last"}, "'poling'. Did you mean pooling"),
        ("bilstm", {"model": 1}, "There is no argument of an encoder 'model'"),
    ],
)
def test_argument_that_does_not_fit_is_refused(
    name: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        build_encoder(name, (), **arguments)


@pytest.mark.parametrize(
    "description", [{}, {"kind": "other"}, {"kind": "bilstm"}, {"kind": "transformer", "depth": 3}]
)
def test_damaged_description_is_refused(description: dict[str, Any], bert: Path) -> None:
    with pytest.raises(DataError):
        load_encoder(description, bert)
