"""`biaffine`: a span classifier with a biaffine form on start and end, for complete labels.

Yu et al. 2020, "Named Entity Recognition as Dependency Parsing": a BiLSTM over the encoder, a
projection of every word as a start and one as an end, a biaffine form that scores all labels of all
spans, cross-entropy over all spans. Spans that are entities compete by the raw score of their
label, the highest first; one that overlaps a better one is dropped (`nested=true`: one that crosses
it). What has no label is no entity: the paper is supervised.

Two things differ: spans are at most `model.max_width` words wide, and the encoder is trained, too,
where the paper takes its vectors as they are.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from lacuner.corpus.sentence import Corpus
from lacuner.encoders.recurrent import RecurrentEncoder
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models import Model
from lacuner.models.span_classifier import SpanClassifier
from lacuner.objectives.cross_entropy import SpanCrossEntropy
from lacuner.recipes.parts import (
    DecodingSettings,
    EncoderSettings,
    calibrated,
    encoder_of,
    fit,
    width_of,
)
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.training_settings import TrainingSettings
from lacuner.training.loop import step_seed
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class ContextSettings:
    """The BiLSTM over the encoder.

    Attributes:
        layers: How many lie above one another; 0 leaves it out.
        hidden: Their width, each way.
        dropout: Around and between them.
    """

    layers: int = 1
    hidden: int = 200
    dropout: float = 0.4


@dataclass(frozen=True)
class ProjectionSettings:
    """Vectors to scores of spans.

    Attributes:
        max_width: Words of the widest span; none takes it from the labels: the longest, at least
            10 and at most 30.
        hidden: Width of the projections of start and end.
        dropout: On what is projected.
    """

    max_width: int | None = None
    hidden: int = 150
    dropout: float = 0.2


@dataclass(frozen=True)
class Settings:
    """Settings of `biaffine`.

    Attributes:
        nested: Find entities inside others.
    """

    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    model: ProjectionSettings = field(default_factory=ProjectionSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    decoding: DecodingSettings = field(default_factory=DecodingSettings.unsaid)
    nested: bool = False


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training with cross-entropy on all spans."""
    torch.manual_seed(step_seed(settings.training.seed, "weights"))
    encoder = recurrent_encoder(settings, corpus)
    width = settings.model.max_width or width_of(corpus)
    arguments = {**asdict(settings.model), "max_width": width}
    model = SpanClassifier(encoder, corpus.labels, features="biaffine", **arguments)
    offset, stage = settings.decoding.offset, run.stage("train")
    fit(model, corpus, dev, SpanCrossEntropy(), settings.training, stage, offset=offset)
    return predictor_of(model, corpus, dev, settings)


def recurrent_encoder(settings: Settings, corpus: Corpus) -> Any:
    """The encoder that settings describe, with the BiLSTM over it."""
    encoder = encoder_of(settings.encoder, corpus)
    if settings.context.layers:
        return RecurrentEncoder(encoder, **asdict(settings.context))
    return encoder


def predictor_of(
    model: Model, corpus: Corpus, dev: Corpus | None, settings: Settings
) -> NeuralPredictor:
    """The model, with the paper's decoding."""
    predictor = NeuralPredictor(model, nested=settings.nested, ranking="score")
    return calibrated(predictor, dev, settings.decoding.offset)


BIAFFINE = Recipe(
    name="biaffine",
    title="span classifier: a BiLSTM and a biaffine form; for complete labels",
    citation="Yu et al. 2020",
    settings=Settings,
    train=train,
    unit="span",
    predictor=predictor_of,
    encoder=recurrent_encoder,
    cost=1.2,
)
