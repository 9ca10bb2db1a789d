"""A study is a small TOML file: corpora × masking rates × systems × encoders × seeds.

`docs/bench.md` explains the file. Reading it checks every name, so that a slip of the pen is found
before the first training and not after the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from lacuner.errors import DataError, LacunerError, UsageError
from lacuner.settings import build, read_toml
from lacuner.suggestions import unknown_name

T = TypeVar("T")
Settings = dict[str, Any]

_TABLES = ("corpora", "systems", "profiles", "encoders")


@dataclass(frozen=True)
class CorpusEntry:
    """A corpus of a study; files are relative to the folder of `--data`.

    Attributes:
        name: What tables call it.
        gold: Training files whose labels are complete.
        distant: Training files whose labels have gaps; they are added to the gold ones.
        dev: What models are chosen on; gold. None takes the last model.
        test: What is scored once; gold.
        masking: Rates at which labels of train are hidden.
        ceiling: The corpus whose `supervised` runs are what is retained from; itself when None.
        embedded: The corpus of `lacuner demo`: no files.
    """

    name: str
    gold: tuple[str, ...] = ()
    distant: tuple[str, ...] = ()
    dev: str | None = None
    test: str | None = None
    masking: tuple[float, ...] = (0.0,)
    ceiling: str | None = None
    embedded: bool = False

    @property
    def is_complete(self) -> bool:
        """Has its training part all labels, before any are hidden?"""
        return not self.distant


@dataclass(frozen=True)
class System:
    """A recipe with its settings: a line of the tables.

    Attributes:
        name: What tables call it.
        recipe: A name of `lacuner recipes`.
        published: The name of its published figures in `published.toml`.
        corpora: Only on these.
        masking: Only at these rates.
        profiles: Only in these.
        settings: In place of the recipe's defaults and the profile's settings.
    """

    name: str
    recipe: str
    published: str | None = None
    corpora: tuple[str, ...] | None = None
    masking: tuple[float, ...] | None = None
    profiles: tuple[str, ...] | None = None
    settings: Settings = field(default_factory=dict)

    @property
    def is_ceiling(self) -> bool:
        """Is it what others are measured by? It sees complete labels only."""
        return self.recipe == "supervised"


@dataclass(frozen=True)
class Profile:
    """How large the study is.

    Attributes:
        name: What `--profile` takes.
        encoders: Names of encoders.
        seeds: One run each. The seed also draws which labels are hidden.
        train_sentences: How many training sentences to draw; None takes all.
        masking: Rates in place of the corpora's, for those that have rates above 0.
        settings: For every system, before its own.
    """

    name: str
    encoders: tuple[str, ...] = ("minilm",)
    seeds: tuple[int, ...] = (1, 2, 3)
    train_sentences: int | None = None
    masking: tuple[float, ...] | None = None
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class EncoderChoice:
    """An encoder under the name that the study gives it.

    Attributes:
        name: That name.
        model: What `encoder.name` gets: a name or a folder; None wants `--encoder NAME=PLACE`.
        note: What it is and where to get it.
        settings: For every system with it, before its own.
    """

    name: str
    model: str | None = None
    note: str = ""
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """A study as its file describes it.

    Attributes:
        name: What results are filed under.
        title: One line for people.
        sample_seed: Draws the training sentences, the same for every run.
        corpora: By name.
        systems: Lines of the tables; two may share a name if they share no column.
        profiles: By name.
        encoders: By name; encoders that need no more than their name are not listed.
    """

    name: str
    title: str = ""
    sample_seed: int = 0
    corpora: Mapping[str, CorpusEntry] = field(default_factory=dict)
    systems: tuple[System, ...] = ()
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    encoders: Mapping[str, EncoderChoice] = field(default_factory=dict)

    def profile(self, name: str) -> Profile:
        """The profile of that name.

        Raises:
            UsageError: There is none.
        """
        if name not in self.profiles:
            raise UsageError(unknown_name(f"profile of the study {self.name}", name, self.profiles))
        return self.profiles[name]

    def encoder(self, name: str) -> EncoderChoice:
        """The encoder of that name, listed or not."""
        return self.encoders.get(name) or EncoderChoice(name, model=name)


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
    for profile in profiles.values():
        if not profile.encoders or not profile.seeds:
            raise UsageError(f"The profile {profile.name} needs an encoder and a seed at least.")
    return study


@dataclass(frozen=True)
class _Head:
    name: str
    title: str = ""
    sample_seed: int = 0


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
    known = "settings" in kind.__dataclass_fields__  # type: ignore[attr-defined]
    if settings and not known:
        raise UsageError(f"There are no settings in {where}.")
    built = build(kind, table, inside=f"{where} ")
    if known:
        object.__setattr__(built, "settings", dict(settings))
    return built


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
    for rate in corpus.masking:
        if not 0 <= rate < 1:
            raise UsageError(f"{name}: a rate of masking is at least 0 and below 1, not {rate:g}.")
    if corpus.distant and any(corpus.masking):
        raise UsageError(f"{name} has distant labels: only gold labels can be masked.")
    if corpus.ceiling is not None:
        _check_names("corpus", [corpus.ceiling], study.corpora)


def _check_names(kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            raise UsageError(unknown_name(f"{kind} of the study", name, known))


def _need(table: Mapping[str, Any], names: Iterable[str], where: str) -> None:
    for name in names:
        if name not in table:
            raise UsageError(f"{where} needs a {name}.")
