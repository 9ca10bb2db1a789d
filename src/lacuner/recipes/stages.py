"""What can come before the training of a recipe, and what can follow it.

An ensemble and self-training can follow any recipe with a network; the groups of settings are
`ensemble`, `self_training` and `augmentation`. Before taggers that take missing labels for O, the
first step of two-step learning can find likely gaps, which they then leave out: `exploration`.
A recipe that these are a part of (RoSTER, BOND, two-step) has them among its own, with its own
defaults; for all others they are kept apart, so that a run that does not use them is described as
if they did not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from lacuner.corpus.sentence import Corpus
from lacuner.errors import UsageError
from lacuner.inference.predictor import NeuralPredictor, Predictor
from lacuner.models import Model
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.token_tagger import TokenTagger
from lacuner.recipes import two_step
from lacuner.recipes.circumstances import Circumstances
from lacuner.recipes.ensemble import EnsembleSettings, train_ensemble
from lacuner.recipes.exploration import ExplorationSettings, with_doubts
from lacuner.recipes.parts import DecodingSettings, calibrated, encoder_of
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.self_training import (
    AugmentationSettings,
    SelfTrainingSettings,
    train_on_own_labels,
)
from lacuner.settings import as_dict, build
from lacuner.suggestions import unknown_name
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class StageSettings:
    """The groups that are offered."""

    exploration: ExplorationSettings = field(default_factory=lambda: ExplorationSettings(ell=0.0))
    ensemble: EnsembleSettings = field(default_factory=EnsembleSettings)
    self_training: SelfTrainingSettings = field(default_factory=SelfTrainingSettings)
    augmentation: AugmentationSettings = field(default_factory=AugmentationSettings)

    @property
    def any(self) -> bool:
        """Does anything follow the training?"""
        return self.ensemble.members > 1 or self.self_training.rounds > 0


@dataclass(frozen=True)
class Resolved:
    """All settings of a run.

    Attributes:
        recipe: Those of the recipe.
        stages: Those of what comes before and follows; the recipe's own, where it has them.
        apart: Names of the groups that are not the recipe's own.
    """

    recipe: Any
    stages: StageSettings
    apart: tuple[str, ...]

    def as_dict(self, *, unused: bool = False) -> dict[str, Any]:
        """Nested values, without those that are None.

        Args:
            unused: Name groups that are not the recipe's own although they say nothing but their
                defaults.
        """
        values = as_dict(self.recipe)
        plain = StageSettings()
        for name in self.apart:
            group = getattr(self.stages, name)
            if unused or group != getattr(plain, name):
                values[name] = as_dict(group)
        return values


def resolve(recipe: Recipe, given: Mapping[str, Any]) -> Resolved:
    """All settings of a run of a recipe; what is not given keeps its default.

    Raises:
        UsageError: A setting that does not exist, or a value that it cannot have.
    """
    own = {one.name for one in fields(recipe.settings)}
    groups = [one.name for one in fields(StageSettings)]
    follows = recipe.distils and {"encoder", "training"} <= own
    apart = tuple(
        name
        for name in groups
        if name not in own and (recipe.explores if name == "exploration" else follows)
    )
    for name in given:
        if name not in own and name not in apart:
            raise UsageError(unknown_name("setting", name, [*sorted(own), *apart]))
    settings = build(recipe.settings, {k: v for k, v in given.items() if k in own})
    stages = build(StageSettings, {k: v for k, v in given.items() if k in apart})
    named = {name: getattr(settings, name) for name in groups if name in own}
    whole = {one: named.get(one, getattr(stages, one)) for one in groups}
    resolved = Resolved(settings, StageSettings(**whole), apart)
    _check_used(resolved)
    return resolved


def _check_used(settings: Resolved) -> None:
    """Refuses settings of a stage that there is not."""
    stages, plain = settings.stages, StageSettings()
    changed = [n for n in settings.apart if getattr(stages, n) != getattr(plain, n)]
    for name, switch, is_on in (
        ("exploration", "exploration.ell to 'auto' or above 0", bool(stages.exploration.ell)),
        ("ensemble", "ensemble.members above 1", stages.ensemble.members > 1),
        ("self_training", "self_training.rounds above 0", stages.self_training.rounds > 0),
        ("augmentation", "self_training.rounds above 0", stages.self_training.rounds > 0),
    ):
        if name in changed and not is_on:
            raise UsageError(f"'{name}' is set, but nothing uses it: set {switch}, too.")


def train_in_stages(
    recipe: Recipe, corpus: Corpus, dev: Corpus | None, settings: Resolved, run: Run
) -> Predictor:
    """Trains with a recipe, and whatever comes before and follows.

    Raises:
        UsageError: Something shall follow that cannot.
    """
    stages, own = settings.stages, settings.recipe
    if "exploration" in settings.apart and stages.exploration.ell:
        corpus = _explored(corpus, settings, run)
    if not stages.any:
        return recipe.train(corpus, dev, own, run)
    augmentation = stages.augmentation.with_encoder(own.encoder.name)
    if stages.self_training.rounds:
        _check_augmentation(augmentation)

    train_one = _Training(recipe, corpus, dev)

    def new_encoder() -> Any:
        if recipe.encoder is not None:
            return recipe.encoder(own, corpus)
        return encoder_of(own.encoder, corpus)

    decoding = getattr(own, "decoding", DecodingSettings())  # recipes on words have none
    given = Circumstances(corpus, dev, own.training, decoding.offset, run)
    if stages.ensemble.members > 1:
        model = train_ensemble(train_one, new_encoder, own, stages.ensemble, given)
    else:
        model = train_one(own, run)
    train_on_own_labels(model, stages.self_training, augmentation, given)
    if recipe.predictor is not None:
        return recipe.predictor(model, corpus, dev, own)
    return calibrated(NeuralPredictor(model), dev, given.offset)


@dataclass(frozen=True)
class _Training:
    """Trains a model by a recipe, here or in another process."""

    recipe: Recipe
    corpus: Corpus
    dev: Corpus | None

    def __call__(self, settings: Any, run: Run) -> Model:
        return _model_of(self.recipe, self.recipe.train(self.corpus, self.dev, settings, run))


def _explored(corpus: Corpus, settings: Resolved, run: Run) -> Corpus:
    """The corpus with likely gaps in doubt."""
    step_1 = two_step.Settings(
        encoder=settings.recipe.encoder,
        exploration=settings.stages.exploration,
        training=settings.recipe.training,
    )
    return with_doubts(corpus, two_step.explore(corpus, step_1, run))


def _model_of(recipe: Recipe, predictor: Predictor) -> Model:
    if isinstance(predictor, NeuralPredictor) and isinstance(
        predictor.model, SpanClassifier | TokenTagger
    ):
        return predictor.model
    raise UsageError(
        f"Neither an ensemble nor self-training can follow '{recipe.name}': its model gives no "
        "distribution over the labels of words or spans."
    )


def _check_augmentation(settings: AugmentationSettings) -> None:
    """Tries the language model, before hours of training have led to it."""
    if settings.model is not None:
        from lacuner.augmentation import Augmenter

        Augmenter(settings.model, rate=settings.rate, top=settings.top)
