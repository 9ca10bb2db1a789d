"""Lexicons: what is found, what is kept, what is refused."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lacuner import Sentence
from lacuner.encoders import lexicon_compiling
from lacuner.encoders.lexicon import Found, Lexicon, word_slots
from lacuner.encoders.lexicon_compiling import open_lexicon
from lacuner.encoders.vector_files import VectorRow, vector_rows
from lacuner.encoders.word_vectors import read_word_vectors
from lacuner.errors import DataError, LacunerError, UsageError
from lacuner.matching.unit_rows import UnitRows
from tests.lexicons import CHINESE, CHINESE_WORDS, ENGLISH_WORDS, chinese, english, write_lexicon


@pytest.fixture
def lexicon(tmp_path: Path) -> Lexicon:
    return open_lexicon(write_lexicon(tmp_path / "words.txt"), units="characters")


def _spans(lexicon: Lexicon, found: Found) -> list[tuple[int, int, str]]:
    return [
        (int(start), int(end), lexicon.words[int(number)])
        for start, end, number in zip(*found, strict=True)
    ]


def test_words_of_characters_are_found_wherever_they_stand(lexicon: Lexicon) -> None:
    for sentence, found in zip(chinese(), lexicon.find(chinese()), strict=True):
        text = "".join(sentence.tokens)
        expected = [
            (start, end, text[start:end])
            for start in range(len(text))
            for end in range(len(text), start + 1, -1)  # a single character is no word here
            if text[start:end] in CHINESE_WORDS
        ]
        assert _spans(lexicon, found) == expected


@settings(max_examples=30, deadline=None)
@given(
    words=st.lists(st.text("abc", min_size=2, max_size=4), min_size=1, max_size=8, unique=True),
    texts=st.lists(st.text("abcd", max_size=12), max_size=5),
)
def test_finds_are_those_of_a_search_by_hand(
    words: list[str], texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write_lexicon(tmp_path_factory.mktemp("lexicon") / "w.txt", tuple(words))
    lexicon = open_lexicon(path, units="characters")
    sentences = [Sentence(str(n), tuple(text)) for n, text in enumerate(texts)]
    for text, found in zip(texts, lexicon.find(sentences), strict=True):
        assert sorted(_spans(lexicon, found)) == sorted(
            (start, start + len(word), word)
            for word in words
            for start in range(len(text))
            if text.startswith(word, start)
        )


def test_names_of_several_words_are_found_in_english(tmp_path: Path) -> None:
    path = write_lexicon(tmp_path / "names.txt", ENGLISH_WORDS)
    lexicon = open_lexicon(path, units="words")
    found = [_spans(lexicon, each) for each in lexicon.find(english())]
    assert found == [
        [(3, 6, "New York City"), (3, 5, "New_York"), (4, 5, "York")],
        [(1, 3, "New_York"), (2, 3, "York"), (3, 4, "ferry")],
        [(0, 1, "York"), (5, 6, "Orsa")],
    ]
    exact = open_lexicon(path, units="words", ignore_case=False)
    assert _spans(exact, exact.find(english())[2]) == [(5, 6, "Orsa")]


def test_vectors_are_those_of_the_file_with_length_one(lexicon: Lexicon, tmp_path: Path) -> None:
    read = read_word_vectors(tmp_path / "words.txt")
    rows = dict(zip(read.words, read.matrix, strict=True))
    assert len(lexicon) == len(CHINESE_WORDS) - 1
    for number in range(len(lexicon)):
        row = rows[lexicon.words[number]]
        assert np.allclose(lexicon.vectors[number], row / np.linalg.norm(row), atol=1e-3)
    assert isinstance(lexicon.vectors.base, np.memmap)


def test_first_of_words_that_are_the_same_counts(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("AB 1 0\nab 0 1\n\uff21\uff22 1 1\ncd 0 0\n", "utf-8")
    lexicon = open_lexicon(path, units="characters")
    found = lexicon.find([Sentence("1", tuple("aBcd"))])[0]
    assert _spans(lexicon, found) == [(0, 2, "AB"), (2, 4, "cd")]
    assert lexicon.vectors[found.number].tolist() == [[1, 0], [0, 0]]


def test_only_so_many_of_the_first_words_are_taken(tmp_path: Path) -> None:
    lexicon = open_lexicon(write_lexicon(tmp_path / "w"), units="characters", most_words=3)
    assert [lexicon.words[n] for n in range(len(lexicon))] == list(CHINESE_WORDS[:3])


def test_sentence_is_matched_once(lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lexicon.find(chinese())

    def refuse(*given: Any) -> Any:
        raise AssertionError("matched again")

    monkeypatch.setattr(lexicon._matcher, "find", refuse)
    again = lexicon.find([Sentence("other", tuple(text)) for text in reversed(CHINESE)])
    assert all(one is two for one, two in zip(first, reversed(again), strict=True))


def test_what_is_remembered_does_not_grow_for_ever(
    lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [_spans(lexicon, found) for found in lexicon.find(chinese())]
    monkeypatch.setattr("lacuner.encoders.lexicon._REMEMBERED_WORDS", 20)
    for _ in range(3):
        found = [_spans(lexicon, each) for s in chinese() for each in lexicon.find([s])]
        assert found == expected
        assert [_spans(lexicon, each) for each in lexicon.find(chinese())] == expected
    assert sum(map(len, lexicon._known)) <= 20


def test_second_start_comes_from_the_cache_and_damage_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_lexicon(tmp_path / "words.txt")
    first = open_lexicon(path, units="characters")
    compiled: list[Path] = []

    def watched(path: Path, **options: Any) -> Iterator[VectorRow]:
        compiled.append(path)
        return vector_rows(path, **options)

    monkeypatch.setattr(lexicon_compiling, "vector_rows", watched)
    open_lexicon(path, units="characters")
    assert not compiled
    vectors = first.folder / "vectors.npy"
    vectors.write_bytes(vectors.read_bytes()[:-2] + b"xx")
    again = open_lexicon(path, units="characters")
    assert compiled == [path]
    assert np.isfinite(again.vectors).all()
    write_lexicon(path, CHINESE_WORDS[:5])
    assert len(open_lexicon(path, units="characters")) == 5


def test_saved_lexicon_needs_neither_file_nor_cache(lexicon: Lexicon, tmp_path: Path) -> None:
    expected = [_spans(lexicon, found) for found in lexicon.find(chinese())]
    lexicon.save(tmp_path / "run" / "lexicon")
    shutil.rmtree(lexicon.folder)
    (tmp_path / "words.txt").unlink()
    again = Lexicon.load(tmp_path / "run" / "lexicon")
    assert [_spans(again, found) for found in again.find(chinese())] == expected
    assert np.array_equal(again.vectors, lexicon.vectors)
    (tmp_path / "run" / "lexicon" / "edges.npy").unlink()
    with pytest.raises(DataError, match=r"edges.npy: there is no such file"):
        Lexicon.load(tmp_path / "run" / "lexicon")
    with pytest.raises(DataError, match="absent: it holds no whole set of arrays"):
        Lexicon.load(tmp_path / "absent")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "北京 1 2\n大学 1\n",
            "line 2: the line is no word with its vector. Right is a word and 2",
        ),
        ("北京 1 2\n大学 1.5 0.5 2\n", "line 2: the vector is longer than the 2 numbers of those"),
        ("2 2\n北京 1 2\n大学 1.5 2 1\n", "line 3: the vector is longer than the 2 numbers"),
        ("北京 1 2\n大学 3 1 2\n", "line 2: the vector is longer than the 2 numbers"),
        ("2 2\n北京\t1\t2\n大学\t3\t1\t2\n", "line 3: the vector is longer than the 2 numbers"),
        ("北京 0.1 0.2\n大学 0.5 1 0.5 2\n", "line 2: the vector is longer than the 2 numbers"),
        ("北京 0.1 0.2\n大学 nan 0.5 2\n", "line 2: the vector is longer than the 2 numbers"),
        ("北 1 2\n京 2 1\n", "no word in it has 2 characters or more"),
        ("北京 1 nan\n", "line 1: the vector of '北京' is not finite"),
    ],
)
def test_bad_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "words.txt"
    path.write_text(content, "utf-8")
    with pytest.raises(DataError, match=message):
        open_lexicon(path, units="characters")


def test_number_in_a_name_of_several_words_is_none_of_a_vector(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("York 1 2\nApollo 11 3 4\n")
    lexicon = open_lexicon(path, units="words")
    assert [lexicon.words[n] for n in range(len(lexicon))] == ["York", "Apollo 11"]
    path.write_text("北京\t1\t2\n阿波罗 11\t3\t4\n", "utf-8")
    lexicon = open_lexicon(path, units="characters")
    assert [lexicon.words[n] for n in range(len(lexicon))] == ["北京", "阿波罗 11"]


def test_lexicon_that_does_not_fit_memory_is_refused_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_lexicon(tmp_path / "words.txt")
    monkeypatch.setattr(lexicon_compiling, "_LOOK", 5)
    monkeypatch.setattr(lexicon_compiling, "free_memory", lambda: 1500)
    with pytest.raises(DataError, match=r"its first 5 words alone .* most_words = \d+") as caught:
        open_lexicon(path, units="characters")
    most = int(str(caught.value).rstrip(".").rpartition(" ")[2])
    assert len(open_lexicon(path, units="characters", most_words=most)) == most > 0
    monkeypatch.setattr(lexicon_compiling, "free_memory", lambda: 150_000_000)
    monkeypatch.setattr(lexicon_compiling, "_BYTES_A_WORD", 40_000_000)
    with pytest.raises(DataError, match=r"need 200 MB of memory .* 150 MB are free"):
        open_lexicon(path, units="characters")
    monkeypatch.setattr(lexicon_compiling, "free_memory", lambda: 0)
    with pytest.raises(DataError, match=r"0 bytes are free\. Free some memory first"):
        open_lexicon(path, units="characters")
    monkeypatch.setattr(lexicon_compiling, "free_memory", lambda: None)
    assert len(open_lexicon(path, units="characters")) == len(CHINESE_WORDS) - 1


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.ENOMEM, "Cannot allocate memory")])
def test_lexicon_that_outgrows_memory_all_the_same_is_one_sentence(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, taken, add = write_lexicon(tmp_path / "words.txt", width=3), iter(range(5)), UnitRows.add

    def exhausted(rows: UnitRows, pieces: Any) -> None:
        if next(taken, None) is None:
            raise error
        add(rows, pieces)

    monkeypatch.setattr(UnitRows, "add", exhausted)
    with pytest.raises(DataError, match=r"not fit into memory: 5 of them did.* most_words = 2"):
        open_lexicon(path, units="characters")
    with pytest.raises(DataError, match=r"0 of them did\. Free some memory first"):
        open_lexicon(path, units="characters")


@pytest.mark.parametrize("most", [0, -1])
def test_lexicon_of_no_word_cannot_be_asked_for(tmp_path: Path, most: int) -> None:
    with pytest.raises(UsageError, match=f"most_words of a lexicon is {most}, but must be at le"):
        open_lexicon(write_lexicon(tmp_path / "w"), units="characters", most_words=most)


def test_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(LacunerError, match="XDG_CACHE_HOME can name another place"):
        open_lexicon(write_lexicon(tmp_path / "w"), units="characters")


@settings(max_examples=50, deadline=None)
@given(
    spans=st.lists(st.tuples(st.integers(0, 7), st.integers(1, 5)), unique=True, max_size=20),
    most=st.integers(1, 4),
)
def test_slots_hold_the_longest_words_of_each_place(
    spans: list[tuple[int, int]], most: int
) -> None:
    length = 12
    spans = sorted((start, start + size) for start, size in spans)
    found = Found(
        np.array([start for start, _ in spans], np.int64),
        np.array([end for _, end in spans], np.int64),
        np.arange(len(spans)),
    )
    slots = word_slots(found, length, most)
    assert slots.shape == (length, most)
    for place in range(length):
        over = [n for n, (start, end) in enumerate(spans) if start <= place < end]
        over.sort(key=lambda n: (spans[n][0] - spans[n][1], spans[n][0]))
        expected = [n + 1 for n in over[:most]]
        assert slots[place].tolist() == expected + [0] * (most - len(expected))
