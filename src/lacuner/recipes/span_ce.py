"""`span_ce`: a span classifier for which every missing label is "no entity". The floor.

What the papers on missing labels are measured against: cross-entropy over all spans up to a width
(Li et al. 2021, "Empirical Analysis of Unlabeled Entity Problem in NER", without their remedy).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models.span_classifier import SpanClassifier
from lacuner.objectives.cross_entropy import SpanCrossEntropy
from lacuner.recipes.parts import (
    EncoderSettings,
    SpanSettings,
    TrainingSettings,
    calibrated,
    encoder_of,
    fit,
)
from lacuner.recipes.recipe import Recipe
from lacuner.training.loop import step_seed
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class Settings:
    """Settings of `span_ce`."""

    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    model: SpanSettings = field(default_factory=SpanSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training with cross-entropy on all spans."""
    torch.manual_seed(step_seed(settings.training.seed, "weights"))
    encoder = encoder_of(settings.encoder, corpus)
    model = SpanClassifier(encoder, corpus.labels, **settings.model.arguments(corpus))
    fit(model, corpus, dev, SpanCrossEntropy(), settings.training, run.stage("train"))
    return calibrated(NeuralPredictor(model), dev)


SPAN_CE = Recipe(
    name="span_ce",
    title="span classifier; every missing label is taken for no entity",
    citation="the baseline of Li, Liu & Shi 2021",
    settings=Settings,
    train=train,
    unit="span",
)
