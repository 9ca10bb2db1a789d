"""The BiLSTM encoder: vocabularies, vectors, padding, learning, saving."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from lacuner import Corpus, Sentence
from lacuner.encoders import build_encoder, load_encoder
from lacuner.encoders.bilstm import BiLSTMEncoder
from lacuner.encoders.static_vectors import look_up
from lacuner.encoders.vocabulary import RESERVED, UNKNOWN, Vocabulary, forms
from lacuner.errors import DataError, UsageError
from tests.encoders.conftest import sentence


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 0 0\nbergen 0 1 0\nNorway 0 0 1\noslo 1 1 0\n0000 1 1 1\n")
    return path


def _vectors(encoder: BiLSTMEncoder, *sentences: Sentence) -> Tensor:
    with torch.no_grad():
        hidden: Tensor = encoder(encoder.collate(encoder.tokenise(sentences)))
    return hidden


@pytest.mark.parametrize("arguments", [{}, {"filters": 0}, {"layers": 2}])
def test_vectors_do_not_depend_on_the_other_sentences_of_a_batch(
    small_corpus: Corpus, arguments: dict[str, Any]
) -> None:
    encoder = build_encoder("bilstm", small_corpus.sentences, **arguments).eval()
    sentences = [*small_corpus, Sentence("e", ()), sentence("w" * 90)]
    together = _vectors(encoder, *sentences)
    assert together.shape == (22, max(map(len, sentences)), encoder.width)
    for row, one in enumerate(sentences):
        alone = _vectors(encoder, one)[0]
        torch.testing.assert_close(together[row, : len(one)], alone, atol=1e-5, rtol=1e-5)
        assert not together[row, len(one) :].any()


def test_batch_of_empty_sentences_is_empty(small_corpus: Corpus) -> None:
    encoder = build_encoder("bilstm", small_corpus.sentences)
    assert _vectors(encoder, Sentence("1", ()), Sentence("2", ())).shape == (2, 0, encoder.width)


def test_words_find_their_vectors(vectors: Path) -> None:
    corpus = [sentence("The Bergen train 1996 the train Unseen")]
    encoder = BiLSTMEncoder.build(corpus, vectors=vectors)
    numbers = {w: encoder.vocabulary.number_of_word(w) for w in ("The", "Bergen", "1996", "OSLO")}
    assert [encoder.vocabulary.entries[n - RESERVED] for n in numbers.values()] == [
        "the", "bergen", "0000", "oslo"
    ]  # fmt: skip
    words = encoder.collate(encoder.tokenise([sentence("The Bergen 1996 Oslo Norway absent")]))
    found = look_up(words["words"], encoder.trained, encoder.kept)[0]
    expected = [[1, 0, 0], [0, 1, 0], [1, 1, 1], [1, 1, 0], [0, 0, 1]]
    torch.testing.assert_close(found[:5], torch.tensor(expected, dtype=torch.float32))
    torch.testing.assert_close(found[5], encoder.trained.weight[UNKNOWN])


def test_vectors_of_words_outside_the_corpus_stay_as_they_are(vectors: Path) -> None:
    corpus = [sentence("the Bergen train train")]
    encoder = BiLSTMEncoder.build(corpus, vectors=vectors)
    trained = encoder.vocabulary.entries[: encoder.trained.num_embeddings - RESERVED]
    assert sorted(trained) == ["bergen", "the", "train"]
    assert not encoder.kept.weight.requires_grad
    assert encoder.pretrained_parameters() == [encoder.trained.weight]


def test_frozen_vectors_leave_only_learned_words_to_be_trained(vectors: Path) -> None:
    corpus = [sentence("the Bergen train train")]
    encoder = BiLSTMEncoder.build(corpus, vectors=vectors, freeze="embeddings")
    trained = encoder.vocabulary.entries[: encoder.trained.num_embeddings - RESERVED]
    assert trained == ["train"]
    assert encoder.pretrained_parameters() == []


def test_most_frequent_limits_what_is_kept(vectors: Path) -> None:
    encoder = BiLSTMEncoder.build([sentence("Norway")], vectors=vectors, most_frequent=1)
    assert sorted(encoder.vocabulary.entries) == ["Norway", "the"]


def test_learned_vocabulary_leaves_single_words_to_the_unknown() -> None:
    corpus = [sentence("The the rain once 1996 1997 Boeing-747 Boeing-737")]
    encoder = BiLSTMEncoder.build(corpus)
    assert encoder.vocabulary.entries == ["0000", "boeing-000", "the"]
    assert encoder.vocabulary.number_of_word("once") == UNKNOWN


def test_unknown_word_is_learned() -> None:
    torch.manual_seed(0)
    corpus = [sentence("the the once"), sentence("the twice the")]
    encoder = BiLSTMEncoder.build(corpus, filters=0, dropout=0.0, hidden=8)
    head = torch.nn.Linear(encoder.width, 2)
    before = encoder.trained.weight[UNKNOWN].clone()
    optimiser = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=0.05)
    inputs = encoder.collate(encoder.tokenise(corpus))
    labels = torch.tensor([[0, 0, 1], [0, 1, 0]])
    for _ in range(50):
        loss = torch.nn.functional.cross_entropy(head(encoder(inputs)).transpose(1, 2), labels)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert loss.item() < 0.1
    assert not torch.equal(encoder.trained.weight[UNKNOWN], before)
    assert not encoder.trained.weight[0].any()
    said = head(_vectors(encoder, sentence("the new the"))).argmax(-1)
    assert said.tolist() == [[0, 1, 0]]


def test_spelling_tells_unknown_words_apart(small_corpus: Corpus) -> None:
    encoder = BiLSTMEncoder.build(small_corpus.sentences).eval()
    new = _vectors(encoder, sentence("Bergenhus"), sentence("bergenhus"))
    assert not torch.allclose(new[0], new[1])


def test_words_that_are_characters_have_no_spelling() -> None:
    chinese = [Sentence("1", tuple("我在北京工作在北京"))]
    assert BiLSTMEncoder.build(chinese).spelling is None
    assert BiLSTMEncoder.build(chinese, filters=10).spelling is not None
    assert BiLSTMEncoder.build([sentence("rain in Bergen")]).spelling is not None


@pytest.mark.parametrize("arguments", [{}, {"filters": 0, "layers": 2}, {"freeze": "embeddings"}])
def test_saved_encoder_is_rebuilt_without_its_vectors(
    tmp_path: Path, small_corpus: Corpus, vectors: Path, arguments: dict[str, Any]
) -> None:
    encoder = build_encoder("bilstm", small_corpus.sentences, vectors=str(vectors), **arguments)
    (tmp_path / "run").mkdir()
    description = json.loads(json.dumps(encoder.save(tmp_path / "run")))
    vectors.unlink()
    again = load_encoder(description, tmp_path / "run").eval()
    again.load_state_dict(encoder.state_dict())
    sentences = [*small_corpus, sentence("Oslo , Norway 2026 ☃")]
    assert torch.equal(_vectors(again, *sentences), _vectors(encoder.eval(), *sentences))


def test_damaged_vocabulary_is_refused_with_its_line(tmp_path: Path, small_corpus: Corpus) -> None:
    description = BiLSTMEncoder.build(small_corpus.sentences).save(tmp_path)
    (tmp_path / "words.jsonl").write_text('"the"\n5\n')
    with pytest.raises(DataError, match=r"words.jsonl, line 2: this is no word"):
        load_encoder(description, tmp_path)


@pytest.mark.parametrize("freeze", ["all", 3])
def test_other_parts_cannot_be_frozen(freeze: str | int) -> None:
    with pytest.raises(UsageError, match="Right are none and embeddings"):
        BiLSTMEncoder.build([sentence("a")], freeze=freeze)


def test_vocabulary_keeps_odd_words(tmp_path: Path) -> None:
    odd = ["a b", "\n", "\u2028", "\ud800", '"', "北"]
    Vocabulary(odd).save(tmp_path / "words.jsonl")
    assert Vocabulary.load(tmp_path / "words.jsonl").entries == odd


def test_forms_of_a_word_go_from_exact_to_plain() -> None:
    assert list(forms("Boeing-747")) == ["Boeing-747", "boeing-747", "Boeing-000", "boeing-000"]
    assert list(forms("rain")) == ["rain"]
    assert list(forms("000")) == ["000"]
