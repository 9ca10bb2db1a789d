"""`auto_ner`: ties and breaks between words, then the type of every chunk.

Shang et al. 2018, "Learning Named Entity Tagger using Domain-Specific Dictionary", the second of
its two models. Gaps beside unknown words are skipped; a chunk with several possible labels learns
that it is one of them. In place of its phrase miner, capital letters say which unlabelled words are
unknown (see `lacuner.labelling.likely_names`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import torch

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.labelling.likely_names import with_unlikely_words_outside
from lacuner.models.tie_or_break import TieOrBreak
from lacuner.models.word_dropout import DROPOUT
from lacuner.objectives.tie_or_break import TieOrBreakLoss
from lacuner.recipes.crf_tagger import warn_without_negatives
from lacuner.recipes.fuzzy_crf import UnlabelledSettings
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
class ChunkSettings:
    """Vectors to scores of gaps and chunks; see `lacuner.models.tie_or_break`.

    Attributes:
        max_width: Words of the widest entity; none takes it from the labels: the longest, at least
            10 and at most 30.
        hidden: Width of the heads.
        dropout: Of the heads.
    """

    max_width: int | None = None
    hidden: int = 256
    dropout: float = DROPOUT


@dataclass(frozen=True)
class Settings:
    """Settings of `auto_ner`."""

    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    model: ChunkSettings = field(default_factory=ChunkSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    unlabelled: UnlabelledSettings = field(default_factory=UnlabelledSettings)
    decoding: DecodingSettings = field(default_factory=DecodingSettings.fitted)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training on known gaps and known chunks."""
    told = with_unlikely_words_outside(corpus, settings.unlabelled.unknown)
    warn_without_negatives(told, "auto_ner", run)
    torch.manual_seed(step_seed(settings.training.seed, "weights"))
    encoder = encoder_of(settings.encoder, corpus)
    width = settings.model.max_width or width_of(corpus)
    arguments = {**asdict(settings.model), "max_width": width}
    model = TieOrBreak(encoder, corpus.labels, **arguments)
    offset = settings.decoding.offset
    fit(model, told, dev, TieOrBreakLoss(), settings.training, run.stage("train"), offset=offset)
    return calibrated(NeuralPredictor(model), dev, offset)


AUTO_NER = Recipe(
    name="auto_ner",
    title="ties and breaks between words, then types; gaps beside unknown words are skipped",
    citation="Shang et al. 2018",
    settings=Settings,
    train=train,
    unit="span",
    distils=False,  # ties and breaks are more than a distribution over labels
    robust_to=("missing",),
)
