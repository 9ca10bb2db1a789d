"""`token_ce`: a token tagger for which every missing label is O. The other floor."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import torch

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.cross_entropy import CrfLikelihood, TagCrossEntropy
from lacuner.recipes.parts import (
    DecodingSettings,
    EncoderSettings,
    TaggerSettings,
    calibrated,
    encoder_of,
    fit,
)
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.training_settings import TrainingSettings
from lacuner.training.loop import step_seed
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class Settings:
    """Settings of `token_ce`."""

    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    model: TaggerSettings = field(default_factory=TaggerSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    decoding: DecodingSettings = field(default_factory=DecodingSettings.unsaid)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training with cross-entropy on tags, or the likelihood of a CRF."""
    model = train_tagger(corpus, dev, settings, run)
    return calibrated(NeuralPredictor(model), dev, settings.decoding.offset)


def train_tagger(
    corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run, most_steps: int | None = None
) -> TokenTagger:
    """A tagger for which every missing label is O, trained in the stage `train`."""
    torch.manual_seed(step_seed(settings.training.seed, "weights"))
    encoder = encoder_of(settings.encoder, corpus)
    model = TokenTagger(encoder, corpus.labels, **asdict(settings.model))
    objective = CrfLikelihood(model) if settings.model.head == "crf" else TagCrossEntropy(model)
    fit(
        model,
        corpus,
        dev,
        objective,
        settings.training,
        run.stage("train"),
        most_steps=most_steps,
        offset=settings.decoding.offset,
    )
    return model


TOKEN_CE = Recipe(
    name="token_ce",
    title="token tagger; every missing label is taken for O",
    citation="the common baseline; with model.head=crf, Lample et al. 2016 on any encoder",
    settings=Settings,
    train=train,
    unit="token",
    explores=True,
)
