"""Hugging Face `datasets`: folders of `save_to_disk`, and Parquet files, of words and tags.

The words are a column `tokens` (or `words`), the tags a column `ner_tags` (or `tags`, `labels`): a
list of class labels, or of strings. -100, which trainers skip, means unknown. The Arrow files are
read batch by batch as they are: no cache, no network, no script of a dataset.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import Format, ReadOptions, WriteOptions
from lacuner.corpus.formats.losses import remark_documents
from lacuner.corpus.formats.marked_records import Names
from lacuner.corpus.formats.tag_rows import TagRow, sentences_of_rows
from lacuner.corpus.formats.tag_writing import check_options, tags_to_write
from lacuner.corpus.sentence import Entity, Sentence
from lacuner.corpus.tagging import OUTSIDE, UNKNOWN, encode_tags
from lacuner.errors import DataError, MissingExtra
from lacuner.files import read_json

_WORDS = ("tokens", "words")
_TAGS = ("ner_tags", "tags", "labels", "ner")
_IGNORED = -100
_BATCH = 1000
_RIGHT = "Right is a list of words in 'tokens' and as long a list of class labels in 'ner_tags'"


def recognise(path: Path, head: bytes) -> bool:
    """A folder of `save_to_disk`, or a Parquet file."""
    if path.is_dir():
        return (path / "dataset_dict.json").is_file() or (path / "state.json").is_file()
    return head.startswith(b"PAR1")


def read(path: Path, options: ReadOptions, findings: Findings) -> Iterator[Sentence]:
    """Yields a sentence a row."""
    return sentences_of_rows(_rows(path, findings), path, options, findings)


def _rows(path: Path, findings: Findings) -> Iterator[TagRow]:
    names = Names(findings)
    number = 0
    classes: list[str] | None = None
    with _arrow_errors(path):
        for batch, described in _batches(_one_split(path)):
            words, tags = _column(path, batch, _WORDS), _column(path, batch, _TAGS)
            classes = _class_names(described.get(tags))
            wanted = {name: batch.column(name).to_pylist() for name in (words, tags)}
            ids = batch.column("id").to_pylist() if "id" in batch.schema.names else None
            for index, (row_words, row_tags) in enumerate(
                zip(wanted[words], wanted[tags], strict=True)
            ):
                number += 1
                yield TagRow(
                    names.name(ids[index] if ids else None, number),
                    _strings(path, number, row_words),
                    _tags(path, number, row_words, row_tags, classes),
                    record=number,
                )


def _one_split(path: Path) -> Path:
    if not (path / "dataset_dict.json").is_file():
        return path
    splits = read_json(path / "dataset_dict.json")
    splits = splits.get("splits") if isinstance(splits, dict) else None
    if not isinstance(splits, list) or not all(isinstance(split, str) for split in splits):
        raise DataError(path / "dataset_dict.json", "there is no list of splits in it")
    if len(splits) != 1:
        examples = ", ".join(str(path / split) for split in splits)
        raise DataError(
            path, f"the folder has {len(splits)} splits", right=f"Say which: {examples or 'none'}"
        )
    return path / Path(splits[0]).name


def _batches(path: Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yields `(record batch, features by column)`."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Reading Hugging Face datasets", "datasets") from None
    if not path.is_dir():
        with parquet.ParquetFile(path) as file:
            described = _features(file.schema_arrow)
            for batch in file.iter_batches(_BATCH):
                yield batch, described
        return
    info = path / "dataset_info.json"
    features = (read_json(info) if info.is_file() else {}) or {}
    features = features.get("features") if isinstance(features, dict) else None
    for name in _arrow_files(path):
        with arrow.memory_map(str(path / name)) as source, arrow.ipc.open_stream(source) as stream:
            described = features if isinstance(features, dict) else _features(stream.schema)
            for batch in stream:
                batch.validate(full=True)
                yield batch, described


def _arrow_files(path: Path) -> list[str]:
    state = read_json(path / "state.json")
    files = state.get("_data_files") if isinstance(state, dict) else None
    if not isinstance(files, list) or not all(
        isinstance(file, dict) and isinstance(file.get("filename"), str) for file in files
    ):
        raise DataError(path / "state.json", "there is no list of data files in it")
    return [Path(file["filename"]).name for file in files]  # in this folder, whatever it says


def _features(schema: Any) -> dict[str, Any]:
    """What `datasets` writes about columns into the schema itself."""
    try:
        described = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
    except (KeyError, ValueError, TypeError, RecursionError):
        return {}
    return described if isinstance(described, dict) else {}


def _class_names(feature: Any) -> list[str] | None:
    inner = feature[0] if isinstance(feature, list) and feature else feature
    if isinstance(inner, dict) and "names" not in inner:
        inner = inner.get("feature")
    names = inner.get("names") if isinstance(inner, dict) else None
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return names
    return None


def _column(path: Path, batch: Any, names: tuple[str, ...]) -> str:
    for name in names:
        if name in batch.schema.names:
            return name
    there = ", ".join(batch.schema.names)
    raise DataError(path, f"there is no column {' or '.join(names)}, only {there}", right=_RIGHT)


def _strings(path: Path, number: int, words: Any) -> list[str]:
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise DataError(path, f"record {number}: the words are {words!r:.80}", right=_RIGHT)
    return words


def _tags(path: Path, number: int, words: Any, tags: Any, classes: list[str] | None) -> list[str]:
    if not isinstance(tags, list):
        raise DataError(path, f"record {number}: the tags are {tags!r:.80}", right=_RIGHT)
    if len(words) != len(tags):
        what = f"record {number}: {len(words)} words and {len(tags)} tags"
        raise DataError(path, what, right=_RIGHT)
    found = []
    for tag in tags:
        if isinstance(tag, str):
            found.append(tag)
        elif tag == _IGNORED:
            found.append(UNKNOWN)
        elif type(tag) is int and classes is None:
            what = f"record {number}: tag {tag} is a number, and the dataset does not say of what"
            raise DataError(path, what, right="The column of tags is of type ClassLabel or string")
        elif type(tag) is int and classes is not None and 0 <= tag < len(classes):
            found.append(classes[tag])
        else:
            what = f"record {number}: tag {tag!r:.80} is none of {len(classes or ())} classes"
            raise DataError(path, what, right=_RIGHT)
    return found


@contextmanager
def _arrow_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, NotImplementedError) as error:
        # ArrowInvalid and its like are ValueErrors, others are OSErrors and so on.
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(path, f"this is no dataset that can be read: {what:.200}") from None


def write(
    sentences: Iterable[Sentence], path: Path, options: WriteOptions, findings: Findings
) -> None:
    """Writes a folder that `datasets.load_from_disk` takes, in memory that does not grow."""
    try:
        import datasets
        import pyarrow as arrow
    except ImportError:
        raise MissingExtra("Writing Hugging Face datasets", "datasets") from None
    check_options(options)
    classes = {OUTSIDE: 0}
    for label in options.labels:
        for length in (3, 1):
            for tag in encode_tags(length, [Entity(0, length, label)], options.scheme):
                classes.setdefault(tag, len(classes))
    schema = arrow.schema(
        {"id": arrow.string(), "tokens": arrow.list_(arrow.string()),
         "ner_tags": arrow.list_(arrow.int64())}
    )  # fmt: skip
    # The names of the classes are known at the end only: the rows wait in a file without them.
    rows = path.with_name(f"{path.name}.rows")
    with arrow.OSFile(str(rows), "wb") as sink, arrow.ipc.new_stream(sink, schema) as stream:
        for batch in _written(sentences, classes, options, findings):
            stream.write_batch(arrow.record_batch(batch, schema=schema))
    features = datasets.Features(
        {
            "id": datasets.Value("string"),
            "tokens": datasets.Sequence(datasets.Value("string")),
            "ner_tags": datasets.Sequence(datasets.ClassLabel(names=list(classes))),
        }
    )
    shown = datasets.is_progress_bar_enabled()
    datasets.disable_progress_bars()
    try:
        dataset = datasets.Dataset.from_file(
            str(rows), info=datasets.DatasetInfo(features=features)
        )
        dataset.save_to_disk(str(path))
    finally:
        if shown:
            datasets.enable_progress_bars()
        rows.unlink()


def _written(
    sentences: Iterable[Sentence],
    classes: dict[str, int],
    options: WriteOptions,
    findings: Findings,
) -> Iterator[dict[str, list[Any]]]:
    batch: dict[str, list[Any]] = {"id": [], "tokens": [], "ner_tags": []}
    for sentence in sentences:
        remark_documents(sentence, "datasets", findings)
        tags = tags_to_write(sentence, options.scheme, options, findings, format="datasets")
        batch["id"].append(sentence.id)
        batch["tokens"].append(list(sentence.tokens))
        batch["ner_tags"].append([classes.setdefault(tag, len(classes)) for tag in tags])
        if len(batch["id"]) == _BATCH:
            yield batch
            batch = {name: [] for name in batch}
    yield batch


DATASETS = Format(
    name="datasets",
    title="Hugging Face datasets: a folder of save_to_disk, or Parquet",
    suffixes=(".dataset",),
    recognise=recognise,
    read=read,
    write=write,
    extra="datasets",
)
