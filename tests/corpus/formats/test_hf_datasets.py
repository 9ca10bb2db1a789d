"""Hugging Face datasets: folders of save_to_disk and Parquet files, of several ways to tag."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lacuner import Corpus, Entity, Sentence, read, write
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import detect
from lacuner.errors import DataError, MissingExtra

datasets = pytest.importorskip("datasets", reason="needs the extra 'datasets'")

NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
TOKENS = [["Ada", "Bell", "left"], ["Paris"], []]
NUMBERS = [[1, 2, 0], [3], []]
ENTITIES = [(Entity(0, 2, "PER"),), (Entity(0, 1, "LOC"),)]


def dataset(tags: list[Any], feature: Any, **columns: Any) -> Any:
    features = {"tokens": datasets.Sequence(datasets.Value("string")), "ner_tags": feature}
    features |= {name: datasets.Value("string") for name in columns}
    return datasets.Dataset.from_dict(
        {"tokens": TOKENS, "ner_tags": tags, **columns}, features=datasets.Features(features)
    )


def classes(names: list[str] = NAMES) -> Any:
    return datasets.Sequence(datasets.ClassLabel(names=names))


def test_folder_with_class_labels_is_read(tmp_path: Path) -> None:
    dataset(NUMBERS, classes(), id=["a", "b", "c"]).save_to_disk(str(tmp_path / "train"))
    assert detect(tmp_path / "train").name == "datasets"
    findings = Findings()
    corpus = read(tmp_path / "train", findings=findings)
    assert [(s.id, list(s.tokens), s.entities) for s in corpus] == [
        ("a", TOKENS[0], ENTITIES[0]),
        ("b", TOKENS[1], ENTITIES[1]),
    ]
    assert not any(s.complete for s in corpus)
    assert all(s.complete for s in read(tmp_path / "train", complete=True))
    assert sum(findings.counts.values()) == 1  # the empty one


def test_folder_in_several_files_is_read_in_order(tmp_path: Path) -> None:
    many = datasets.Dataset.from_dict(
        {"tokens": [[f"w{n}"] for n in range(2500)], "ner_tags": [["O"]] * 2500}
    )
    many.save_to_disk(str(tmp_path / "d"), num_shards=3)
    assert [s.tokens[0] for s in read(tmp_path / "d")] == [f"w{n}" for n in range(2500)]


def test_parquet_with_class_labels_is_read(tmp_path: Path) -> None:
    path = tmp_path / "train-00000-of-00001.parquet"
    dataset(NUMBERS, classes()).to_parquet(str(path))
    assert detect(path).name == "datasets"
    assert [s.entities for s in read(path)] == ENTITIES


def test_tags_as_strings_are_read(tmp_path: Path) -> None:
    strings = [[NAMES[number] for number in row] for row in NUMBERS]
    dataset(strings, datasets.Sequence(datasets.Value("string"))).save_to_disk(str(tmp_path / "d"))
    assert [s.entities for s in read(tmp_path / "d")] == ENTITIES


def test_minus_hundred_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    numbers = datasets.Sequence(datasets.Value("int64"))
    found = dataset([[1, -100, 0], [3], []], numbers)
    found.info.features["ner_tags"] = classes()
    found.to_parquet(str(path))
    first, second = read(path)
    assert first.entities == (Entity(0, 1, "PER"),)
    assert first.outside == ((2, 3),)
    assert second.outside == ()


def test_splits_must_be_named(tmp_path: Path) -> None:
    split = dataset(NUMBERS, classes())
    datasets.DatasetDict({"train": split, "test": split}).save_to_disk(str(tmp_path / "two"))
    datasets.DatasetDict({"train": split}).save_to_disk(str(tmp_path / "one"))
    assert detect(tmp_path / "two").name == "datasets"
    with pytest.raises(DataError, match=r"has 2 splits. Say which: .*two/train, .*two/test"):
        read(tmp_path / "two")
    assert len(read(tmp_path / "two" / "test")) == 2
    assert len(read(tmp_path / "one")) == 2


def test_datasets_loads_what_we_write(tmp_path: Path, small_corpus: Corpus) -> None:
    path = tmp_path / "small.dataset"
    write(small_corpus, path)
    loaded = datasets.load_from_disk(str(path))
    assert loaded.column_names == ["id", "tokens", "ner_tags"]
    assert loaded.features["ner_tags"].feature.names[:3] == ["O", "B-LOC", "I-LOC"]
    assert len(loaded.features["ner_tags"].feature.names) == 1 + 2 * len(small_corpus.labels)
    assert loaded[0]["tokens"] == list(small_corpus.sentences[0].tokens)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["small.dataset"]
    again = read(path)
    assert again.sentences == small_corpus.sentences


@pytest.mark.parametrize("scheme", ["bio", "bioes", "iob1", "bmes"])
def test_stream_without_labels_is_written(tmp_path: Path, scheme: str) -> None:
    before = [
        Sentence(str(n), ("Ada", "Bell", "x"), (Entity(0, 2, f"L{n % 3}"),)) for n in range(2100)
    ]
    write(iter(before), tmp_path / "d.dataset", scheme=scheme)
    assert list(read(tmp_path / "d.dataset")) == before


def test_unknown_words_come_back(tmp_path: Path) -> None:
    before = Sentence("1", ("Ada", "left", "Rome"), (Entity(0, 1, "PER"),), outside=((1, 2),))
    write([before], tmp_path / "d.dataset", unknown="UNK")
    assert read(tmp_path / "d.dataset").sentences == (before,)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": ["a"]}, "there is no column tokens or words, only text"),
        ({"tokens": [["a"]]}, "there is no column ner_tags or tags or labels or ner, only tokens"),
        ({"tokens": [["a"]], "ner_tags": [[1]]}, "tag 1 is a number, and the dataset does not say"),
        ({"tokens": [["a"]], "tags": [["O", "O"]]}, "record 1: 1 words and 2 tags"),
        ({"tokens": ["a b"], "tags": [["O"]]}, "record 1: the words are 'a b'"),
        ({"tokens": [["a"]], "tags": ["O"]}, "record 1: the tags are 'O'"),
        ({"tokens": [["a"]], "tags": [["Z-PER"]]}, "record 1: tag 'Z-PER' is unknown"),
        ({"tokens": [["a"]], "tags": [[0.5]]}, "tag 0.5 is none of 0 classes"),
    ],
)
def test_wrong_columns_are_refused(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    datasets.Dataset.from_dict(columns).save_to_disk(str(tmp_path / "d"))
    with pytest.raises(DataError) as caught:
        read(tmp_path / "d")
    assert message in str(caught.value)


def test_class_outside_the_names_is_refused(tmp_path: Path) -> None:
    dataset(NUMBERS, classes()).save_to_disk(str(tmp_path / "d"))
    info = tmp_path / "d" / "dataset_info.json"
    described = json.loads(info.read_text())
    described["features"]["ner_tags"]["feature"]["names"] = ["O", "B-PER"]
    info.write_text(json.dumps(described))
    with pytest.raises(DataError, match="record 1: tag 2 is none of 2 classes"):
        read(tmp_path / "d")


@pytest.mark.parametrize("broken", ["state.json", "dataset_info.json", "data-00000-of-00001.arrow"])
def test_broken_folder_is_refused(tmp_path: Path, broken: str) -> None:
    dataset(NUMBERS, classes()).save_to_disk(str(tmp_path / "d"))
    (tmp_path / "d" / broken).write_bytes(b"{broken")
    with pytest.raises(DataError):
        read(tmp_path / "d", format="datasets")


def test_state_cannot_point_out_of_its_folder(tmp_path: Path) -> None:
    dataset(NUMBERS, classes()).save_to_disk(str(tmp_path / "d"))
    (tmp_path / "d" / "data-00000-of-00001.arrow").rename(tmp_path / "secret.arrow")
    (tmp_path / "d" / "state.json").write_text('{"_data_files": [{"filename": "../secret.arrow"}]}')
    with pytest.raises(DataError, match="no dataset that can be read"):
        read(tmp_path / "d")


def test_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    dataset(NUMBERS, classes()).to_parquet(str(path))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"pip install 'lacuner\[datasets\]'"):
        read(path)
    with pytest.raises(MissingExtra, match=r"pip install 'lacuner\[datasets\]'"):
        write([Sentence("1", ("Bo",))], tmp_path / "out.dataset")
