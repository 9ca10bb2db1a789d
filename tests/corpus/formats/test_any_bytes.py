"""Whatever the bytes, every reader gives sentences or an error of ours, never another exception."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lacuner import Ambiguity, Corpus, Entity, Sentence, read, write
from lacuner.corpus.formats import FORMATS
from lacuner.errors import LacunerError

# Formats that are only read cannot write their own valid file.
VALID = {"text-jsonl": b'{"id": "a", "text": "Ada left. She won!"}\n{"id": 2, "text": "\\u6771"}\n'}
ANY_BYTES = st.binary(max_size=300) | st.text(max_size=200).map(str.encode)
NEARLY = st.text(
    "O BIES-PERUNK\t\n\r #{}[]()\"':,0123456789\\_abtextlornwdsgi東", max_size=200
).map(str.encode)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.sampled_from([2**53, -(2**31), 0.5, 1e300, "", "O", "Ada", "[]", "[(0, 0, 'PER')]", "\0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["start", "end", "label", "text", "id"]), inner)
    ),
    max_leaves=4,
)

Files = dict[str, bytes]
Mutation = Callable[[bytes], bytes]


def bounded(examples: int) -> settings:
    """No deadline, and so few examples that all formats together take less than a minute."""
    return settings(
        deadline=None, max_examples=examples, suppress_health_check=[HealthCheck.too_slow]
    )


def installed(name: str) -> bool:
    extra = FORMATS[name].extra
    return extra is None or importlib.util.find_spec(extra) is not None


def skip_without_extra(name: str) -> None:
    if not installed(name):
        pytest.skip(f"{name} needs the extra '{FORMATS[name].extra}'")


@cache
def valid_files(name: str) -> tuple[str, Files]:
    """The name of a valid file or folder of the format, and all files that belong to it."""
    format = FORMATS[name]
    title = f"corpus{format.suffixes[0] if format.suffixes else ''}"
    if format.write is None:
        return title, {title: VALID[name]}
    with TemporaryDirectory() as folder:
        write(small_corpus(), Path(folder) / title, format=name)
        found = sorted(file for file in Path(folder).rglob("*") if file.is_file())
        return title, {str(file.relative_to(folder)): file.read_bytes() for file in found}


def small_corpus() -> Corpus:
    first = "Maren Holt left Bergen ."
    offsets = ((0, 5), (6, 10), (11, 15), (16, 22), (23, 24))
    return Corpus(
        (
            Sentence(
                "1",
                tuple(first.split()),
                (Entity(0, 2, "PER", "names.txt:Maren Holt", 0.5), Entity(1, 2, "LOC")),
                rejected=((2, 3),),
                outside=((4, 5),),
                ambiguous=(Ambiguity(3, 4, ("LOC", "ORG")),),
                text=first,
                offsets=offsets,
                document="d",
            ),
            Sentence("2", ("東", "京"), (Entity(0, 2, "LOC"),), complete=True),
            Sentence("3", ("Nobody", "left", "'", '"', "\\")),
        )
    )


@st.composite
def mutations(draw: st.DrawFn) -> Mutation:
    """A way to break bytes."""
    kind = draw(st.sampled_from(["cut", "flip", "insert", "delete", "double", "encode", "end"]))
    place, size = draw(st.floats(0, 1)), draw(st.integers(1, 8))
    extra = draw(NEARLY | st.binary(max_size=8))
    encoding = draw(st.sampled_from(["latin-1", "utf-16", "utf-8-sig", "utf-32", "cp500"]))

    def mutate(raw: bytes) -> bytes:
        at = int(place * len(raw))
        if kind == "cut":
            return raw[:at]
        if kind == "flip":
            return (
                raw[:at]
                + bytes(b ^ (1 << size % 8) for b in raw[at : at + size])
                + raw[at + size :]
            )
        if kind == "insert":
            return raw[:at] + extra + raw[at:]
        if kind == "delete":
            return raw[:at] + raw[at + size :]
        if kind == "double":
            lines = raw.split(b"\n")
            number = int(place * (len(lines) - 1))
            return b"\n".join([*lines[: number + 1], *lines[number:]])
        if kind == "encode":
            return raw.decode("utf-8", "replace").encode(encoding, "replace")
        return raw.replace(b"\n", b"\r\n" if size % 2 else b"\r")

    return mutate


def read_or_refuse(files: Files, title: str, name: str | None) -> Corpus | None:
    """Reads the files; an error of ours is an answer, any other exception fails the test."""
    with TemporaryDirectory() as folder:
        for place, raw in files.items():
            (Path(folder) / place).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / place).write_bytes(raw)
        try:
            corpus = read(Path(folder) / title, format=name)
        except LacunerError as error:
            assert str(error)
            return None
    assert corpus.sentences
    return corpus


@pytest.mark.parametrize("name", FORMATS)
def test_valid_file_is_read_by_name_and_by_detection(name: str) -> None:
    skip_without_extra(name)
    title, files = valid_files(name)
    assert read_or_refuse(files, title, name)
    assert read_or_refuse(files, title, None) == read_or_refuse(files, title, name)


@pytest.mark.parametrize("name", FORMATS)
@bounded(60)
@given(raw=ANY_BYTES | NEARLY)
def test_any_bytes_are_read_or_refused(name: str, raw: bytes) -> None:
    skip_without_extra(name)
    title, files = valid_files(name)
    for place in files:  # of files that belong together, each in turn
        read_or_refuse({**files, place: raw}, title, name)


@pytest.mark.parametrize("name", FORMATS)
@bounded(60)
@given(data=st.data())
def test_mutated_file_is_read_or_refused(name: str, data: st.DataObject) -> None:
    skip_without_extra(name)
    title, files = valid_files(name)
    place = data.draw(st.sampled_from(sorted(files)))
    raw = files[place]
    for mutate in data.draw(st.lists(mutations(), min_size=1, max_size=3)):
        raw = mutate(raw)
    read_or_refuse({**files, place: raw}, title, name)
    read_or_refuse({**files, place: raw}, title, None)


@pytest.mark.parametrize("name", FORMATS)
@bounded(60)
@given(data=st.data())
def test_json_of_another_shape_is_read_or_refused(name: str, data: st.DataObject) -> None:
    skip_without_extra(name)
    title, files = valid_files(name)
    places = [place for place in sorted(files) if place.endswith((".json", ".jsonl"))]
    if not places:
        pytest.skip(f"{name} is no JSON")
    place = data.draw(st.sampled_from(places))
    lines = place.endswith(".jsonl")
    values = [orjson.loads(raw) for raw in (files[place].splitlines() if lines else [files[place]])]
    number = data.draw(st.integers(0, len(values) - 1))
    values[number] = data.draw(reshaped(values[number]))
    raw = b"\n".join(orjson.dumps(value) for value in values)
    read_or_refuse({**files, place: raw}, title, name)
    read_or_refuse({**files, place: raw}, title, None)


@st.composite
def reshaped(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value with something else in one place of it, or something missing."""
    if not value or not isinstance(value, dict | list) or draw(st.integers(0, 5)) == 0:
        return draw(JSON)
    keys = sorted(value) if isinstance(value, dict) else range(len(value))
    key = draw(st.sampled_from(list(keys)))
    copy = value.copy()
    if draw(st.integers(0, 7)) == 0:
        del copy[key]
    else:
        copy[key] = draw(reshaped(value[key]))
    return copy


@bounded(150)
@given(
    raw=ANY_BYTES | NEARLY,
    suffix=st.sampled_from([".txt", ".jsonl", ".json", ".tsv", "", "_text.txt"]),
)
def test_any_bytes_are_recognised_or_refused(raw: bytes, suffix: str) -> None:
    read_or_refuse({f"corpus{suffix}": raw}, f"corpus{suffix}", None)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "raw", [b"[" * 100_000, b'{"a":' * 50_000, b"(" * 100_000, b"a" * 1_000_000, b"\n" * 1000]
)
def test_huge_and_deep_input_is_read_or_refused(name: str, raw: bytes) -> None:
    skip_without_extra(name)
    title, files = valid_files(name)
    place = title if title in files else sorted(files)[0]
    read_or_refuse({**files, place: raw}, title, name)
