"""Settings: frozen dataclasses to TOML and back, and `a.b=c` from the command line.

Every default lives once, in a dataclass. A key that does not exist is an error that names the
close ones; so is a value of another type.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from lacuner.errors import DataError, UsageError
from lacuner.files import read_text
from lacuner.suggestions import unknown_name

T = TypeVar("T")


def build(kind: type[T], given: Mapping[str, Any], *, inside: str = "") -> T:
    """Makes settings of a kind from nested values; what is not given keeps its default.

    Raises:
        UsageError: A key that does not exist, or a value of another type.
    """
    return _changed(kind, None, given, inside)


def _changed(kind: type[T], default: T | None, given: Mapping[str, Any], inside: str) -> T:
    """Settings of a kind: what is given, else the default's values, else those of the kind."""
    hints = get_type_hints(kind)
    known: dict[str, Field[Any]] = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {} if default is None else {k: getattr(default, k) for k in known}
    for name, value in given.items():
        if name not in known:
            raise UsageError(
                unknown_name("setting", f"{inside}{name}", [inside + k for k in known])
            )
        if is_dataclass(hints[name]):
            if not isinstance(value, Mapping):
                raise UsageError(f"'{inside}{name}' is a group of settings, not {value!r}.")
            # What is not given of a group is as in its default, which may not be the group's own.
            before = values.get(name, _default(known[name]))
            values[name] = _changed(_as_type(hints[name]), before, value, f"{inside}{name}.")
        else:
            values[name] = checked(value, hints[name], inside + name)
    # A group that is not given still must be made from its own defaults.
    for name, field in known.items():
        if name not in values and is_dataclass(hints[name]) and _default(field) is None:
            values[name] = _changed(_as_type(hints[name]), None, {}, f"{inside}{name}.")
    return kind(**values)


def _default(field: Field[Any]) -> Any:
    """The default of a field; None where it has none."""
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


def check_range(
    settings: Any, group: str, names: Iterable[str], least: float, most: float = math.inf
) -> None:
    """Refuses numbers that are out of range; a setting that is None may be.

    Args:
        settings: Whose attributes they are.
        group: The name of the group of settings, for the message.
        names: The settings.
        least: The least that each may be.
        most: The most.

    Raises:
        UsageError: One is out of range.
    """
    for name in names:
        value = getattr(settings, name)
        if value is not None and not (math.isfinite(value) and least <= value <= most):
            bounds = f"at least {least:g}" if math.isinf(most) else f"from {least:g} to {most:g}"
            raise UsageError(f"{group}.{name} is {value:g}, but must be {bounds}.")


def as_dict(settings: Any) -> dict[str, Any]:
    """The nested values of settings, without those that are None, and groups of nothing else."""
    found: dict[str, Any] = {}
    for field in fields(settings):
        value = getattr(settings, field.name)
        if is_dataclass(value):
            if group := as_dict(value):
                found[field.name] = group
        elif value is not None:
            found[field.name] = list(value) if isinstance(value, tuple) else value
    return found


def read_toml(path: Path) -> dict[str, Any]:
    """The values of a TOML file.

    Raises:
        DataError: The file is no TOML.
    """
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DataError(path, f"this is no TOML: {error}") from None


def to_toml(values: Mapping[str, Any]) -> str:
    """Nested values as TOML."""
    lines: list[str] = []
    _write_table(values, "", lines)
    return "\n".join(lines).strip() + "\n"


def with_assignments(values: Mapping[str, Any], assignments: Iterable[str]) -> dict[str, Any]:
    """Nested values changed by `a.b=c`.

    Example:
        >>> with_assignments({"training": {"epochs": 3}}, ["training.epochs=5"])
        {'training': {'epochs': 5}}

    Raises:
        UsageError: Something that is not `name=value`.
    """
    changed = _copy(values)
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        names = path.strip().split(".")
        if not equals or not all(names):
            raise UsageError(
                f"--set takes NAME=VALUE, as in training.epochs=5; '{assignment}' is not that."
            )
        table = changed
        for name in names[:-1]:
            below = table.setdefault(name, {})
            if not isinstance(below, dict):
                raise UsageError(f"'{name}' in '{path}' is no group of settings.")
            table = below
        table[names[-1]] = _parse(text.strip())
    return changed


def flattened(values: Mapping[str, Any], inside: str = "") -> dict[str, Any]:
    """Nested values by their dotted names.

    Example:
        >>> flattened({"loss": {"w": 2.0}, "threshold": 0})
        {'loss.w': 2.0, 'threshold': 0}
    """
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= flattened(value, f"{inside}{name}.")
        else:
            flat[inside + name] = value
    return flat


def _parse(text: str) -> Any:
    """A TOML value, or the text itself: `--set encoder.name=minilm` needs no quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def checked(value: Any, hint: Any, name: str) -> Any:
    """A value, if it is of the type that a setting of that name has.

    Raises:
        UsageError: It is of another type.
    """
    allowed = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for kind in sorted(allowed, key=lambda kind: kind is not NoneType):  # "none" is no word then
        if kind is NoneType:
            if value is None or value == "none":
                return None
        elif get_origin(kind) is tuple:
            if isinstance(value, list | tuple):
                inner = get_args(kind)[0]
                return tuple(checked(item, inner, name) for item in value)
        elif get_origin(kind) is dict:
            if isinstance(value, Mapping):
                inner = get_args(kind)[1]
                return {str(key): checked(item, inner, name) for key, item in value.items()}
        elif kind is float:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return float(value)
        elif kind is Any or type(value) is kind:
            return value
    names = " or ".join(_TYPE_NAMES.get(kind, str(kind)) for kind in allowed)
    raise UsageError(f"The setting '{name}' is {names}; {value!r} is not.")


_TYPE_NAMES: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "a word",
    bool: "true or false",
    NoneType: "none",
}


def _as_type(hint: Any) -> type[Any]:
    assert isinstance(hint, type)
    return hint


def _copy(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _copy(v) if isinstance(v, Mapping) else v for k, v in values.items()}


def _write_table(values: Mapping[str, Any], prefix: str, lines: list[str]) -> None:
    groups = {name: value for name, value in values.items() if isinstance(value, Mapping)}
    for name, value in values.items():
        if name not in groups and value is not None:
            lines.append(f"{_key(name)} = {_value(value)}")
    for name, group in groups.items():
        lines += ["", f"[{prefix}{_key(name)}]"]
        _write_table(group, f"{prefix}{_key(name)}.", lines)


def _key(name: str) -> str:
    plain = name.replace("_", "").replace("-", "")
    return name if plain.isascii() and plain.isalnum() else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'
    )
