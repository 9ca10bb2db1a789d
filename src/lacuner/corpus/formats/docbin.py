"""The bytes of a spaCy `DocBin`, taken apart without building spaCy's documents.

A `DocBin` is zlib over MessagePack: numbers for each token by attribute, the strings that those
numbers stand for, and span groups. We read the numbers ourselves, check each, and run no hook that
a file could ask for: a broken or hostile file ends in a `DataError` and not in native code.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacuner.errors import DataError, InvalidSentence, MissingExtra
from lacuner.files import read_bytes

MAX_BYTES = 1 << 30  # once decompressed: about ten million tokens
_GROUP_SPAN = struct.Struct(">QQQllll")  # id, kb_id, label, tokens from, to, characters from, to
_GROUP_SPAN_BEFORE_3_5 = struct.Struct(">QQllll")


@dataclass(frozen=True, slots=True)
class PackedDoc:
    """One document of a `DocBin`.

    Attributes:
        words: The text of each token.
        spaces: Does a space follow the token? None when spaCy does not know.
        columns: Numbers of each token by the name of the attribute, such as ENT_IOB.
        labels: The text of each token's ENT_TYPE.
        groups: `(first token, token after the last, label)` by the key of the span group.
        user_data: What was stored with the document, if it is a dictionary.
    """

    words: list[str]
    spaces: list[bool] | None
    columns: dict[str, list[int]]
    labels: list[str]
    groups: dict[str, list[tuple[int, int, str]]]
    user_data: dict[Any, Any]


def unpack_docs(path: Path) -> Iterator[PackedDoc]:
    """Yields the documents of a `.spacy` file.

    Raises:
        DataError: It is no `DocBin`, or contradicts itself.
        MissingExtra: spaCy is not installed.
    """
    try:
        from spacy.strings import StringStore
    except ImportError:
        raise MissingExtra("Reading .spacy files", "spacy") from None
    message = _message(path)
    try:
        strings = StringStore(message["strings"])
        yield from _docs(message, strings)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        if isinstance(error, InvalidSentence):
            raise DataError(path, str(error)) from None
        raise DataError(
            path,
            f"the parts of this DocBin do not fit together ({type(error).__name__}: {error})",
            right="Right is a file that spaCy wrote with DocBin.to_disk",
        ) from None


def _message(path: Path) -> dict[str, Any]:
    right = "Right is a file that spaCy wrote with DocBin.to_disk"
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(read_bytes(path), MAX_BYTES)
    except zlib.error:
        raise DataError(path, "this is no DocBin of spaCy", right=right) from None
    if stream.unconsumed_tail:
        raise DataError(
            path,
            f"the file holds more than {MAX_BYTES:,} bytes once decompressed",
            right="Split it into several DocBin files",
        )
    try:
        message = _unpack(raw)
    except Exception as error:  # MessagePack has a dozen exceptions, some bare
        what = f"this is no DocBin of spaCy ({type(error).__name__})"
        raise DataError(path, what, right=right) from None
    if not isinstance(message, dict) or not {"attrs", "tokens", "lengths"} <= set(message):
        raise DataError(path, "this is no DocBin of spaCy", right=right)
    return message


def _unpack(raw: bytes) -> Any:
    from srsly.msgpack import unpackb

    # A hook for pairs keeps srsly from adding the decoders that others registered.
    return unpackb(raw, raw=False, use_list=False, object_pairs_hook=dict)


def _docs(message: dict[str, Any], strings: Any) -> Iterator[PackedDoc]:
    from spacy.attrs import IDS

    name_of = {number: name for name, number in IDS.items()}
    names = [name_of.get(attribute, "") for attribute in message["attrs"]]
    lengths: list[int] = np.frombuffer(message["lengths"], "<i4").tolist()
    table: NDArray[np.int64] = np.frombuffer(message["tokens"], "<i8").reshape(-1, len(names))
    spaces: NDArray[np.bool_] = np.frombuffer(message["spaces"], np.bool_)
    if min(lengths, default=0) < 0 or sum(lengths) != len(table) or len(table) != len(spaces):
        raise InvalidSentence("the lengths of documents and their tokens do not fit together")
    if "ORTH" not in names:
        raise InvalidSentence("the DocBin holds no words")
    flags = message.get("flags") or [{}] * len(lengths)
    groups = message.get("span_groups") or [b""] * len(lengths)
    data = message.get("user_data") or [None] * len(lengths)
    begin = 0
    for number, length in enumerate(lengths):
        rows = table[begin : begin + length]
        columns = {name: rows[:, place].tolist() for place, name in enumerate(names)}
        known = not flags[number].get("has_unknown_spaces")
        kinds = columns.get("ENT_TYPE", [0] * length)
        user_data = _unpack(data[number]) if data[number] else None
        yield PackedDoc(
            words=[_string(strings, key) for key in columns["ORTH"]],
            spaces=spaces[begin : begin + length].tolist() if known else None,
            columns=columns,
            labels=[_string(strings, key) if key else "" for key in kinds],
            groups=_groups(groups[number], length, strings),
            user_data=user_data if isinstance(user_data, dict) else {},
        )
        begin += length


def _string(strings: Any, key: int) -> str:
    text = strings[key & 0xFFFF_FFFF_FFFF_FFFF]
    if not text:
        raise InvalidSentence("a token has no text")
    return str(text)


def _groups(packed: bytes, length: int, strings: Any) -> dict[str, list[tuple[int, int, str]]]:
    found: dict[str, list[tuple[int, int, str]]] = {}
    message = _unpack(packed) if packed else {}
    if not isinstance(message, dict):  # before spaCy 3.4: a list, each group with its name
        message = {group: (_unpack(group)["name"],) for group in message}
    for group, keys in message.items():
        spans = [_group_span(span, length, strings) for span in _unpack(group)["spans"]]
        for key in keys:
            found[str(key)] = spans
    return found


def _group_span(span: bytes, length: int, strings: Any) -> tuple[int, int, str]:
    shape = _GROUP_SPAN if len(span) == _GROUP_SPAN.size else _GROUP_SPAN_BEFORE_3_5
    try:
        label, start, end = shape.unpack(span)[-5:-2]
    except struct.error:
        raise InvalidSentence("a span group is not as spaCy writes it") from None
    if not 0 <= start < end <= length:
        raise InvalidSentence(
            f"a span of tokens {start} to {end} does not fit a document of {length} tokens"
        )
    return start, end, str(strings[label]) if label else ""
