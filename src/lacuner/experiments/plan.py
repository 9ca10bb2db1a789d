"""From a study to its runs: which there are, with which settings, and what makes one the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, get_type_hints

import orjson

from lacuner.errors import UsageError
from lacuner.experiments.filters import wanted
from lacuner.experiments.study import (
    CorpusEntry,
    EncoderChoice,
    Profile,
    Settings,
    Study,
    System,
)
from lacuner.models.precision import SINGLE
from lacuner.recipes.encoder_file import (
    content_digest,
    encoder_file_fingerprint,
    is_encoder_file,
)
from lacuner.recipes.stages import resolve
from lacuner.recipes.training import find_recipe
from lacuner.settings import flattened
from lacuner.suggestions import unknown_name

NO_ENCODER = EncoderChoice("none", model="none")
ON_ANY_MACHINE: Settings = {"training": {"precision": SINGLE}}  # unless a study says otherwise


@dataclass(frozen=True)
class RunPlan:
    """One run of a study.

    Attributes:
        study: Name of the study.
        profile: The profile.
        corpus: What it learns from and is scored on.
        masking: Rate at which labels are hidden.
        system: The line of the tables that it belongs to.
        encoder: The encoder; `none` for recipes without one.
        seed: Of the training and of the masking.
        sample_seed: Draws the training sentences.
        settings: All settings of the recipe, resolved.
        probe: Look into the run, too; nothing of its result depends on it.
    """

    study: str
    profile: Profile
    corpus: CorpusEntry
    masking: float
    system: System
    encoder: EncoderChoice
    seed: int
    sample_seed: int
    settings: Settings
    probe: bool = False

    @property
    def public_settings(self) -> Settings:
        """The settings with the study's name of the encoder in place of a path of this machine."""
        if "encoder" not in self.settings:
            return self.settings
        return {**self.settings, "encoder": {**self.settings["encoder"], "name": self.encoder.name}}

    def value(self, filter_name: str) -> str:
        """What `--only NAME=…` compares with."""
        values = {
            "corpus": self.corpus.name,
            "encoder": self.encoder.name,
            "masking": f"{self.masking:g}",
            "recipe": self.system.recipe,
            "seed": str(self.seed),
            "system": self.system.name,
        }
        return values[filter_name]

    def describe(self) -> str:
        """A few words for people."""
        masked = f" p={self.masking:g}" if self.masking else ""
        encoder = "" if self.encoder is NO_ENCODER else f", {self.encoder.name}"
        return f"{self.corpus.name}{masked}: {self.system.name}{encoder}, seed {self.seed}"

    def identity(self, fingerprints: Mapping[str, str | None]) -> str:
        """A name for what the result depends on: the same for the same run, on any machine.

        Args:
            fingerprints: Those of the corpus, see `Material.fingerprints`, and of the encoder.
        """
        facts = {
            "study": self.study,
            "profile": self.profile.name,
            "corpus": dict(fingerprints),
            "masking": self.masking,
            "recipe": self.system.recipe,
            "settings": self.public_settings,
            "seed": self.seed,
            "encoder": self.encoder.name,
        }
        return sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def plan_runs(
    study: Study,
    profile_name: str,
    *,
    encoders: Mapping[str, str] | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> list[RunPlan]:
    """All runs of a profile, in the order in which they are made: seed by seed.

    Args:
        study: The study.
        profile_name: The profile.
        encoders: Names or folders of models, in place of the study's, by its names.
        only: Values that runs must have, by the name of a filter.

    Raises:
        UsageError: A recipe, setting, encoder or value that does not exist.
    """
    profile = study.profile(profile_name)
    chosen = _encoders(study, profile, encoders or {})
    recipes = {system.recipe for system in study.systems}
    for name, settings in [
        (f"[profiles.{profile.name}]", profile.settings),
        *((f"[encoders.{encoder.name}]", encoder.settings) for encoder in chosen),
        *((f"the corpus {corpus.name}", corpus.settings) for corpus in study.corpora.values()),
    ]:
        _check_someone_takes(settings, recipes, name)
    plans: list[RunPlan] = []
    owners: dict[tuple[str, float, str], System] = {}
    for seed, corpus, system in product(profile.seeds, study.corpora.values(), study.systems):
        if not _belongs(system, corpus, profile):
            continue
        fitting = [
            encoder
            for encoder in chosen
            if all(own is None or encoder.name in own for own in (corpus.encoders, system.encoders))
        ]
        if not _has_encoder(system.recipe):
            fitting = [NO_ENCODER]
        for rate, encoder in product(_rates(corpus, system, profile), fitting):
            if owners.setdefault((corpus.name, rate, system.name), system) is not system:
                raise UsageError(
                    f"Two systems are called '{system.name}' on {corpus.name} at masking "
                    f"{rate:g}: give them other names, or other rates."
                )
            settings = _settings(
                system, [profile.settings, encoder.settings, corpus.settings], encoder, seed
            )
            plans.append(
                RunPlan(
                    study.name,
                    profile,
                    corpus,
                    rate,
                    system,
                    encoder,
                    seed,
                    study.sample_seed,
                    settings,
                    study.probe,
                )
            )
    return wanted(plans, RunPlan.value, only or {})


def encoder_fingerprint(encoder: EncoderChoice) -> str:
    """The content of a model's folder or description, or the name of a model that is none."""
    model = encoder.model or ""
    if is_encoder_file(model):
        return encoder_file_fingerprint(Path(model))
    return content_digest(Path(model)) if model and Path(model).is_dir() else model


def _encoders(study: Study, profile: Profile, given: Mapping[str, str]) -> list[EncoderChoice]:
    for name in given:
        if name not in profile.encoders:
            raise UsageError(unknown_name(f"encoder in {profile.name}", name, profile.encoders))
    chosen = []
    for name in profile.encoders:
        encoder = study.encoder(name)
        if name in given:
            encoder = EncoderChoice(name, given[name], encoder.note, encoder.settings)
        chosen.append(encoder)
    return chosen


def _rates(corpus: CorpusEntry, system: System, profile: Profile) -> Iterable[float]:
    if system.is_ceiling:
        return (0.0,) if corpus.is_complete else ()
    masked = any(corpus.masking) and profile.masking is not None
    rates = profile.masking if masked and profile.masking is not None else corpus.masking
    if system.masking is None:
        return rates
    return [rate for rate in rates if rate in system.masking]


def _belongs(system: System, corpus: CorpusEntry, profile: Profile) -> bool:
    return (
        (system.corpora is None or corpus.name in system.corpora)
        and (system.profiles is None or profile.name in system.profiles)
        and (profile.corpora is None or corpus.name in profile.corpora)
    )


def _has_encoder(recipe: str) -> bool:
    return any(field.name == "encoder" for field in fields(find_recipe(recipe).settings))


def _settings(
    system: System, shared: Iterable[Settings], encoder: EncoderChoice, seed: int
) -> Settings:
    """Defaults, then those that systems share, one after another, and the system's own."""
    recipe = find_recipe(system.recipe)
    kind = recipe.settings
    merged = _fitting(kind, ON_ANY_MACHINE)
    for settings in shared:
        merged = _merged(merged, _fitting(kind, settings))
    merged = _merged(merged, system.settings)
    merged = _merged(merged, _fitting(kind, {"encoder": {"name": encoder.model or ""}}))
    merged = _merged(merged, _fitting(kind, {"training": {"seed": seed}}))
    try:
        return resolve(recipe, merged).as_dict()
    except UsageError as error:
        raise UsageError(f"The system '{system.name}' ({system.recipe}): {error}") from None


def _fitting(kind: type[Any], values: Mapping[str, Any]) -> Settings:
    """Those of the values that this kind of settings has a place for."""
    hints = get_type_hints(kind)
    return {
        name: _fitting(hints[name], value)
        if is_dataclass(hints[name]) and isinstance(value, Mapping)
        else value
        for name, value in values.items()
        if name in hints
    }


def _check_someone_takes(values: Settings, recipes: Iterable[str], where: str) -> None:
    kinds = {name: find_recipe(name).settings for name in recipes}
    known = {path for kind in kinds.values() for path in flattened(asdict(kind()))}
    for path in flattened(values):
        # What is below a setting is one that can be given label by label.
        if path not in known and not any(path.startswith(f"{above}.") for above in known):
            raise UsageError(unknown_name(f"setting in {where}", path, sorted(known)))


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> Settings:
    merged = dict(first)
    for name, value in second.items():
        below = merged.get(name)
        if isinstance(value, Mapping):
            merged[name] = _merged(below if isinstance(below, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged
