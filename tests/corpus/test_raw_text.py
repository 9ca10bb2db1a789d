"""Raw text to words and sentences: offsets are exact, nothing is lost, time stays linear."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lacuner.corpus.raw_text import _pre_tokenizer, sentences_of_text, split_sentences, split_words

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
PIECES = [
    *("Ada", "left", "Dr.", "J.", "e.g.", "3.5", "1,000", "don't", "é", "e\u0301", "?", "!", "."),
    *("...", '"', "”", "(", ")", "東京", "です。", "「は", "」", "है।", "؟", "👍🏽", "👨\u200d👩"),
    *("🇩🇪", "\n", "\r\n", "\u2028", "  ", " ", "\u200b", "\ufeff", "\x1c", "\x85", "\xa0"),
]
PROSE = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
TEXTS = ANY_TEXT | PROSE


def words(text: str) -> list[str]:
    return [word for word, _ in split_words(text)]


def sentences(text: str) -> list[str]:
    return [text[begin:end] for begin, end in split_sentences(text)]


@given(TEXTS)
@example("👨\u200d👩\u200d👧 ❤\ufe0f")
def test_words_stand_where_their_offsets_say(text: str) -> None:
    before = 0
    for word, (start, end) in split_words(text):
        assert before <= start < end
        assert text[start:end] == word
        before = end


@given(TEXTS)
def test_words_leave_out_nothing_that_is_seen(text: str) -> None:
    rest = list(text)
    for _, (start, end) in split_words(text):
        rest[start:end] = [""] * (end - start)
    assert not any(char.isalnum() for char in "".join(rest))
    assert not any(char.isprintable() and not char.isspace() for char in "".join(rest))


@given(st.text(st.characters(max_codepoint=127), max_size=80))
def test_ascii_words_are_those_of_the_pre_tokenizer(text: str) -> None:
    assert split_words(text) == _pre_tokenizer().pre_tokenize_str(text)


@given(TEXTS)
def test_sentences_tile_the_text(text: str) -> None:
    parts = sentences(text)
    assert "".join(parts) == (text if text.strip() else "")
    assert all(part.strip() for part in parts)


@given(TEXTS, st.booleans(), st.booleans())
def test_sentences_of_text_are_the_document_again(text: str, split: bool, wrapped: bool) -> None:
    found = list(sentences_of_text(text, "d", split=split, wrapped=wrapped))
    assert "".join(sentence.text or "" for sentence in found) == (text if words(text) else "")
    reach = 0
    for number, sentence in enumerate(found, start=1):
        assert sentence.id == f"d.{number}"
        assert sentence.text is not None and sentence.offsets is not None
        assert sentence.begin == reach
        assert sentence.tokens == tuple(sentence.text[a:b] for a, b in sentence.offsets)
        reach += len(sentence.text)


@given(TEXTS)
def test_cutting_into_sentences_keeps_the_words(text: str) -> None:
    found = sentences_of_text(text, "d")
    assert [token for sentence in found for token in sentence.tokens] == words(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Ng's 3.5 km", ["Dr", ".", "Ng", "'", "s", "3.5", "km"]),
        ("1,250.75 and 2024-05-01", ["1,250.75", "and", "2024", "-", "05", "-", "01"]),
        ("user@host.org", ["user", "@", "host", ".", "org"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("iPhone手机", ["iPhone", "手", "机"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("नमस्ते दुनिया।", ["नमस्ते", "दुनिया", "।"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("\u0645\u06cc\u200c\u062e\u0648", ["\u0645\u06cc\u200c\u062e\u0648"]),
        ("안녕하세요", ["안녕하세요"]),
        ("e\u0301tude", ["e\u0301tude"]),
        ("👨\u200d👩\u200d👧 👍🏽", ["👨\u200d👩\u200d👧", "👍🏽"]),
        ("🇩🇪🇫🇷 ❤\ufe0f", ["🇩🇪", "🇫🇷", "❤\ufe0f"]),
        ("a\u200bb\ufeff", ["a", "b"]),
        (" \t\n", []),
    ],
)  # fmt: skip
def test_words_of_many_scripts(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "parts",
    [
        ["Dr. Ng left. ", "He won! ", "Who? ", "Nobody..."],
        ["J. R. R. Tolkien wrote it. ", "It sold."],
        ["The U.S. Army came at 5 p.m. Monday. ", "It rained."],
        ["They sell ropes, e.g. thin ones. ", "They do."],
        ["It rose to 3.5 percent. ", "10 people noticed."],
        ['She said "Go." ', "Then he left."],
        ["“Why?” ", "She knew."],
        ["(He stayed.) ", "She left."],
        ["Wait... what?"],
        ["One line\n", "another line\r\n", "a third\u2029", "a fourth"],
        ["\n \nFirst\n\n", "second"],
        ["東京は広い。", "本当？", "「はい。」", "次！"],
        ["我来自北京。", "你呢？"],
        ["नमस्ते। ", "यह हिन्दी है।"],
        ["كيف حالك؟ ", "أنا بخير."],
        ["¿Qué? ", "¡Sí!"],
        ["No end mark here"],
    ],
)
def test_sentences_of_many_kinds(parts: list[str]) -> None:
    assert sentences("".join(parts)) == parts


def test_wrapped_lines_are_one_sentence() -> None:
    text = "A line that was\r\nbroken to fit. Next\u2028one."
    found = [s.text for s in sentences_of_text(text, "d", wrapped=True)]
    assert found == ["A line that was\r\nbroken to fit. ", "Next\u2028one."]


def test_text_without_words_has_no_sentence() -> None:
    assert list(sentences_of_text(" \u200b\n\ufeff", "d")) == []


def test_part_without_words_stays_with_its_neighbour() -> None:
    found = list(sentences_of_text("\u200b\nAda.\n\u200b\nBo.", "d"))
    assert [s.text for s in found] == ["\u200b\nAda.\n\u200b\n", "Bo."]
    assert [s.tokens for s in found] == [("Ada", "."), ("Bo", ".")]


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        "東",
        "a. B ",
        ".",
        "\n ",
        " \n",
        '."',
        '" ',
        "!( ",
        "1,1",
        "。”",
        "\u0301",
        "👍\u200d",
    ],
)
def test_time_grows_linearly(unit: str) -> None:
    def seconds(count: int) -> float:
        text = "a" + unit * count
        begin = time.process_time()
        split_sentences(text)
        split_words(text)
        return time.process_time() - begin

    seconds(1000)
    small, large = min(seconds(10_000) for _ in range(2)), seconds(200_000)
    # Twenty times as much; a square would take 400 times as long.
    assert large < 0.05 + 100 * small
