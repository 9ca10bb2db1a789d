"""Batches of similar length."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lacuner.models.batching import batches_by_size, shuffled_batches

lengths_of = st.lists(st.integers(1, 80), max_size=200)


@given(lengths_of, st.integers(1, 20), st.integers(20, 400))
def test_batches_hold_every_sentence_once(lengths: list[int], size: int, words: int) -> None:
    shuffled = shuffled_batches(lengths, size, np.random.default_rng(0), max_words=words)
    ordered = batches_by_size(lengths, size, max_words=words)
    for batches in (shuffled, ordered):
        assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
        for batch in batches:
            assert len(batch) <= size
            assert len(batch) == 1 or max(lengths[n] for n in batch) * len(batch) <= words


def test_shuffled_batches_differ_by_epoch_and_pad_little() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 60, 1000).tolist()
    first = shuffled_batches(lengths, 16, np.random.default_rng(1), max_words=4096)
    second = shuffled_batches(lengths, 16, np.random.default_rng(2), max_words=4096)
    assert first != second
    places = sum(max(lengths[n] for n in batch) * len(batch) for batch in first)
    assert places < 1.1 * sum(lengths)


def test_batches_are_cut_by_the_size_that_the_encoder_pads() -> None:
    lengths, sizes = [5, 5, 5, 5], [30, 6, 29, 7]
    drawn = shuffled_batches(lengths, 2, np.random.default_rng(0), max_words=99, sizes=sizes)
    assert sorted(map(sorted, drawn)) == [[0, 2], [1, 3]]
    assert batches_by_size(lengths, 2, max_words=99, sizes=sizes) == [[0, 2], [3, 1]]
    assert batches_by_size(lengths, 2, max_words=9, sizes=sizes) == [[0], [2], [3], [1]]
