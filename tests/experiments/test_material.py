"""What runs learn from: the same sample for all, the same masking for all systems of a seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from lacuner import Corpus, write
from lacuner.errors import UsageError
from lacuner.experiments.material import read_material, with_gaps
from lacuner.experiments.study import CorpusEntry

DEMO = CorpusEntry("demo", embedded=True)


def test_sample_is_drawn_by_the_seed_of_the_study() -> None:
    first, again, other = (
        read_material(DEMO, None, train_sentences=30, sample_seed=seed).train for seed in (1, 1, 2)
    )
    assert first == again and len(first) == 30 and first != other
    whole = read_material(DEMO, None, train_sentences=10**6, sample_seed=1)
    assert len(whole.train) == 600 and whole.dev is not None
    part = read_material(DEMO, None, train_sentences=30, sample_seed=1, dev_sentences=20).dev
    assert part is not None and len(part) == 20
    assert set(part.sentences) < set(whole.dev.sentences)


def test_masking_is_drawn_by_the_seed_of_the_run() -> None:
    train = read_material(DEMO, None, train_sentences=200, sample_seed=0).train
    first, again, other, more = (
        with_gaps(train, rate, seed) for rate, seed in ((0.5, 1), (0.5, 1), (0.5, 2), (0.8, 1))
    )
    assert first is not None and other is not None and more is not None
    assert first == again and first != other
    assert not any(sentence.complete for sentence in first.corpus)
    for less, further in zip(first.hidden, more.hidden, strict=True):
        assert set(less.entities) <= set(further.entities)
    assert with_gaps(train, 0.0, 1) is None


def test_gold_files_are_complete_and_distant_ones_are_not(
    small_corpus: Corpus, tmp_path: Path
) -> None:
    for name in ("gold", "far", "test"):
        write(small_corpus, tmp_path / f"{name}.conll")
    entry = CorpusEntry(
        "mine", gold=("gold.conll",), distant=("far.conll",), dev="test.conll", test="test.conll"
    )
    material = read_material(entry, tmp_path, train_sentences=None, sample_seed=0)
    size = len(small_corpus)
    assert [s.complete for s in material.train] == [True] * size + [False] * size
    assert all(sentence.complete for sentence in material.test)
    before = material.fingerprints()
    write(small_corpus.with_sentences(small_corpus.sentences[:5]), tmp_path / "far.conll",
          overwrite=True)  # fmt: skip
    after = read_material(entry, tmp_path, train_sentences=None, sample_seed=0).fingerprints()
    assert before["train"] != after["train"] and before["test"] == after["test"]


def test_complete_labels_may_be_given_without_a_word_for_them() -> None:
    told = read_material(DEMO, None, train_sentences=None, sample_seed=0)
    entry = CorpusEntry("demo", embedded=True, vouched=False)
    untold = read_material(entry, None, train_sentences=None, sample_seed=0)
    assert untold.train == told.train.vouched(complete=False) != told.train
    assert (untold.dev, untold.test) == (told.dev, told.test)
    assert DEMO.is_complete and not entry.is_complete


def test_files_need_a_folder() -> None:
    with pytest.raises(UsageError, match="--data"):
        read_material(
            CorpusEntry("x", gold=("a",), test="b"), None, train_sentences=None, sample_seed=0
        )
