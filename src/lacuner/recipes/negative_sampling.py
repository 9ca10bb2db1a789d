"""`negative_sampling`: of the spans without a label a few, drawn anew in every step, are negatives.

Li, Liu & Shi 2021, "Empirical Analysis of Unlabeled Entity Problem in Named Entity Recognition":
entities are rare, so that a small draw seldom holds one whose label is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.objectives.negative_sampling import RATE, SampledCrossEntropy, UniformSampler
from lacuner.recipes.parts import (
    RobustSpanSettings,
    calibrated,
    train_span_classifier,
)
from lacuner.recipes.recipe import Recipe
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class SamplingSettings:
    """Which spans without a label are negatives.

    Attributes:
        rate: λ: of a sentence with n words ⌈λn⌉ spans are drawn.
        all_trusted: Negatives that somebody vouches for count all, drawn or not.
    """

    rate: float = RATE
    all_trusted: bool = True


@dataclass(frozen=True)
class Settings(RobustSpanSettings):
    """Settings of `negative_sampling`."""

    sampling: SamplingSettings = field(default_factory=SamplingSettings)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training with cross-entropy on entities and drawn negatives."""
    sampler = UniformSampler(settings.sampling.rate)
    objective = SampledCrossEntropy(sampler, all_trusted=settings.sampling.all_trusted)
    model = train_span_classifier(corpus, dev, objective, settings, run)
    return calibrated(NeuralPredictor(model), dev, settings.decoding.offset)


NEGATIVE_SAMPLING = Recipe(
    name="negative_sampling",
    title="span classifier; a few random spans are the negatives",
    citation="Li, Liu & Shi 2021",
    settings=Settings,
    train=train,
    unit="span",
    robust_to=("missing",),
)
