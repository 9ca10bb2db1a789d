"""`two_step`: find likely gaps and leave them out, then train afresh.

"Two-step learning" (IJSWIS 20(1), 2024), for any token tagger. Step 1, the stage `explore`: a
tagger sees the labels as they are for n epochs; the ⌈l·m⌉ of m words tagged O whose O-values are
smallest are removed. Step 2, the stage `train`: fresh weights, a loss without the removed words,
and, if asked for, ⌈γ·s⌉ spans of each sentence that get the type NON. Variants are settings:

    without angle          model.angle=false
    without removal        exploration.ell=0
    with sampling          sampling.gamma=0.1
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

import torch

from lacuner.corpus.sentence import Corpus
from lacuner.errors import DataError, UsageError
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models.token_tagger import TokenTagger
from lacuner.models.word_dropout import DROPOUT
from lacuner.objectives.cross_entropy import CrfLikelihood, TagCrossEntropy
from lacuner.objectives.non_entities import check_sampling
from lacuner.objectives.two_step import TwoStepTagging
from lacuner.recipes.exploration import ExplorationSettings, keep_removed, shown_labels
from lacuner.recipes.parts import (
    DecodingSettings,
    EncoderSettings,
    calibrated,
    encoder_of,
    examples_of,
    fit,
)
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.training_settings import TrainingSettings
from lacuner.suggestions import unknown_name
from lacuner.training.loop import step_seed
from lacuner.training.processes import on_main
from lacuner.training.removed_words import ROWS, RemovedRow, read_removed
from lacuner.training.run_folder import Run, Stage
from lacuner.training.state import drop_result, result_path
from lacuner.training.word_removal import RemovedWords

_HEADS, _SCHEMES = ("softmax", "crf"), ("bio", "bioes")


@dataclass(frozen=True)
class ModelSettings:
    """Vectors to scores of tags; see `lacuner.models.token_tagger`.

    Attributes:
        scheme: `bioes` or `bio`.
        head: `crf` or `softmax`.
        angle: Scores that can be compared between words; see `lacuner.models.angle`.
        dropout: Of the head.
    """

    scheme: str = "bioes"
    head: str = "crf"
    angle: bool = True
    dropout: float = DROPOUT

    def __post_init__(self) -> None:
        if self.head not in _HEADS:
            raise UsageError(unknown_name("model.head of two_step", self.head, _HEADS))
        if self.scheme not in _SCHEMES:
            raise UsageError(unknown_name("model.scheme of two_step", self.scheme, _SCHEMES))


@dataclass(frozen=True)
class SamplingSettings:
    """Drawn non-entities; see `lacuner.objectives.non_entities`.

    Attributes:
        gamma: Spans to draw of a sentence, as a share of its words. The paper tries 0, 0.1, 0.2 and
            0.3 on dev; there we found 0 best (docs/two_step.md).
        max_width: Words of the widest span; none draws any, as the paper does.
    """

    gamma: float = 0.0
    max_width: int | None = None

    def __post_init__(self) -> None:
        check_sampling(self.gamma, self.max_width)


@dataclass(frozen=True)
class Settings:
    """Settings of `two_step`."""

    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    exploration: ExplorationSettings = field(default_factory=ExplorationSettings)
    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    decoding: DecodingSettings = field(default_factory=DecodingSettings.unsaid)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """Both steps; what a kill leaves of either is taken up."""
    removed = explore(corpus, settings, run)
    model = _fresh(corpus, settings, non_entities=settings.sampling.gamma > 0)
    sentences = examples_of(model, corpus, run).sentences
    objective = TwoStepTagging(
        model,
        RemovedWords(removed, sentences),
        rate=settings.sampling.gamma,
        max_width=settings.sampling.max_width,
    )
    offset = settings.decoding.offset
    fit(model, corpus, dev, objective, settings.training, run.stage("train"), offset=offset)
    return calibrated(NeuralPredictor(model), dev, offset)


def explore(corpus: Corpus, settings: Settings, run: Run) -> list[RemovedRow]:
    """Step 1, kept in the stage `explore`: the words that shall be removed.

    Every tagger that takes a missing label for O can do without them, so that this also comes
    before other recipes: see `recipes.stages`.
    """
    if not settings.exploration.ell:
        return []
    stage = run.stage("explore")
    if not on_main(lambda: _is_explored(stage)):
        _find_gaps(corpus, settings, stage)
    drop_result(stage)
    return list(read_removed(stage.folder))


def _is_explored(stage: Stage) -> bool:
    """Are the words that shall be removed known?"""
    path = stage.folder / ROWS
    if path.exists():
        return True
    if stage.is_finished and not result_path(stage).exists():
        raise DataError(
            path,
            "the words that the exploration removed are gone, and so is the model that found them",
            right="Begin anew with --overwrite",
        )
    return False


def _find_gaps(corpus: Corpus, settings: Settings, stage: Stage) -> None:
    """Trains for n epochs, and keeps which words shall be removed."""
    own, training, run = settings.exploration, settings.training, stage.run
    seed = step_seed(training.seed, "explore")
    model = _fresh(corpus, settings, "explore")
    shown = shown_labels(corpus, own, seed)
    objective = CrfLikelihood(model) if model.crf is not None else TagCrossEntropy(model)
    few = replace(training, epochs=own.n, patience=None, seed=seed)
    fit(model, shown, None, objective, few, stage)
    examples = examples_of(model, corpus, run)
    on_main(
        lambda: keep_removed(stage, model, examples, shown, own, batch_words=training.batch_words)
    )


def _fresh(
    corpus: Corpus, settings: Settings, *seed: object, non_entities: bool = False
) -> TokenTagger:
    """A tagger that has learnt nothing."""
    torch.manual_seed(step_seed(settings.training.seed, "weights", *seed))
    encoder = encoder_of(settings.encoder, corpus)
    own = asdict(settings.model)
    return TokenTagger(encoder, corpus.labels, non_entities=non_entities, **own)


TWO_STEP = Recipe(
    name="two_step",
    title="token tagger; likely gaps are found and left out of a fresh training",
    citation="two-step PU learning, IJSWIS 20(1), 2024",
    settings=Settings,
    train=train,
    unit="token",
    stages=2,
    cost=1.3,
    robust_to=("missing",),
)
