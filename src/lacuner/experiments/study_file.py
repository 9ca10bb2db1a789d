"""Reads the TOML file of a study and checks every name in it.

A slip of the pen is found before the first training and not after the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from lacuner.errors import DataError, LacunerError, UsageError
from lacuner.experiments.study import CorpusEntry, EncoderChoice, Profile, Study, System
from lacuner.settings import build, read_toml
from lacuner.suggestions import unknown_name

T = TypeVar("T")

_TABLES = ("corpora", "systems", "profiles", "encoders")


def shipped_studies() -> dict[str, Path]:
    """The studies that come with Lacuner, by name."""
    folder = Path(str(files(__package__) / "studies"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def load_study(study: str | Path) -> Study:
    """A study that ships, or the file of one's own.

    Raises:
        UsageError: There is no study of that name.
        DataError: The file describes no study; the message says what is wrong with it.
    """
    path = shipped_studies().get(str(study)) or Path(study)
    if not path.exists() and path.suffix != ".toml":
        raise UsageError(
            unknown_name("study", str(study), shipped_studies())
            + " A study of your own is given as the path of its TOML file."
        )
    try:
        return parse_study(read_toml(path))
    except DataError:
        raise
    except LacunerError as error:
        raise DataError(path, str(error).rstrip(".")) from None


def parse_study(values: Mapping[str, Any]) -> Study:
    """A study from the values of its file.

    Raises:
        UsageError: Something in it does not exist or does not fit.
    """
    plain = {key: value for key, value in values.items() if key not in _TABLES}
    _need(plain, ("name",), "a study")
    corpora = [_entry(CorpusEntry, table, "[[corpora]]") for table in _list(values, "corpora")]
    systems = [_entry(System, table, "[[systems]]") for table in _list(values, "systems")]
    profiles = _named(Profile, values, "profiles")
    study = Study(
        **vars(build(_Head, plain)),
        corpora=_by_name(corpora, "corpora"),
        systems=tuple(systems),
        profiles=profiles,
        encoders=_named(EncoderChoice, values, "encoders"),
    )
    for kind, found in (("corpus", corpora), ("system", systems), ("profile", profiles)):
        if not found:
            raise UsageError(f"The study has no {kind}.")
    for corpus in corpora:
        _check_corpus(corpus, study)
    for system in systems:
        _check_names("corpus", system.corpora or (), study.corpora)
        _check_names("profile", system.profiles or (), study.profiles)
        _check_names("encoder", system.encoders or (), _encoders(study))
        for rate in system.masking or ():
            _check_names(f"rate of masking for '{system.name}'", [f"{rate:g}"], _rates(study))
    for profile in profiles.values():
        if not profile.encoders or not profile.seeds:
            raise UsageError(f"The profile {profile.name} needs an encoder and a seed at least.")
        _check_names("corpus", profile.corpora or (), study.corpora)
        _check_rates(profile.masking or (), f"The profile {profile.name}")
    return study


@dataclass(frozen=True)
class _Head:
    name: str
    title: str = ""
    sample_seed: int = 0
    probe: bool = False


def _entry(kind: type[T], table: Any, where: str, **given: Any) -> T:
    """One table of the file as a dataclass; its `settings` are checked when recipes are known."""
    if not isinstance(table, Mapping):
        raise UsageError(f"{where} is a table.")
    table = dict(table) | given
    settings = table.pop("settings", {})
    if not isinstance(settings, Mapping):
        raise UsageError(f"The settings in {where} are a table, such as {{ training = … }}.")
    needed = ("name", "recipe") if kind is System else ("name",)
    _need(table, needed, where)
    return build(kind, {**table, "settings": settings}, inside=f"{where} ")


def _list(values: Mapping[str, Any], name: str) -> list[Any]:
    found = values.get(name, [])
    if not isinstance(found, list):
        raise UsageError(f"'{name}' is a list of tables, each under [[{name}]].")
    return found


def _named(kind: type[T], values: Mapping[str, Any], name: str) -> dict[str, T]:
    tables = values.get(name, {})
    if not isinstance(tables, Mapping):
        raise UsageError(f"'{name}' holds tables, such as [{name}.cpu].")
    return {key: _entry(kind, table, f"[{name}.{key}]", name=key) for key, table in tables.items()}


def _by_name(entries: Iterable[CorpusEntry], what: str) -> dict[str, CorpusEntry]:
    found: dict[str, CorpusEntry] = {}
    for entry in entries:
        if found.setdefault(entry.name, entry) is not entry:
            raise UsageError(f"Two {what} have the name '{entry.name}'.")
    return found


def _check_corpus(corpus: CorpusEntry, study: Study) -> None:
    name = f"The corpus {corpus.name}"
    if corpus.embedded and (corpus.gold or corpus.distant or corpus.dev or corpus.test):
        raise UsageError(f"{name} is embedded and has no files.")
    if not corpus.embedded and not (corpus.gold or corpus.distant):
        raise UsageError(f"{name} has no training file: name some as gold or distant.")
    if not corpus.embedded and corpus.test is None:
        raise UsageError(f"{name} has no test file.")
    _check_rates(corpus.masking, name)
    if corpus.distant and any(corpus.masking):
        raise UsageError(f"{name} has distant labels: only gold labels can be masked.")
    if corpus.ceiling is not None:
        _check_names("corpus", [corpus.ceiling], study.corpora)
    _check_names("encoder", corpus.encoders or (), _encoders(study))


def _encoders(study: Study) -> list[str]:
    """Every encoder that some profile uses."""
    return sorted({name for profile in study.profiles.values() for name in profile.encoders})


def _rates(study: Study) -> list[str]:
    """Every rate at which something is masked."""
    rates = {rate for corpus in study.corpora.values() for rate in corpus.masking}
    rates |= {rate for profile in study.profiles.values() for rate in profile.masking or ()}
    return [f"{rate:g}" for rate in sorted(rates)]


def _check_rates(rates: Iterable[float], where: str) -> None:
    for rate in rates:
        if not 0 <= rate < 1:
            raise UsageError(f"{where}: a rate of masking is at least 0 and below 1, not {rate:g}.")


def _check_names(kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            raise UsageError(unknown_name(f"{kind} of the study", name, known))


def _need(table: Mapping[str, Any], names: Iterable[str], where: str) -> None:
    for name in names:
        if name not in table:
            raise UsageError(f"{where} needs a {name}.")
