"""The transformer encoder: pooling, windows, padding, freezing, saving."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from lacuner import Corpus, Sentence
from lacuner.encoders import load_encoder
from lacuner.encoders.transformer import TransformerEncoder
from lacuner.encoders.word_shape import SHAPES
from lacuner.errors import UsageError
from tests.encoders.conftest import sentence

MODELS = ("bert", "uncased_bert", "roberta", "t5")
TEXT = "the bergen ferry met Rain in the harbour"
LONG = " ".join(f"{TEXT} w{number}" for number in range(12))


def _encoder(request: pytest.FixtureRequest, name: str, **arguments: Any) -> TransformerEncoder:
    folder: Path = request.getfixturevalue(name)
    return TransformerEncoder.from_pretrained(str(folder), **arguments).eval()


def _vectors(encoder: TransformerEncoder, *sentences: Sentence) -> Tensor:
    with torch.no_grad():
        vectors: Tensor = encoder(encoder.collate(encoder.tokenise(sentences)))
    return vectors


@pytest.mark.parametrize("name", MODELS)
def test_every_word_has_a_vector_and_padding_has_none(
    request: pytest.FixtureRequest, name: str
) -> None:
    encoder = _encoder(request, name)
    vectors = _vectors(encoder, sentence("the rain"), sentence(TEXT), Sentence("3", ()))
    assert vectors.shape == (3, 8, encoder.width)
    assert vectors[1].abs().sum(-1).gt(0).all()
    assert vectors[0, :2].abs().sum(-1).gt(0).all()
    assert not vectors[0, 2:].any()
    assert not vectors[2].any()


@pytest.mark.parametrize("pooling", ["first", "last", "mean"])
@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_pooling_is_that_of_a_hand_computation(
    request: pytest.FixtureRequest, name: str, pooling: str
) -> None:
    encoder = _encoder(request, name, pooling=pooling, shape="off")
    words = ["the", "bergen", "rain"]
    by_word = [pieces.tolist() for pieces in encoder.subwords.pieces(words)]
    assert len(by_word[1]) > 1
    pieces = [*encoder.subwords.before, *chain.from_iterable(by_word), *encoder.subwords.after]
    with torch.no_grad():
        hidden = encoder.model(input_ids=torch.tensor([pieces])).last_hidden_state[0]
    place, expected = 1, []
    for numbers in by_word:
        own = hidden[place : place + len(numbers)]
        expected.append({"first": own[0], "last": own[-1], "mean": own.mean(0)}[pooling])
        place += len(numbers)
    vectors = _vectors(encoder, Sentence("1", tuple(words)), sentence(TEXT))[0, :3]
    torch.testing.assert_close(vectors, torch.stack(expected), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("pooling", ["first", "mean"])
@pytest.mark.parametrize("name", MODELS)
def test_vectors_do_not_depend_on_the_other_sentences_of_a_batch(
    request: pytest.FixtureRequest, name: str, pooling: str
) -> None:
    encoder = _encoder(request, name, pooling=pooling)
    short = sentence("the bergen rain")
    alone = _vectors(encoder, short)[0]
    padded = _vectors(encoder, sentence(LONG), short, sentence(TEXT))[1, :3]
    torch.testing.assert_close(padded, alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("pooling", ["first", "last", "mean"])
@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_long_sentence_is_read_to_its_end(
    request: pytest.FixtureRequest, name: str, pooling: str
) -> None:
    encoder = _encoder(request, name, pooling=pooling)
    (item,) = encoder.tokenise([sentence(LONG)])
    assert len(item.windows) > 3
    assert max(map(len, item.windows)) <= encoder.window == 40
    assert sorted(set(item.words.tolist())) == list(range(len(LONG.split())))
    assert _vectors(encoder, sentence(LONG))[0].abs().sum(-1).gt(0).all()


def test_word_takes_its_vector_from_the_window_in_whose_middle_it_stands(bert: Path) -> None:
    small = TransformerEncoder.from_pretrained(str(bert), window=12, overlap=4, shape="off").eval()
    text = sentence(" ".join("abcdefghijklmnopqrstuvwxyz"))  # each word is one piece
    vectors = _vectors(small, text)[0]
    (item,) = small.tokenise([text])
    starts = [0, 6, 12, 16]  # windows of ten, six apart; the last ends where the sentence does
    assert [len(window) for window in item.windows] == [12] * 4
    for word in range(26):
        best = min(starts, key=lambda start: (abs(word + 0.5 - (start + 5)), start))
        alone = Sentence("1", text.tokens[best : best + 10])
        expected = _vectors(small, alone)[0, word - best]
        torch.testing.assert_close(vectors[word], expected, atol=1e-5, rtol=1e-5)


def test_sentence_a_little_longer_than_a_window_is_not_read_twice(bert: Path) -> None:
    encoder = TransformerEncoder.from_pretrained(str(bert), window=22, overlap=4)
    (item,) = encoder.tokenise([sentence("a " * 22)])
    assert [len(window) for window in item.windows] == [15, 15]  # 13 pieces, of which 4 are shared


def test_window_that_holds_all_changes_nothing(bert: Path) -> None:
    whole = TransformerEncoder.from_pretrained(str(bert)).eval()
    windowed = TransformerEncoder.from_pretrained(str(bert), window=20).eval()
    text = sentence("the rain a b c d e f")
    torch.testing.assert_close(_vectors(windowed, text), _vectors(whole, text))


def test_word_longer_than_a_window_has_a_vector_of_all_its_pieces(bert: Path) -> None:
    encoder = TransformerEncoder.from_pretrained(str(bert), pooling="mean", window=12).eval()
    text = sentence("the " + "x" * 50 + " rain")
    (item,) = encoder.tokenise([text])
    assert (item.words == 1).sum() == 50
    assert _vectors(encoder, text)[0].isfinite().all()


def test_limit_of_roberta_leaves_out_the_positions_of_padding(roberta: Path) -> None:
    encoder = TransformerEncoder.from_pretrained(str(roberta))
    assert encoder.window == 40
    full = sentence("a " * 19)  # two pieces each: the space is one of its own
    (item,) = encoder.tokenise([full])
    assert [len(window) for window in item.windows] == [40]
    assert _vectors(encoder.eval(), full).isfinite().all()


def test_odd_words_have_vectors(bert: Path) -> None:
    encoder = TransformerEncoder.from_pretrained(str(bert)).eval()
    vectors = _vectors(encoder, Sentence("1", ("the", " ", "\u200b", "\x00", "\ud800", "北")))
    assert vectors[0].abs().sum(-1).gt(0).all()


@pytest.mark.parametrize(
    ("name", "shape", "freeze", "expected"),
    [
        ("bert", "auto", "none", "off"),
        ("uncased_bert", "auto", "embeddings", "input"),
        ("uncased_bert", "auto", "all", "output"),
        ("uncased_bert", "auto", 1, "output"),
        ("uncased_bert", "off", "none", "off"),
        ("bert", "input", "none", "input"),
    ],
)
def test_shape_is_added_where_case_is_not_seen(
    request: pytest.FixtureRequest, name: str, shape: str, freeze: str | int, expected: str
) -> None:
    encoder = _encoder(request, name, shape=shape, freeze=freeze)
    assert encoder.shape == expected
    assert encoder.width == (32 if expected == "output" else 16)


def test_shape_at_the_output_tells_words_apart(uncased_bert: Path) -> None:
    encoder = TransformerEncoder.from_pretrained(str(uncased_bert), shape="output").eval()
    vectors = _vectors(encoder, sentence("Rain"), sentence("rain"))
    torch.testing.assert_close(vectors[0, 0, :16], vectors[1, 0, :16])
    assert encoder.shapes is not None
    weight = encoder.shapes.weight
    torch.testing.assert_close(vectors[0, 0, 16:], weight[SHAPES.index("title") + 1])
    torch.testing.assert_close(vectors[1, 0, 16:], weight[SHAPES.index("lower") + 1])


@pytest.mark.parametrize("name", MODELS)
def test_shape_at_the_input_begins_with_the_pretrained_vectors(
    request: pytest.FixtureRequest, name: str
) -> None:
    encoder = _encoder(request, name, shape="input")
    plain = _vectors(_encoder(request, name, shape="off"), sentence(LONG), sentence("the Rain"))
    shaped = _vectors(encoder, sentence(LONG), sentence("the Rain"))
    torch.testing.assert_close(shaped, plain, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_shape_at_the_input_reaches_the_words_and_no_padding(
    request: pytest.FixtureRequest, name: str
) -> None:
    encoder = _encoder(request, name, shape="input")
    assert encoder.shapes is not None
    torch.nn.init.normal_(encoder.shapes.weight[1:])
    short = sentence("the bergen 3.5 Rain")
    alone = _vectors(encoder, short)[0]
    padded = _vectors(encoder, sentence(LONG), short)[1, :4]
    torch.testing.assert_close(padded, alone, atol=1e-5, rtol=1e-5)
    inputs = encoder.collate(encoder.tokenise([short]))
    inputs["piece_shapes"] = torch.zeros_like(inputs["piece_shapes"])
    assert not torch.allclose(encoder(inputs)[0], alone)


def _with_gradient(encoder: TransformerEncoder) -> set[str]:
    encoder.train()
    vectors = encoder(encoder.collate(encoder.tokenise([sentence(TEXT)])))
    if vectors.requires_grad:
        vectors.square().sum().backward()
    return {name for name, p in encoder.model.named_parameters() if p.grad is not None}


def test_everything_is_trained_when_nothing_is_frozen(bert: Path) -> None:
    encoder = TransformerEncoder.from_pretrained(str(bert))
    everything = {name for name, _ in encoder.model.named_parameters()}
    assert _with_gradient(encoder) == everything
    assert len(encoder.pretrained_parameters()) == len(everything)


@pytest.mark.parametrize(
    ("freeze", "frozen"),
    [
        ("embeddings", ("embeddings.word_embeddings",)),
        (1, ("embeddings", "encoder.layer.0")),
        ("2", ("embeddings", "encoder.layer.0", "encoder.layer.1")),
        ("all", ("",)),
    ],
)
def test_frozen_parts_have_no_gradient(
    bert: Path, freeze: str | int, frozen: tuple[str, ...]
) -> None:
    encoder = TransformerEncoder.from_pretrained(str(bert), freeze=freeze)
    names = {name for name, _ in encoder.model.named_parameters()}
    trained = {name for name in names if not name.startswith(frozen)}
    assert _with_gradient(encoder) == trained
    assert len(encoder.pretrained_parameters()) == len(trained)


def test_frozen_encoder_leaves_no_graph_behind(bert: Path) -> None:
    encoder = TransformerEncoder.from_pretrained(str(bert), freeze="all")
    assert not encoder(encoder.collate(encoder.tokenise([sentence(TEXT)]))).requires_grad


@pytest.mark.parametrize("pooling", ["first", "mean"])
@pytest.mark.parametrize("name", MODELS)
def test_saved_encoder_is_rebuilt_without_its_folder(
    request: pytest.FixtureRequest, tmp_path: Path, small_corpus: Corpus, name: str, pooling: str
) -> None:
    encoder = _encoder(request, name, pooling=pooling, window=20, freeze="embeddings")
    description = json.loads(json.dumps(encoder.save(tmp_path)))
    again = load_encoder(description, tmp_path).eval()
    assert not list(tmp_path.glob("*.safetensors"))
    again.load_state_dict(encoder.state_dict())
    sentences = [*small_corpus, sentence(LONG)]
    assert torch.equal(_vectors(again, *sentences), _vectors(encoder, *sentences))
    assert len(again.pretrained_parameters()) == len(encoder.pretrained_parameters())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pooling": "frist"}, "There is no pooling 'frist'. Did you mean first?"),
        ({"shape": "on"}, "There is no choice of shape 'on'"),
        ({"window": 41}, "A window of 41 pieces is more than the 40 that it can see"),
        ({"window": 2}, "has no room"),
        ({"window": 10, "overlap": 8}, "An overlap of 8 does not fit"),
        ({"freeze": 4}, "The encoder has 3 layers; 4 cannot be frozen"),
        ({"freeze": -1}, "Nothing to freeze is called '-1'"),
        ({"freeze": "head"}, "Nothing to freeze is called 'head'"),
    ],
)
def test_argument_that_does_not_fit_is_refused(
    bert: Path, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        TransformerEncoder.from_pretrained(str(bert), **arguments)


def test_model_learns_through_the_encoder(uncased_bert: Path) -> None:
    torch.manual_seed(0)
    encoder = TransformerEncoder.from_pretrained(str(uncased_bert), freeze="embeddings")
    head = torch.nn.Linear(encoder.width, 2)
    text = sentence("the Rain met the rain in Bergen")
    labels = torch.tensor([0, 1, 0, 0, 0, 0, 1])
    inputs = encoder.collate(encoder.tokenise([text]))
    optimiser = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=0.01)
    losses = []
    for _ in range(60):
        loss = torch.nn.functional.cross_entropy(head(encoder(inputs))[0], labels)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 < losses[0]


@pytest.mark.parametrize("name", ["convbert", "funnel"])
def test_model_that_looks_at_padding_is_refused(request: pytest.FixtureRequest, name: str) -> None:
    with pytest.raises(UsageError, match="beside a longer one than alone"):
        _encoder(request, name)
