"""Questions in front of sentences: what the transformer reads, windows, saving."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from lacuner import Sentence
from lacuner.encoders import load_encoder
from lacuner.encoders.question_reader import QuestionReader
from lacuner.encoders.transformer import TransformerEncoder
from lacuner.errors import UsageError
from tests.encoders.conftest import sentence
from tests.neural import HashedWords

QUESTIONS = ("which harbour ?", "the rain ?")
TEXT = "the bergen ferry"


def _reader(
    request: pytest.FixtureRequest, name: str, questions: Any = QUESTIONS, **arguments: Any
) -> QuestionReader:
    folder: Path = request.getfixturevalue(name)
    encoder = TransformerEncoder.from_pretrained(str(folder), shape="off", **arguments)
    return QuestionReader(encoder, questions).eval()


def _vectors(reader: QuestionReader, *sentences: Sentence) -> torch.Tensor:
    with torch.no_grad():
        vectors: torch.Tensor = reader(reader.collate(reader.tokenise(sentences)))
    return vectors


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_transformer_reads_what_its_tokeniser_makes_of_two_texts(
    request: pytest.FixtureRequest, name: str
) -> None:
    reader = _reader(request, name, questions=("the rain",))
    subwords = reader.transformer.subwords
    by_word = subwords.pieces(TEXT.split())
    read = reader.tokenise([sentence(TEXT)])[0][0].windows[0]
    asked = [piece for pieces in subwords.pieces(["the", "rain"]) for piece in pieces.tolist()]
    told = [piece for pieces in by_word for piece in pieces.tolist()]
    pair = subwords.tokeniser("the", "the", return_special_tokens_mask=True)
    specials = [p for p, m in zip(*(pair[k] for k in ("input_ids", "special_tokens_mask")),
                                  strict=True) if m]  # fmt: skip
    before, between = subwords.before.tolist(), specials[1:-1]
    assert before == specials[:1]
    assert read.tolist() == [*before, *asked, *between, *told, *specials[-1:]]
    with torch.no_grad():
        hidden = reader.transformer.model(input_ids=torch.tensor(read)[None]).last_hidden_state[0]
    first = len(before) + len(asked) + len(between)
    places = [first, first + len(by_word[0]), first + len(by_word[0]) + len(by_word[1])]
    vectors = _vectors(reader, sentence(TEXT))
    assert vectors.shape == (1, 1, 3, reader.width)
    assert torch.allclose(vectors[0, 0], hidden[places], atol=1e-5)


@pytest.mark.parametrize("name", ["bert", "uncased_bert", "roberta", "t5"])
def test_every_question_has_its_own_vectors_whatever_the_batch(
    request: pytest.FixtureRequest, name: str
) -> None:
    reader = _reader(request, name)
    long, short = sentence(f"{TEXT} {TEXT}"), sentence("the rain")
    both = _vectors(reader, long, short)
    alone = _vectors(reader, short)
    assert both.shape == (2, 2, 6, reader.width)
    assert torch.allclose(both[1, :, :2], alone[0], atol=1e-5)
    assert not torch.allclose(alone[0, 0], alone[0, 1], atol=1e-3)


def test_question_stands_in_front_of_every_window(request: pytest.FixtureRequest) -> None:
    reader = _reader(request, "bert", questions=("rain ?",))
    long = sentence(" ".join(["bergen"] * 40))
    (pieces,) = reader.tokenise([long])[0]
    assert len(pieces.windows) > 1
    assert all(len(window) <= reader.transformer.window for window in pieces.windows)
    fronts = {tuple(window[:4].tolist()) for window in pieces.windows}
    assert len(fronts) == 1
    assert sorted(pieces.words.tolist()) == list(range(40))
    assert _vectors(reader, long).abs().sum(-1).gt(0).all()


@pytest.mark.parametrize("name", ["bert", "roberta", "t5"])
def test_reader_is_loaded_as_it_was_saved(
    request: pytest.FixtureRequest, name: str, tmp_path: Path
) -> None:
    reader = _reader(request, name)
    again = load_encoder(reader.save(tmp_path), tmp_path).eval()
    again.load_state_dict(reader.state_dict())
    assert again.questions == QUESTIONS
    told = sentence(TEXT)
    assert torch.equal(_vectors(again, told), _vectors(reader, told))


def test_question_that_leaves_no_room_is_refused(request: pytest.FixtureRequest) -> None:
    with pytest.raises(UsageError, match="of the 40 pieces that the encoder reads at once"):
        _reader(request, "bert", questions=("harbour " * 30,))
    with pytest.raises(UsageError, match="has no words"):
        _reader(request, "bert", questions=(" ",))


def test_encoder_that_reads_no_pieces_is_refused() -> None:
    other: Any = HashedWords()
    with pytest.raises(UsageError, match="by a transformer only"):
        QuestionReader(other, QUESTIONS)
