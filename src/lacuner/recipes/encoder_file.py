"""An encoder described in a TOML file: for encoders that need more than the common settings.

The file is given as `encoder.name`. It says which encoder of the table it is, and what that takes
besides the settings that all encoders share:

    kind = "lexicon_bert"
    lexicon = "words.vec"        # relative to this file
    transformer = "m3e-small"    # a folder relative to this file, or any name of an encoder
    layer = 1
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import orjson

from lacuner.encoders import ENCODERS, arguments_of
from lacuner.encoders.vector_matrix import files_of_vectors
from lacuner.errors import DataError, UsageError
from lacuner.settings import checked, read_toml
from lacuner.suggestions import unknown_name

_FILES = ("lexicon", "vectors")  # arguments that name a file
_MODEL = "transformer"  # names a folder, or a model that is none
_BUFFER = 1 << 22


@dataclass(frozen=True)
class EncoderFile:
    """What such a file says.

    Attributes:
        kind: A name of `ENCODERS`.
        arguments: What that encoder is built with, paths made absolute.
    """

    kind: str
    arguments: dict[str, Any]


def is_encoder_file(name: str) -> bool:
    """Whether the name of an encoder is that of a file that describes one."""
    return name.endswith(".toml")


def read_encoder_file(path: Path, settings: Collection[str]) -> EncoderFile:
    """Reads and checks a description.

    Args:
        path: The file.
        settings: Names that are for the settings of the run to say.

    Raises:
        DataError: The file is not there or not right.
    """
    path = path.expanduser()
    values = read_toml(path)
    kind = values.pop("kind", None)
    if kind not in ENCODERS:
        raise DataError(
            path,
            "it names no kind of encoder" if kind is None else f"there is no encoder {kind!r}",
            right=f"Right is a line kind = NAME, with one of {', '.join(ENCODERS)}",
        )
    known = arguments_of(ENCODERS[kind].kind)
    for name, value in values.items():
        if name in settings:
            raise DataError(path, f"'{name}' is a setting of the run, as encoder.{name}")
        if name not in known:
            choices = sorted(known.keys() - set(settings))
            raise DataError(path, unknown_name(f"argument of {kind}", name, choices).rstrip("."))
        try:
            values[name] = checked(value, _without_path(known[name].annotation), name)
        except UsageError as error:
            raise DataError(path, str(error).rstrip(".")) from None
    return EncoderFile(kind, {k: _placed(path.parent, k, v) for k, v in values.items()})


def encoder_file_fingerprint(path: Path) -> str:
    """A name for what a description says and for the content of what it names.

    Raises:
        DataError: The file is not right, or what it names is not there.
    """
    described = read_encoder_file(path, settings=())
    facts: dict[str, Any] = {"kind": described.kind}
    for name, value in described.arguments.items():
        place = Path(value) if isinstance(value, str) else None
        if name in _FILES and place is not None:
            facts[name] = [content_digest(file) for file in files_of_vectors(place)]
        elif name == _MODEL and place is not None and place.is_dir():
            facts[name] = content_digest(place)
        else:
            facts[name] = value
    return sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def content_digest(path: Path) -> str:
    """The content of a file, or of a folder and the names in it.

    Raises:
        DataError: There is no such file.
    """
    digest = sha256()
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
    for each in files:
        if each != path:
            digest.update(f"{each.relative_to(path)}\n".encode())
        try:
            with open(each, "rb") as file:
                while piece := file.read(_BUFFER):
                    digest.update(piece)
        except OSError as error:
            raise DataError(each, f"it cannot be opened: {error.strerror}") from None
    return digest.hexdigest()[:16]


def _placed(folder: Path, name: str, value: Any) -> Any:
    """A value, a path in it being relative to the folder of the description."""
    if not isinstance(value, str) or name not in (*_FILES, _MODEL):
        return value
    place = folder / Path(value).expanduser()
    return str(place.resolve()) if name in _FILES or place.is_dir() else value


def _without_path(hint: Any) -> Any:
    """A type without `Path`: a TOML file has strings."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    return Union[tuple(kind for kind in get_args(hint) if kind is not Path)]  # noqa: UP007 (at run time)
