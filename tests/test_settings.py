"""Settings to TOML and back."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacuner.errors import UsageError
from lacuner.settings import as_dict, build, check_range, to_toml, with_assignments


@dataclass(frozen=True)
class Inner:
    epochs: int = 3
    rate: float = 0.1
    name: str | None = None


@dataclass(frozen=True)
class Outer:
    inner: Inner = field(default_factory=Inner)
    words: tuple[str, ...] = ()
    thresholds: dict[str, float] = field(default_factory=dict)
    freeze: str | int = "none"
    on: bool = False


def test_settings_survive_toml() -> None:
    settings = Outer(Inner(5, 1e-5, 'a "b"\n'), ("x", "y"), {"PER SON": 0.5}, 3, True)
    assert build(Outer, tomllib.loads(to_toml(as_dict(settings)))) == settings


@given(
    st.dictionaries(st.text(), st.one_of(st.text(), st.integers(-(2**60), 2**60), st.booleans()))
)
def test_toml_writing_is_read_back(values: dict[str, object]) -> None:
    clean = {k: v for k, v in values.items() if not _has_surrogate(k) and not _has_surrogate(v)}
    assert tomllib.loads(to_toml(clean)) == clean


def _has_surrogate(value: object) -> bool:
    return isinstance(value, str) and any(0xD800 <= ord(c) < 0xE000 for c in value)


@dataclass(frozen=True)
class Silent:
    name: str | None = None


@dataclass(frozen=True)
class Around:
    silent: Silent = field(default_factory=Silent)


def test_group_that_says_nothing_is_left_out() -> None:
    assert as_dict(Around()) == {}
    assert as_dict(Around(Silent("a"))) == {"silent": {"name": "a"}}


def test_none_takes_a_word_back() -> None:
    assert build(Silent, {"name": "none"}) == Silent(None)


@pytest.mark.parametrize("rate", [-0.1, 1.5, math.nan, math.inf])
def test_number_out_of_range_is_refused(rate: float) -> None:
    check_range(Inner(rate=0.0), "inner", ("rate", "name"), 0, 1)
    with pytest.raises(UsageError, match=r"inner\.rate is .* but must be from 0 to 1\."):
        check_range(Inner(rate=rate), "inner", ("rate",), 0, 1)


@dataclass(frozen=True)
class Different:
    inner: Inner = field(default_factory=lambda: Inner(epochs=9))


def test_rest_of_a_group_is_as_in_its_own_default() -> None:
    assert build(Different, {"inner": {"rate": 0.5}}) == Different(Inner(9, 0.5))
    assert build(Different, {}) == Different()


def test_assignments_change_values() -> None:
    values = with_assignments(
        {"on": False}, ["inner.epochs=7", "inner.name=minilm", "on=true", 'words=["a"]']
    )
    assert build(Outer, values) == Outer(Inner(7, 0.1, "minilm"), ("a",), {}, "none", True)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("inner.epoch=7", r"no setting 'inner\.epoch'\. Did you mean inner\.epochs"),
        ("inner.epochs=many", r"'inner\.epochs' is a whole number; 'many' is not"),
        ("inner.epochs=1.5", "is a whole number"),
        ("inner.rate=true", "is a number"),
        ("on=1", "is true or false"),
        ("inner=3", "is a group of settings"),
        ("inner", "takes NAME=VALUE"),
        ("=3", "takes NAME=VALUE"),
    ],
)
def test_wrong_assignments_say_what_is_right(assignment: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build(Outer, with_assignments({}, [assignment]))


def test_assignment_below_a_value_is_refused() -> None:
    with pytest.raises(UsageError, match="no group of settings"):
        with_assignments({"on": True}, ["on.deep=1"])
