"""`roster`: labels that are wrong as well as missing, as dictionaries give them.

Meng et al. 2021, "Distantly-Supervised Named Entity Recognition with Noise-Robust Learning and
Language Model Augmented Self-Training". Three stages: several taggers learn by a loss that noise
moves little, and drop the labels that they contradict; a fresh one learns their mean; it goes on
with its own sharpened predictions. This file is the first stage; the others, for which `ensemble`,
`self_training` and `augmentation` are the settings, are those that can follow any recipe
(`recipes/stages.py`). The ablations of its Tables 3 and 4 are settings:

    without GCE            loss.q=0
    without removal        removal.threshold=0
    without self-training  self_training.rounds=0
    without ensemble       ensemble.members=1
    without augmentation   augmentation.model not set
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import torch

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models.token_tagger import TokenTagger
from lacuner.models.word_dropout import DROPOUT
from lacuner.objectives.generalized_cross_entropy import WARMUP, NoiseRobustTagging, Q
from lacuner.objectives.label_removal import DROPPED, RARE, THRESHOLD
from lacuner.recipes.ensemble import EnsembleSettings
from lacuner.recipes.parts import (
    DecodingSettings,
    EncoderSettings,
    calibrated,
    encoder_of,
    examples_of,
    fit,
)
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.self_training import AugmentationSettings, SelfTrainingSettings
from lacuner.recipes.training_settings import TrainingSettings, epochs_for, steps_an_epoch
from lacuner.settings import check_range
from lacuner.training.label_removal import LabelRemoval
from lacuner.training.loop import step_seed
from lacuner.training.periodic import PeriodicView, renewal_interval
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class HeadSettings:
    """The head, of two parts: entity or not, and which type. Its tags are IO.

    Attributes:
        dropout: Of the head.
    """

    dropout: float = DROPOUT


@dataclass(frozen=True)
class LossSettings:
    """The loss; see `lacuner.objectives.generalized_cross_entropy`.

    Attributes:
        q: From 0 (cross-entropy) to 1 (mean absolute error).
        warmup: Epochs that learn by cross-entropy first, so that small encoders do not settle for O
            everywhere; the paper has none.
    """

    q: float = Q
    warmup: int = WARMUP

    def __post_init__(self) -> None:
        check_range(self, "loss", ("q",), 0, 1)
        check_range(self, "loss", ("warmup",), 0)


@dataclass(frozen=True)
class RemovalSettings:
    """Labels that do not count; see `lacuner.objectives.label_removal`.

    Attributes:
        threshold: τ: labels that the model finds no more probable are removed; 0 removes none.
        interval: Steps between two decisions; none makes six in a training.
        rare: A type of which more than this share would be removed keeps all its words.
        dropped: Share of the words without a label that a model never sees.
    """

    threshold: float = THRESHOLD
    interval: int | None = None
    rare: float = RARE
    dropped: float = DROPPED

    def __post_init__(self) -> None:
        check_range(self, "removal", ("threshold", "rare", "dropped"), 0, 1)
        check_range(self, "removal", ("interval",), 1)


@dataclass(frozen=True)
class Settings:
    """Settings of `roster`."""

    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    model: HeadSettings = field(default_factory=HeadSettings)
    loss: LossSettings = field(default_factory=LossSettings)
    removal: RemovalSettings = field(default_factory=RemovalSettings)
    training: TrainingSettings = field(  # the rate was found on dev: docs/roster.md
        default_factory=lambda: TrainingSettings(encoder_rate=8e-5)
    )
    ensemble: EnsembleSettings = field(default_factory=lambda: EnsembleSettings(members=5))
    self_training: SelfTrainingSettings = field(
        default_factory=lambda: SelfTrainingSettings(rounds=1)
    )
    augmentation: AugmentationSettings = field(default_factory=AugmentationSettings)
    decoding: DecodingSettings = field(default_factory=DecodingSettings.unsaid)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """Stage 1: one noise-robust model."""
    model = noise_robust_tagger(corpus, dev, settings, run)
    return calibrated(NeuralPredictor(model), dev, settings.decoding.offset)


def noise_robust_tagger(
    corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run
) -> TokenTagger:
    """A tagger that noise moves little, trained in the stage `train`."""
    training = settings.training
    torch.manual_seed(step_seed(training.seed, "weights"))
    encoder = encoder_of(settings.encoder, corpus)
    model = TokenTagger(
        encoder, corpus.labels, scheme="io", head="two_part", **asdict(settings.model)
    )
    examples = examples_of(model, corpus, run)
    removal = LabelRemoval(
        model,
        examples,
        dropped=settings.removal.dropped,
        threshold=settings.removal.threshold,
        rare=settings.removal.rare,
        seed=step_seed(training.seed, "dropped words"),
        batch_words=training.batch_words,
    )
    objective = NoiseRobustTagging(model, **asdict(settings.loss), weights=removal.weights)
    stage = run.stage("train")
    steps = epochs_for(len(examples), training) * steps_an_epoch(len(examples), training)
    interval = renewal_interval(settings.removal.interval, steps)
    view = PeriodicView(
        stage, interval if settings.removal.threshold else None, removal.make, removal.use
    )
    offset = settings.decoding.offset
    fit(model, corpus, dev, objective, training, stage, view=view, offset=offset)
    return model


ROSTER = Recipe(
    name="roster",
    title="token taggers; a robust loss, noisy labels removed, their mean, self-training",
    citation="Meng et al. 2021",
    settings=Settings,
    train=train,
    unit="token",
    explores=True,
    stages=7,
    cost=8.0,
    robust_to=("missing", "wrong"),
)
