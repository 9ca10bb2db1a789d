"""The corpora that researchers use are read without options, and counted as their README counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lacuner import Corpus, read
from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.tag_rows import LEFT_OUT, NOT_CLOSED

pytestmark = pytest.mark.shared

# file, format, sentences, entities
COUNTS = [
    ("conll03/train_label_true.txt", "pairs", 14_041, 23_499),
    ("conll03/train_label_dist.txt", "pairs", 14_041, 17_781),
    ("conll03/train_text.txt", "pairs", 14_041, 23_499),
    ("conll03/valid_text.txt", "pairs", 3_250, 5_942),
    ("conll03/test_text.txt", "pairs", 3_453, 5_648),
    ("wikigold/train_label_true.txt", "pairs", 1_142, 2_295),
    ("wikigold/train_label_dist.txt", "pairs", 1_142, 2_282),
    ("wikigold/train_text.txt", "pairs", 1_142, 2_295),
    ("wikigold/valid_text.txt", "pairs", 280, 650),
    ("wikigold/test_text.txt", "pairs", 274, 613),
    ("ec/train.tsv", "conll", 1_097, 1_264),
    ("ec/ds_fa.tsv", "conll", 2_560, 3_061),
    ("ec/ds_pa.tsv", "conll", 2_560, 3_061),
    ("ec/dev.tsv", "conll", 400, 475),
    ("ec/test.tsv", "conll", 798, 918),
    ("ec/train.json", "literals", 1_097 + 2_560, 1_264 + 3_061),
    ("ec/dev.json", "literals", 400, 465),
    ("ec/test.json", "literals", 798, 918),
    ("news/train.tsv", "conll", 3_000, 1_746),
    ("news/ds_fa.tsv", "conll", 3_722, 4_475),
    ("news/ds_pa.tsv", "conll", 3_722, 4_475),
    ("news/dev.tsv", "conll", 3_328, 1_157),
    ("news/test.tsv", "conll", 3_186, 1_004),
    ("news/train.json", "literals", 3_000 + 3_722, 1_746 + 4_475),
    ("news/dev.json", "literals", 3_328, 1_157),
    ("news/test.json", "literals", 3_186, 1_004),
    ("resume/train.char.bmes", "conll", 3_821, 13_438),
    ("resume/dev.char.bmes", "conll", 463, 1_497),
    ("resume/test.char.bmes", "conll", 477, 1_630),
    ("weibo/train.char.bmes", "conll", 1_350, 1_885),
    ("weibo/dev.char.bmes", "conll", 270, 389),
    ("weibo/test.char.bmes", "conll", 270, 414),
]
# Breaks of the scheme, which these corpora really have.
BREAKS = {"resume/train.char.bmes": 4, "weibo/train.char.bmes": 11, "weibo/test.char.bmes": 4}


@pytest.mark.parametrize(("name", "format", "sentences", "entities"), COUNTS)
def test_corpus_is_read_and_counted(
    shared_data: Path, name: str, format: str, sentences: int, entities: int
) -> None:
    findings = Findings()
    corpus = read(shared_data / name, findings=findings)
    assert f"read as {format} " in findings.remarks[0]
    assert (len(corpus), corpus.entity_count) == (sentences, entities)
    breaks = findings.counts[LEFT_OUT] + findings.counts[NOT_CLOSED]
    assert breaks == BREAKS.get(name, 0)
    assert breaks == sum(findings.counts.values()), "something else was lost"


def test_every_file_is_in_the_list(shared_data: Path) -> None:
    found = {
        str(file.relative_to(shared_data))
        for suffix in ("tsv", "json", "bmes", "txt")
        for file in shared_data.glob(f"*/*.{suffix}")
        if file.name != "types.txt"
    }
    twins = {"valid_label_true.txt", "test_label_true.txt"}  # read through their text files
    assert {name for name in found if Path(name).name not in twins} == {row[0] for row in COUNTS}


@pytest.mark.parametrize("folder", ["ec", "news"])
def test_unknown_words_are_not_outside(shared_data: Path, folder: str) -> None:
    partial = read(shared_data / folder / "ds_pa.tsv")
    assert all(not sentence.outside and not sentence.complete for sentence in partial)
    assert contents(partial) == contents(read(shared_data / folder / "ds_fa.tsv"))


@pytest.mark.parametrize("folder", ["ec", "news"])
def test_json_is_gold_and_distant_together(shared_data: Path, folder: str) -> None:
    both = [read(shared_data / folder / name) for name in ("train.tsv", "ds_fa.tsv")]
    assert contents(read(shared_data / folder / "train.json")) == contents(*both)


def contents(*corpora: Corpus) -> Counter[tuple[object, ...]]:
    """How often each sentence occurs, with its entities."""
    return Counter(
        (sentence.tokens, *(entity.key for entity in sentence.entities))
        for corpus in corpora
        for sentence in corpus
    )
