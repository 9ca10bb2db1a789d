"""Augmentation keeps what is known, and takes only guesses that look alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from lacuner import Ambiguity, Corpus, Entity, Sentence
from lacuner.augmentation import Augmenter
from lacuner.augmentation.augmenter import with_words
from lacuner.augmentation.capitals import write_capitals
from lacuner.encoders.language_model import MaskedLanguageModel
from lacuner.encoders.transformer import TransformerEncoder
from lacuner.errors import UsageError
from tests.language_models import (
    TEXT,
    byte_pairs,
    word_piece,
    write_bert,
    write_decided,
    write_roberta,
)
from tests.strategies import sentences

hf: Any = transformers
AutoTokenizer: Any = hf.AutoTokenizer


@pytest.fixture(scope="module", params=[write_bert, write_roberta], ids=["BERT", "RoBERTa"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = request.param(tmp_path_factory.mktemp("models") / "model")
    return made


@pytest.fixture(scope="module")
def augmenter(folder: Path) -> Augmenter:
    """Random weights; half of the words are masked."""
    return Augmenter(folder, rate=0.5)


def _text() -> list[Sentence]:
    return [Sentence(str(n), tuple(line.split())) for n, line in enumerate(TEXT)]


def _words(augmented: list[Sentence]) -> list[tuple[str, ...]]:
    return [sentence.tokens for sentence in augmented]


def _spaces(word: str) -> list[str]:
    """Its white space: what wild words had before they keep, what files would cut is not added."""
    return [char for char in word if char.isspace()]


@given(given_=st.lists(sentences(), max_size=3), seed=st.integers())
@settings(max_examples=60, deadline=None)
def test_augmenter_never_changes_number_of_words_or_labels(
    augmenter: Augmenter, given_: list[Sentence], seed: int
) -> None:
    augmented = augmenter.augment(given_, seed)
    assert len(augmented) == len(given_)
    for before, after in zip(given_, augmented, strict=True):
        assert len(after) == len(before)
        for kept in ("id", "entities", "rejected", "outside", "ambiguous", "complete", "document"):
            assert getattr(after, kept) == getattr(before, kept)
        if after.text is not None and after.offsets is not None:
            assert tuple(after.text[a:b] for a, b in after.offsets) == after.tokens
        for old, new in zip(before.tokens, after.tokens, strict=True):
            assert new
            assert _spaces(new) == _spaces(old)


def test_augmenter_is_decided_by_its_seed(augmenter: Augmenter) -> None:
    first = _words(augmenter.augment(_text(), 1))
    assert first == _words(augmenter.augment(_text(), 1))
    others = [_words(augmenter.augment(_text(), seed)) for seed in range(2, 12)]
    assert any(words != first for words in others)


def test_augmenter_looks_at_no_other_sentence_of_the_batch(augmenter: Augmenter) -> None:
    longer = Sentence("long", ("ferry", "from", "Oslo") * 15)
    together = augmenter.augment([longer, *_text(), longer], 3)
    alone = [augmenter.augment([sentence], 3)[0] for sentence in [longer, *_text()]]
    assert together[:-1] == alone
    assert together[-1] == together[0]


def test_augmenter_changes_something(augmenter: Augmenter) -> None:
    many = [replace(sentence, id=f"{n}/{sentence.id}") for n in range(10) for sentence in _text()]
    changed = sum(
        old != new
        for before, after in zip(many, augmenter.augment(many, 0), strict=True)
        for old, new in zip(before.tokens, after.tokens, strict=True)
    )
    assert changed > 0


def _decided(tmp_path: Path, chances: dict[str, float], **arguments: Any) -> Augmenter:
    tokeniser = arguments.pop("tokeniser", None)
    folder = write_decided(tmp_path / "decided", chances, tokeniser)
    return Augmenter(folder, rate=arguments.pop("rate", 1.0), **arguments)


def test_guess_is_taken_where_capitalisation_is_the_same(tmp_path: Path) -> None:
    augmenter = _decided(tmp_path, {"Oslo": 1.0}, top=1)
    given_ = Sentence("1", ("The", "tram", "to", "Ghent", "in", "1996", ".", "NATO", "A"))
    (after,) = augmenter.augment([given_], 0)
    assert after.tokens == ("Oslo", "tram", "to", "Oslo", "in", "1996", ".", "NATO", "A")


@pytest.mark.parametrize(
    ("capitals", "expected"),
    [
        ([], ("The", "oslo", "TO", "Ghent", "1996", ".")),
        (["oslo"], ("Oslo", "tram", "OSLO", "Oslo", "1996", ".")),
    ],
)
def test_uncased_model_is_given_the_case_of_words_that_have_it(
    tmp_path: Path, capitals: list[str], expected: tuple[str, ...]
) -> None:
    folder = write_decided(tmp_path / "decided", {"oslo": 1.0}, word_piece(lower=True))
    write_capitals(capitals, folder)
    given_ = Sentence("1", ("The", "tram", "TO", "Ghent", "1996", "."))
    (after,) = Augmenter(folder, rate=1.0, top=1).augment([given_], 0)
    assert after.tokens == expected


def test_uncased_model_replaces_pieces_of_rare_names(tmp_path: Path) -> None:
    tokeniser = _tokeniser(["svet", "##lana", "##mir"], lower=True)
    augmenter = _decided(tmp_path, {"##mir": 1.0}, top=1, tokeniser=tokeniser)
    drawn = {
        augmenter.augment([Sentence(str(number), ("Svetlana",))], 0)[0].tokens[0]
        for number in range(20)
    }
    assert drawn == {"Svetlana", "Svetmir"}


def test_guess_of_other_word_piece_status_is_not_taken(tmp_path: Path) -> None:
    pieces = ["rain", "snow", "##fall", "##y"]
    tokeniser = _tokeniser(pieces)
    augmenter = _decided(tmp_path, {"##y": 1.0}, top=1, tokeniser=tokeniser)
    words = ("rain", "snow", "rainfall", "snowfall")
    drawn = Counter(
        word
        for number in range(20)
        for word in augmenter.augment([Sentence(str(number), words)], number)[0].tokens
    )
    # The first piece stays whatever is drawn; the second one may become the guess.
    assert set(drawn) == {"rain", "snow", "rainfall", "rainy", "snowfall", "snowy"}


def test_punctuation_within_words_stays(tmp_path: Path) -> None:
    tokeniser = _tokeniser(["S", ".", ",", "T"])
    augmenter = _decided(tmp_path, {",": 1.0}, top=1, tokeniser=tokeniser)
    given_ = [Sentence(str(number), ("S.", ".")) for number in range(10)]
    assert {after.tokens for after in augmenter.augment(given_, 0)} == {("S.", ",")}


def _tokeniser(pieces: list[str], *, lower: bool = False) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {piece: number for number, piece in enumerate([*names, *pieces])}
    tokeniser: Any = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokeniser.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokeniser.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokeniser.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokeniser, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("guess", "expected"),
    [("京", ("京", "京", "2", "A", "京")), ("北京", ("東", "北", "2", "A", "北"))],
)
def test_chinese_characters_stay_characters(
    tmp_path: Path, guess: str, expected: tuple[str, ...]
) -> None:
    tokeniser = _tokeniser(["東", "北", "京", "北京", "2", "2012", "A"])
    augmenter = _decided(tmp_path, {guess: 1.0}, top=1, tokeniser=tokeniser)
    given_ = Sentence("1", ("東", "北", "2", "A", "北"))
    assert augmenter.augment([given_], 0)[0].tokens == expected


def test_digits_among_characters_stay_single(tmp_path: Path) -> None:
    tokeniser = _tokeniser(["東", "2", "2012"])
    augmenter = _decided(tmp_path, {"2012": 1.0}, top=1, tokeniser=tokeniser)
    characters, words = Sentence("1", ("東", "2")), Sentence("2", ("東京", "2"))
    assert augmenter.augment([characters], 0)[0].tokens == ("東", "2")
    assert augmenter.augment([words], 0)[0].tokens == ("東京", "2012")


def test_special_and_unknown_pieces_are_never_words(tmp_path: Path) -> None:
    augmenter = _decided(tmp_path, {"[UNK]": 0.5, "[SEP]": 0.5}, top=2)
    given_ = Sentence("1", ("The", "tram", "ß∂ƒ"))
    assert augmenter.augment([given_], 0)[0] == given_


@pytest.mark.parametrize("guess", ["##a b", "##a\u3000b", "a b", "a\tb", "a\u3000b", "a\xa0b"])
def test_guess_that_is_no_single_word_is_not_taken(tmp_path: Path, guess: str) -> None:
    tokeniser = _tokeniser(["rain", "##fall", guess])
    augmenter = _decided(tmp_path, {guess: 1.0}, top=1, tokeniser=tokeniser)
    words = ("rain", "rainfall", "rainfall")
    for number in range(5):
        (after,) = augmenter.augment([Sentence(str(number), words)], number)
        assert after.tokens == words


@pytest.mark.parametrize("guess", ["Ġ", "ĠĠ"])
def test_guess_of_mere_white_space_is_not_taken(tmp_path: Path, guess: str) -> None:
    tokeniser = byte_pairs([*TEXT, "a  b   c", "a    b"])
    folder = write_decided(tmp_path / "decided", {guess: 1.0}, tokeniser)
    augmenter = Augmenter(folder, rate=1.0, top=1)
    words = ("tram", ".", "!", "Oslo")
    (after,) = augmenter.augment([Sentence("1", words)], 0)
    assert after.tokens == words


def test_guesses_are_drawn_among_the_first_by_their_probability(tmp_path: Path) -> None:
    chances = {"tram": 0.4, "ferry": 0.2, "rain": 0.1, "late": 0.08, "early": 0.02, "snow": 0.019}
    augmenter = _decided(tmp_path, chances, top=5)
    given_ = [Sentence(str(number), ("harbour",) * 20) for number in range(200)]
    drawn = Counter(word for after in augmenter.augment(given_, 7) for word in after.tokens)
    assert drawn["snow"] == 0
    for word, chance in list(chances.items())[:5]:
        share = chance / 0.8  # renormalised over the first five
        deviation = (share * (1 - share) / 4000) ** 0.5
        assert abs(drawn[word] / 4000 - share) < 4 * deviation


def test_share_of_masked_words_is_the_rate(tmp_path: Path) -> None:
    augmenter = _decided(tmp_path, {"tram": 1.0}, top=1, rate=0.15)
    given_ = [Sentence(str(number), ("harbour",) * 7) for number in range(400)]
    changed = [after.tokens.count("tram") for after in augmenter.augment(given_, 0)]
    assert set(changed) == {1, 2}  # 1.05 words of 7 on average: one nearly always
    assert abs(sum(changed) / 2800 - 0.15) < 0.01


def test_rate_of_none_changes_nothing(folder: Path) -> None:
    assert Augmenter(folder, rate=0.0).augment(_text(), 1) == _text()


def test_sentence_longer_than_the_window_is_augmented_to_its_end(tmp_path: Path) -> None:
    augmenter = _decided(tmp_path, {"tram": 1.0}, top=1)
    given_ = Sentence("1", ("harbour",) * 300)  # the model sees 64 pieces
    assert augmenter.augment([given_], 0)[0].tokens == ("tram",) * 300


def test_windows_see_every_gap_as_a_gap(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    augmenter = Augmenter(folder, rate=0.5)
    seen: list[Any] = []
    forward = MaskedLanguageModel.forward

    def spy(model: MaskedLanguageModel, inputs: Any) -> Any:
        seen.append(inputs)
        return forward(model, inputs)

    monkeypatch.setattr(MaskedLanguageModel, "forward", spy)
    augmenter.augment([Sentence("1", ("harbour",) * 300)], 0)
    tokeniser = AutoTokenizer.from_pretrained(folder)
    rows = [row for inputs in seen for row in inputs["pieces"]]
    masked = sum(int((row == tokeniser.mask_token_id).sum()) for row in rows)
    asked = sum(len(inputs["places"]) for inputs in seen)
    assert asked == 150 < masked  # those in overlaps are masked in both windows
    assert max(map(len, rows)) <= 64


def test_augmented_words_suit_an_encoder_with_another_tokeniser(tmp_path: Path) -> None:
    augmented = Augmenter(write_roberta(tmp_path / "roberta"), rate=0.5).augment(_text(), 1)
    encoder = TransformerEncoder.from_pretrained(str(write_bert(tmp_path / "bert")))
    vectors = encoder(encoder.collate(encoder.tokenise(augmented)))
    assert vectors.shape[:2] == (len(TEXT), max(map(len, augmented)))


def test_labels_stay_where_they_are(tmp_path: Path) -> None:
    augmenter = _decided(tmp_path, {"Oslo": 1.0}, top=1)
    given_ = Sentence(
        "1", ("Ghent", "to", "Lisbon", "in", "May"), (Entity(0, 1, "LOC", "places", 0.5),),
        rejected=((4, 5),), outside=((3, 4),), ambiguous=(Ambiguity(2, 3),),
    )  # fmt: skip
    (after,) = augmenter.augment([given_], 0)
    assert after == replace(given_, tokens=("Oslo", "to", "Oslo", "in", "Oslo"))
    assert augmenter.augment(Corpus((given_,)), 0) == [after]


def test_with_words_rewrites_the_text() -> None:
    before = Sentence("1", ("Ghent", "won"), text=" Ghent  won.", offsets=((1, 6), (8, 11)))
    after = with_words(before, ("Oslo", "lost"))
    assert after.text == " Oslo  lost."
    assert after.offsets == ((1, 5), (7, 11))
    assert with_words(before, before.tokens) is before


def test_model_without_a_head_is_one_clear_sentence(tmp_path: Path) -> None:
    headless = write_bert(tmp_path / "headless", head=False)
    with pytest.raises(UsageError, match=r"no head .* 'lacuner adapt TEXT --encoder .*headless"):
        Augmenter(headless)


@pytest.mark.parametrize(
    ("name", "message"), [("./nowhere", "no folder"), ("bilstm", "no transformer")]
)
def test_model_that_is_not_there_is_one_clear_sentence(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Augmenter(name)


def test_arguments_that_do_not_fit_are_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        Augmenter(folder, rate=1.5)
    with pytest.raises(UsageError, match="at least one guess"):
        Augmenter(folder, top=0)
