"""Parts of a corpus."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacuner import Corpus, Sentence
from lacuner.corpus.splits import concatenate, split
from lacuner.errors import UsageError


def _corpus(count: int, sentences_a_document: int = 1) -> Corpus:
    return Corpus(
        tuple(
            Sentence(str(n), (f"word{n}",), document=f"d{n // sentences_a_document}")
            for n in range(count)
        )
    )


@given(st.integers(1, 60), st.integers(0, 2**32))
def test_split_parts_share_nothing_and_keep_order(count: int, seed: int) -> None:
    corpus = _corpus(count)
    parts = split(corpus, {"train": 0.7, "test": 0.3}, np.random.default_rng(seed))
    ids = [[int(s.id) for s in part] for part in parts.values()]
    assert sorted(number for part in ids for number in part) == list(range(count))
    assert all(part == sorted(part) for part in ids)


def test_split_is_the_same_for_the_same_seed_and_differs_for_another() -> None:
    corpus = _corpus(50)
    sizes = {"train": 0.5}
    first, again, other = (split(corpus, sizes, np.random.default_rng(s)) for s in (1, 1, 2))
    assert first == again
    assert first != other


def test_split_keeps_documents_together() -> None:
    parts = split(_corpus(40, 4), {"train": 0.5, "dev": 0.5}, np.random.default_rng(3))
    documents = [{s.document for s in part} for part in parts.values()]
    assert not documents[0] & documents[1]


def test_split_keeps_equal_sentences_together() -> None:
    corpus = Corpus(tuple(Sentence(str(n), (f"word{n % 5}",)) for n in range(50)))
    parts = split(corpus, {"train": 0.5, "dev": 0.5}, np.random.default_rng(0))
    words = [{s.tokens for s in part} for part in parts.values()]
    assert words[0] and words[1] and not words[0] & words[1]


def test_split_takes_numbers_of_sentences() -> None:
    parts = split(_corpus(30), {"dev": 10, "test": 5}, np.random.default_rng(0))
    assert {name: len(part) for name, part in parts.items()} == {"dev": 10, "test": 5}


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"a": 0.0}, "above 0"),
        ({"a": 0.7, "b": 0.7}, "add up to 1.4"),
        ({"a": 31.0}, "more than the 30 sentences"),
    ],
)
def test_split_refuses_sizes_that_make_no_sense(sizes: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        split(_corpus(30), sizes, np.random.default_rng(0))


def test_concatenate_keeps_ids_apart() -> None:
    joined = concatenate([_corpus(2).vouched(), _corpus(2)])
    assert [s.id for s in joined] == ["0", "1", "2/0", "2/1"]
    assert [s.complete for s in joined] == [True, True, False, False]
