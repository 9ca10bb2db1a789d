"""`weighted_negative_sampling`: the model itself says which spans to draw as negatives.

Li, Liu & Shi 2022, "Rethinking Negative Sampling for Handling Missing Entity Annotations": spans
that the model is unsure of often, spans that it takes for entities seldom. The weights of the paper
(`sampling.form = "printed"`) cannot keep recognised entities out; the default form can. See
`docs/negative_sampling.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.objectives.negative_sampling import (
    EXPONENT,
    FLOOR,
    SampledCrossEntropy,
    WeightedSampler,
)
from lacuner.recipes import negative_sampling
from lacuner.recipes.parts import RobustSpanSettings, calibrated, train_span_classifier
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.training_settings import epochs_for
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class SamplingSettings(negative_sampling.SamplingSettings):
    """Which spans without a label are negatives.

    Attributes:
        form: Weights as in the paper (`printed`), or such that reach zero (`power`), or those
            with a share for easy spans that grows with what seems to be missing (`adaptive`).
        exponent: μ: how sharply spans that look like entities are avoided.
        floor: κ: the share that is left to spans which the model is sure are no entity.
    """

    form: str = "adaptive"
    exponent: float = EXPONENT
    floor: float = FLOOR


@dataclass(frozen=True)
class Settings(RobustSpanSettings):
    """Settings of `weighted_negative_sampling`."""

    sampling: SamplingSettings = field(default_factory=SamplingSettings)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training with cross-entropy on entities and drawn negatives."""
    sampler = sampler_of(settings.sampling, epochs_for(len(corpus), settings.training))
    objective = SampledCrossEntropy(sampler, all_trusted=settings.sampling.all_trusted)
    model = train_span_classifier(corpus, dev, objective, settings, run)
    return calibrated(NeuralPredictor(model), dev, settings.decoding.offset)


def sampler_of(settings: SamplingSettings, epochs: int) -> WeightedSampler:
    """The sampler that settings describe, for a training of so many epochs."""
    return WeightedSampler(
        epochs,
        rate=settings.rate,
        form=settings.form,
        exponent=settings.exponent,
        floor=settings.floor,
    )


WEIGHTED_NEGATIVE_SAMPLING = Recipe(
    name="weighted_negative_sampling",
    title="span classifier; the negatives are spans that the model finds hard, not entities",
    citation="Li, Liu & Shi 2022",
    settings=Settings,
    train=train,
    unit="span",
    robust_to=("missing",),
)
