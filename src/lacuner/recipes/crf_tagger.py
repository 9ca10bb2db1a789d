"""What the recipes with a CRF share: settings, a training, and a word about missing negatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field

import torch

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models.token_tagger import TokenTagger
from lacuner.models.word_dropout import DROPOUT
from lacuner.objectives.loss import Objective
from lacuner.recipes.parts import DecodingSettings, EncoderSettings, calibrated, encoder_of, fit
from lacuner.recipes.training_settings import TrainingSettings
from lacuner.training.loop import step_seed
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class CrfSettings:
    """Vectors to scores of rows of tags; see `lacuner.models.token_tagger`.

    Attributes:
        scheme: `bioes` or `bio`.
        dropout: Of the head.
    """

    scheme: str = "bioes"
    dropout: float = DROPOUT


@dataclass(frozen=True)
class CrfRecipeSettings:
    """What every recipe with a CRF lets people choose."""

    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    model: CrfSettings = field(default_factory=CrfSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    decoding: DecodingSettings = field(default_factory=DecodingSettings.fitted)


def new_crf_tagger(corpus: Corpus, settings: CrfRecipeSettings, *seed: object) -> TokenTagger:
    """A tagger with fresh weights; those of its head depend on the seed of the training.

    Args:
        corpus: What it shall learn from.
        settings: Its encoder and head.
        seed: What tells it from other taggers of the same run.
    """
    torch.manual_seed(step_seed(settings.training.seed, "weights", *seed))
    encoder = encoder_of(settings.encoder, corpus)
    return TokenTagger(encoder, corpus.labels, head="crf", **asdict(settings.model))


def train_crf_tagger(
    corpus: Corpus,
    dev: Corpus | None,
    objective: Callable[[TokenTagger], Objective],
    settings: CrfRecipeSettings,
    run: Run,
) -> NeuralPredictor:
    """A tagger, trained in the stage `train` with an objective that is made for it."""
    model, offset = new_crf_tagger(corpus, settings), settings.decoding.offset
    stage = run.stage("train")
    fit(model, corpus, dev, objective(model), settings.training, stage, offset=offset)
    return calibrated(NeuralPredictor(model), dev, offset)


def warn_without_negatives(corpus: Corpus, recipe: str, run: Run) -> None:
    """Says why a recipe cannot work on a corpus in which nothing is known to be no entity."""
    if any(map(_has_a_negative, corpus)):
        return
    warning = (
        f"'{recipe}' learns what is no entity only from what somebody vouches for, and this corpus "
        "has nothing of that kind: no complete sentence has a word without a label, no word is "
        "known to be outside, no span was rejected. A model that calls every word an entity "
        "contradicts no label, and that is what comes out; the offset that a gold dev gives mends "
        "much of it. Mark sentences whose labels are complete, or take a recipe that needs none "
        "('lacuner recipes' shows which)."
    )
    findings = Findings()
    findings.remark(warning, warns=True)
    run.report(findings)


def _has_a_negative(sentence: Sentence) -> bool:
    labelled = {word for entity in sentence.entities for word in range(*entity.span)}
    unlabelled_word = len(labelled) < len(sentence)
    return bool(sentence.outside or sentence.rejected) or (sentence.complete and unlabelled_word)
