"""What every encoder with a lexicon must do: shapes, padding, gradients, saving, English."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from lacuner import Sentence
from lacuner.encoders import build_encoder, load_encoder
from lacuner.encoders.lexicon_vectors import LexiconVectors
from lacuner.errors import DataError, UsageError
from tests.lexicons import ENGLISH_WORDS, chinese, english, write_lexicon

NAMES = ("lexicon_bert", "word_fusion", "flat_lattice")


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def lexicon(tmp_path: Path) -> Path:
    return write_lexicon(tmp_path / "words.txt")


def _build(name: str, lexicon: Path, bert: Path, sentences: list[Sentence], **more: Any) -> Any:
    torch.manual_seed(3)
    arguments: dict[str, Any] = {"lexicon": str(lexicon), **more}
    if name != "flat_lattice":
        arguments["transformer"] = str(bert)
    return build_encoder(name, sentences, **arguments)


def _lexicon(encoder: Any) -> LexiconVectors:
    found: LexiconVectors = (
        encoder.reader.lexicon if hasattr(encoder, "reader") else encoder.lexicon
    )
    return found


def _vectors(encoder: Any, sentences: list[Sentence]) -> Tensor:
    vectors: Tensor = encoder(encoder.collate(encoder.tokenise(sentences)))
    return vectors


@pytest.mark.parametrize("window", [None, 6])
def test_vectors_do_not_depend_on_the_other_sentences_of_a_batch(
    name: str, window: int | None, lexicon: Path, chinese_bert: Path
) -> None:
    encoder = _build(name, lexicon, chinese_bert, chinese(), window=window).eval()
    long = Sentence("long", tuple("北京大学南京市长江大桥在海淀上海大学" * 2))
    sentences = [*chinese(), long, Sentence("empty", ()), Sentence("unknown", tuple("龘x"))]
    with torch.no_grad():
        together = _vectors(encoder, sentences)
        assert together.shape == (len(sentences), len(long), encoder.width)
        for row, one in enumerate(sentences):
            alone = _vectors(encoder, [one])[0]
            torch.testing.assert_close(together[row, : len(one)], alone, atol=1e-5, rtol=1e-5)
            assert not together[row, len(one) :].any()


def test_batch_of_empty_sentences_is_empty(name: str, lexicon: Path, chinese_bert: Path) -> None:
    encoder = _build(name, lexicon, chinese_bert, chinese())
    empty = [Sentence("1", ()), Sentence("2", ())]
    assert _vectors(encoder, empty).shape == (2, 0, encoder.width)


def test_gradients_reach_the_vectors_of_words_that_are_there_and_no_others(
    name: str, lexicon: Path, chinese_bert: Path
) -> None:
    encoder = _build(name, lexicon, chinese_bert, chinese()).eval()
    vectors = _lexicon(encoder)
    sentences = [Sentence("1", tuple("他在北京大学读书")), Sentence("2", tuple("很长" * 5))]
    total: Any = _vectors(encoder, sentences).square().sum()
    total.backward()
    gradient = vectors.trained.weight.grad
    assert gradient is not None
    reached = {
        vectors.lexicon.words[int(vectors.seen[row - 1])]
        for row in gradient.abs().sum(1).nonzero()[:, 0].tolist()
    }
    assert reached == {"北京", "大学", "北京大学", "京大", "读书"}
    pretrained = {id(parameter) for parameter in encoder.pretrained_parameters()}
    assert id(vectors.trained.weight) in pretrained


def test_mixed_precision_reaches_every_parameter(
    name: str, lexicon: Path, chinese_bert: Path
) -> None:
    encoder = _build(name, lexicon, chinese_bert, chinese())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        total: Any = _vectors(encoder, chinese()).float().square().sum()
    total.backward()
    for parameter in encoder.parameters():
        assert not parameter.requires_grad or parameter.grad.isfinite().all()


def test_words_of_the_lexicon_change_what_is_seen(
    name: str, lexicon: Path, chinese_bert: Path
) -> None:
    encoder = _build(name, lexicon, chinese_bert, chinese()).eval()
    with torch.no_grad():
        before = _vectors(encoder, chinese())
        _lexicon(encoder).trained.weight[1:] = 0.5
        after = _vectors(encoder, chinese())
    assert (after - before)[0, :6].abs().sum(-1).all()
    # A sentence without a word of the lexicon is what it was.
    torch.testing.assert_close(after[4], before[4])


def test_words_unseen_in_training_come_from_disk(
    name: str, lexicon: Path, chinese_bert: Path
) -> None:
    encoder = _build(name, lexicon, chinese_bert, chinese()).eval()
    vectors = _lexicon(encoder)
    seen = {vectors.lexicon.words[int(number)] for number in vectors.seen}
    assert "上海大学" not in seen and "大学" in seen
    inputs = encoder.collate(encoder.tokenise([Sentence("1", tuple("在上海大学"))]))
    assert inputs["lexicon_vectors"].shape == (2, vectors.width)  # 上海, 上海大学
    with torch.no_grad():
        table = vectors(inputs)
        torch.testing.assert_close(
            table.norm(dim=1), torch.tensor([0.0, 1, 1, 1]), atol=2e-3, rtol=0
        )
        assert encoder(inputs).isfinite().all()
    encoder(inputs).sum().backward()


def test_saved_encoder_says_the_same_without_lexicon_and_cache(
    name: str, lexicon: Path, chinese_bert: Path, tmp_path: Path
) -> None:
    copied = tmp_path / "bert"
    shutil.copytree(chinese_bert, copied)
    encoder = _build(name, lexicon, copied, chinese()).eval()
    sentences = [*chinese(), Sentence("new", tuple("在上海大学"))]
    with torch.no_grad():
        expected = _vectors(encoder, sentences)
    folder = tmp_path / "run"
    folder.mkdir()
    description = encoder.save(folder)
    shutil.rmtree(copied)
    shutil.rmtree(_lexicon(encoder).lexicon.folder)
    lexicon.unlink()
    again = load_encoder(description, folder).eval()
    again.load_state_dict(encoder.state_dict())
    assert again.width == encoder.width
    with torch.no_grad():
        assert torch.equal(_vectors(again, sentences), expected)


def test_damaged_run_is_refused(
    name: str, lexicon: Path, chinese_bert: Path, tmp_path: Path
) -> None:
    encoder = _build(name, lexicon, chinese_bert, chinese())
    (tmp_path / "run").mkdir()
    description = encoder.save(tmp_path / "run")
    (tmp_path / "run" / "seen.npy").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"seen.npy: these are no words of its lexicon"):
        load_encoder(description, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "lexicon")
    with pytest.raises(DataError, match="it holds no whole set of arrays"):
        load_encoder(description, tmp_path / "run")


def test_english_names_of_several_words_are_seen(name: str, tmp_path: Path, bert: Path) -> None:
    path = write_lexicon(tmp_path / "names.txt", ENGLISH_WORDS)
    encoder = _build(name, path, bert, english()).eval()
    vectors = _lexicon(encoder)
    assert vectors.lexicon.units == "words"
    inputs = encoder.collate(encoder.tokenise(english()))
    numbers = inputs[{"lexicon_bert": "piece_slots", "word_fusion": "word_slots",
                      "flat_lattice": "numbers"}[name]]  # fmt: skip
    assert int(numbers.max()) == len(vectors.seen) == 5
    encoder(inputs).square().sum().backward()
    gradient = vectors.trained.weight.grad
    assert gradient is not None and gradient[1:].abs().sum(1).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lexicon": None}, "needs a lexicon, a file of word vectors: .* docs/lexicons.md"),
        ({"case": "smart"}, "The case of a lexicon is ignore or exact, not 'smart'"),
        ({"lexicn": "a"}, "'lexicn'. Did you mean lexicon"),
        ({"words": 0}, "0"),
    ],
)
def test_argument_that_does_not_fit_is_refused(
    name: str, arguments: dict[str, Any], message: str, lexicon: Path, chinese_bert: Path
) -> None:
    given = {"lexicon": str(lexicon), **arguments}
    if name != "flat_lattice":
        given["transformer"] = str(chinese_bert)
    with pytest.raises(UsageError, match=message):
        build_encoder(name, chinese(), **given)


@pytest.mark.parametrize("hidden", [0, -3])
def test_fusion_without_width_is_one_sentence(
    hidden: int, lexicon: Path, chinese_bert: Path
) -> None:
    with pytest.raises(UsageError, match=f"'hidden' of word_fusion is 1 or more, not {hidden}"):
        _build("word_fusion", lexicon, chinese_bert, chinese(), hidden=hidden)


def test_lexicon_is_nothing_that_other_encoders_know() -> None:
    with pytest.raises(UsageError, match="'lexicon' is nothing that the encoder 'bilstm' knows"):
        build_encoder("bilstm", chinese(), lexicon="words.txt")


def test_dropout_out_of_range_is_one_sentence(name: str, lexicon: Path, chinese_bert: Path) -> None:
    with pytest.raises(UsageError, match=r"dropout of the encoder .* is 1.5, but must be at least"):
        _build(name, lexicon, chinese_bert, chinese(), dropout=1.5)


def test_lexicon_of_another_language_is_noticed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = write_lexicon(tmp_path / "words.txt", ("完全", "不同"))
    with caplog.at_level("WARNING", logger="lacuner"):
        build_encoder("flat_lattice", chinese(), lexicon=str(other))
    assert "No word of the lexicon" in caplog.text
