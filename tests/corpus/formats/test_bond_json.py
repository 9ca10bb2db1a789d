"""BOND's JSON: numbers of tags, and the map that explains them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lacuner import Corpus, Entity, Sentence, read, write
from lacuner.corpus.findings import Findings
from lacuner.errors import DataError, OutputExists

MAP = {"O": 0, "B-LOC": 1, "B-PER": 2, "I-PER": 3, "I-LOC": 4, "<START>": 5}
RECORDS = [
    {"str_words": ["Ada", "King", "left"], "words": [1, 2, 3], "tags": [2, 3, 0]},
    {"str_words": ["Rome"], "tags": [1], "defs": [None]},
]


def written(folder: Path, records: Any, tag_map: Any = MAP, name: str = "tag_to_id.json") -> Path:
    (folder / name).write_text(json.dumps(tag_map))
    (folder / "train.json").write_text(json.dumps(records))
    return folder / "train.json"


@pytest.mark.parametrize("name", ["tag_to_id.json", "train_tag_to_id.json", "x_tag_to_id.json"])
def test_map_is_found_beside(tmp_path: Path, name: str) -> None:
    findings = Findings()
    corpus = read(written(tmp_path, RECORDS, name=name), findings=findings)
    assert "read as bond" in findings.remarks[0]
    assert [sentence.tokens for sentence in corpus] == [("Ada", "King", "left"), ("Rome",)]
    assert [e.key for s in corpus for e in s.entities] == [(0, 2, "PER"), (0, 1, "LOC")]
    assert corpus.labels == ("LOC", "PER")


def test_missing_map_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, RECORDS)
    (tmp_path / "tag_to_id.json").unlink()
    with pytest.raises(DataError, match=r"there is no tag_to_id\.json"):
        read(path)


@pytest.mark.parametrize("tag_map", [[], {"O": "0"}, {"O": 0, "B-PER": 0}, {"O": True}, None])
def test_map_that_is_none_is_refused(tmp_path: Path, tag_map: Any) -> None:
    with pytest.raises(DataError) as caught:
        read(written(tmp_path, RECORDS, tag_map))
    assert caught.value.path.name == "tag_to_id.json"


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ({"str_words": ["a"], "tags": [9]}, "the tag 9"),
        ({"str_words": ["a"], "tags": [5]}, "'<START>' is unknown"),
        ({"str_words": ["a"], "tags": [0, 0]}, "2 tags for 1 words"),
        ({"str_words": ["a"], "tags": ["O"]}, "no list"),
        ({"str_words": ["a"], "tags": [False]}, "no list"),
        ({"str_words": [1], "tags": [0]}, "no list"),
        ({"str_words": [""], "tags": [0]}, "word 1 is empty"),
        ({"tags": [0]}, "no list"),
        ([], "no JSON object"),
        ({"str_words": ["a", "b"], "tags": [0, 3]}, "I-PER after O"),
    ],
)
def test_record_that_is_none_is_refused(tmp_path: Path, record: Any, what: str) -> None:
    with pytest.raises(DataError, match=f"record 3.*{what}"):
        read(written(tmp_path, [*RECORDS, record]))


def corpus_of(*labels: str) -> Corpus:
    return Corpus(
        tuple(
            Sentence(str(number), ("a", "b"), (Entity(0, 2, label),))
            for number, label in enumerate(labels, start=1)
        )
    )


def test_files_of_a_dataset_share_a_map_that_only_grows(tmp_path: Path) -> None:
    first, second = corpus_of("PER", "LOC"), corpus_of("ORG")
    write(first, tmp_path / "train.json", format="bond")
    write(first, tmp_path / "dev.json", format="bond")
    with pytest.raises(OutputExists, match="tag_to_id"):
        write(second, tmp_path / "test.json", format="bond")
    assert not (tmp_path / "test.json").exists()
    write(second, tmp_path / "test.json", format="bond", overwrite=True)
    for name, corpus in (("train", first), ("dev", first), ("test", second)):
        assert read(tmp_path / f"{name}.json").sentences == corpus.sentences


def test_map_numbers_its_tags_in_order(tmp_path: Path) -> None:
    write(corpus_of("PER"), tmp_path / "train.json", format="bond")
    found = json.loads((tmp_path / "tag_to_id.json").read_text())
    assert found == {"O": 0, "B-PER": 1, "I-PER": 2}
    assert list(found.values()) == [0, 1, 2]
