"""BOND's JSON: a list of `{"str_words": [...], "tags": [...]}`, the tags being numbers.

What they stand for is in `tag_to_id.json` beside the file, or in `<dataset>_tag_to_id.json`. The
files of a dataset (train, dev, test) share it; a writer that needs further tags adds them at its
end, so that the numbers of the other files stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import Format, ReadOptions, WriteOptions
from lacuner.corpus.formats.losses import remark_documents, remark_renaming
from lacuner.corpus.formats.tag_rows import NO_WORDS, TagRow, sentences_of_rows
from lacuner.corpus.formats.tag_writing import check_options, tags_to_write
from lacuner.corpus.sentence import Entity, Sentence
from lacuner.corpus.tagging import OUTSIDE, encode_tags, looks_like_tag, parse_tag
from lacuner.errors import DataError
from lacuner.files import read_json

TAG_MAP = "tag_to_id.json"
# Fields that repeat the words in another form.
_DERIVED = {"words", "chars", "defs"}
_RIGHT = 'Right is [{"str_words": ["Ada", "left"], "tags": [1, 0]}, …]'


def recognise(path: Path, head: bytes) -> bool:
    """A JSON list with these two fields."""
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return (
        begin.startswith(b"[")
        and begin[1:].lstrip().startswith(b"{")
        and b'"str_words"' in head
        and b'"tags"' in head
    )


def read(path: Path, options: ReadOptions, findings: Findings) -> Iterator[Sentence]:
    """Yields the sentences, numbered by record; the labels of the map go to the findings."""
    tag_map = _find_tag_map(path)
    tag_of = {number: tag for tag, number in _read_tag_map(tag_map).items()}
    findings.remark(f"{path}: the numbers of tags are explained by {tag_map.name}")
    for tag in tag_of.values():
        if looks_like_tag(tag) and parse_tag(tag)[1]:
            findings.labels.add(parse_tag(tag)[1])
    yield from sentences_of_rows(_rows(path, tag_of, tag_map, findings), path, options, findings)


def write(
    sentences: Iterable[Sentence], path: Path, options: WriteOptions, findings: Findings
) -> None:
    """Writes the sentences, and `tag_to_id.json` beside them."""
    check_options(options)
    tag_map = _start_tag_map(options)
    written = 0
    with open(path, "wb") as file:
        file.write(b"[")
        for sentence in sentences:
            if not sentence.tokens:
                findings.lose(NO_WORDS, sentence.id, "no words")
                continue
            written += 1
            remark_renaming(sentence, written, "bond", findings)
            remark_documents(sentence, "bond", findings)
            tags = tags_to_write(sentence, options.scheme, options, findings, format="bond")
            numbers = [_number(tag_map, tag) for tag in tags]
            file.write(b",\n" if written > 1 else b"\n")
            file.write(orjson.dumps({"str_words": sentence.tokens, "tags": numbers}))
        file.write(b"\n]\n")
    path.with_name(TAG_MAP).write_bytes(orjson.dumps(tag_map, option=orjson.OPT_APPEND_NEWLINE))
    findings.remark(f"what the numbers of tags stand for is in {TAG_MAP} beside {path.name}")


def _find_tag_map(path: Path) -> Path:
    folder = path.parent
    named = sorted(folder.glob(f"*_{TAG_MAP}"))
    own = [file for file in named if path.name.startswith(file.name.removesuffix(TAG_MAP))]
    for candidate in (*own, folder / TAG_MAP):
        if candidate.is_file():
            return candidate
    if len(named) == 1:
        return named[0]
    raise DataError(
        path,
        f"there is no {TAG_MAP} beside it, which says what its numbers stand for",
        right=f"Its name is {TAG_MAP} or <dataset>_{TAG_MAP}",
    )


def _read_tag_map(path: Path) -> dict[str, int]:
    found = read_json(path)
    if not isinstance(found, dict) or not all(type(number) is int for number in found.values()):
        raise DataError(
            path, "this is no map from tags to numbers", right='Right is {"O": 0, "B-PER": 1, …}'
        )
    if len(set(found.values())) < len(found):
        raise DataError(path, "two tags have one number")
    return found


def _rows(
    path: Path, tag_of: dict[int, str], tag_map: Path, findings: Findings
) -> Iterator[TagRow]:
    records = read_json(path)
    if not isinstance(records, list):
        raise DataError(path, "this is no JSON list", right=_RIGHT)
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise DataError(path, f"record {number} is no JSON object", right=_RIGHT)
        words: Any = record.get("str_words")
        tags: Any = record.get("tags")
        if not _is_list_of(words, str) or not _is_list_of(tags, int):
            what = f"record {number} has no list of words 'str_words' and of numbers 'tags'"
            raise DataError(path, what, right=_RIGHT)
        if len(words) != len(tags):
            what = f"record {number} has {len(tags)} tags for {len(words)} words"
            raise DataError(path, what, right="Each word has one tag")
        unknown = next((tag for tag in tags if tag not in tag_of), None)
        if unknown is not None:
            raise DataError(
                path, f"record {number} has the tag {unknown}, which {tag_map.name} does not name"
            )
        others = record.keys() - _DERIVED - {"str_words", "tags"}
        if others:
            findings.remark(f"{path}: fields that are not read: {', '.join(sorted(others))}")
        yield TagRow(str(number), words, [tag_of[tag] for tag in tags], record=number)


def _is_list_of(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(type(item) is kind for item in value)


def _start_tag_map(options: WriteOptions) -> dict[str, int]:
    """The map of the files that stand there already, or one of all labels."""
    there = options.folder / TAG_MAP if options.folder is not None else None
    tag_map = _read_tag_map(there) if there is not None and there.is_file() else {OUTSIDE: 0}
    for label in options.labels:
        label = re.sub(r"[\s\0\ufeff]", "_", label)
        for length in (1, 2, 3):
            for tag in encode_tags(length, [Entity(0, length, label)], options.scheme):
                _number(tag_map, tag)
    return tag_map


def _number(tag_map: dict[str, int], tag: str) -> int:
    if tag not in tag_map:
        tag_map[tag] = max(tag_map.values(), default=-1) + 1
    return tag_map[tag]


BOND_JSON = Format(
    name="bond",
    title="BOND's JSON, 'str_words' and 'tags', with tag_to_id.json",
    suffixes=(".bond.json",),
    recognise=recognise,
    read=read,
    write=write,
)
