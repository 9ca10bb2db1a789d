"""`scl_rai`: spans of a label are drawn together, and their centres have a say in prediction.

Si et al. 2022, "SCL-RAI: Span-based Contrastive Learning with Retrieval Augmented Inference for
Unlabeled Entity Problem in NER". Its ablations are settings: `contrast.weight=0` is without the
contrastive loss, `retrieval.alpha=0` without retrieval.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from lacuner.corpus.sentence import Corpus
from lacuner.errors import UsageError
from lacuner.inference.predictor import NeuralPredictor
from lacuner.inference.retrieval import ALPHA, Retrieval
from lacuner.models import Model
from lacuner.objectives.contrastive import (
    SCALE,
    TEMPERATURE,
    WEIGHT,
    ContrastiveCrossEntropy,
)
from lacuner.objectives.negative_sampling import SampledCrossEntropy, Sampler, UniformSampler
from lacuner.recipes import weighted_negative_sampling as weighted
from lacuner.recipes.decision_offset import fit_offset, fixed_offset
from lacuner.recipes.parts import RobustSpanSettings, calibrated, train_span_classifier
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.training_settings import epochs_for
from lacuner.suggestions import unknown_name
from lacuner.training.run_folder import Run

SAMPLERS = ("uniform", "weighted")


@dataclass(frozen=True)
class SamplingSettings(weighted.SamplingSettings):
    """Which spans without a label are negatives.

    Attributes:
        sampler: `uniform` or `weighted`; the latter takes form, exponent and floor.
    """

    sampler: str = "uniform"


@dataclass(frozen=True)
class ContrastSettings:
    """The contrastive loss.

    Attributes:
        weight: λ, its share of the loss.
        temperature: τ.
        scale: What it, a mean over spans, is multiplied with.
    """

    weight: float = WEIGHT
    temperature: float = TEMPERATURE
    scale: float = SCALE


@dataclass(frozen=True)
class RetrievalSettings:
    """The second opinion in prediction.

    Attributes:
        alpha: α, its share; `lacuner predict --alpha` changes it after training.
    """

    alpha: float = ALPHA


@dataclass(frozen=True)
class Settings(RobustSpanSettings):
    """Settings of `scl_rai`."""

    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    contrast: ContrastSettings = field(default_factory=ContrastSettings)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training with both losses, then one pass over the corpus for the centres of labels."""
    if settings.model.features == "biaffine":
        raise UsageError("'scl_rai' needs model.features 'interaction' or 'endpoints'.")
    sampler = _sampler(settings.sampling, epochs_for(len(corpus), settings.training))
    cross_entropy = SampledCrossEntropy(sampler, all_trusted=settings.sampling.all_trusted)
    objective = ContrastiveCrossEntropy(cross_entropy, **asdict(settings.contrast))
    model = train_span_classifier(corpus, dev, objective, settings, run)
    return predictor_of(model, corpus, dev, settings)


def predictor_of(
    model: Model, corpus: Corpus, dev: Corpus | None, settings: Settings
) -> NeuralPredictor:
    """The model, with the centres that it gives the labels of the corpus."""
    offset = settings.decoding.offset
    predictor = calibrated(NeuralPredictor(model), dev, offset)
    said = ((batch, output) for _, batch, output in predictor.outputs(corpus.sentences))
    predictor.retrieval = Retrieval.of(said, len(model.labels), settings.retrieval.alpha)
    if dev is not None and fixed_offset(offset, dev) is None:
        predictor.offset = fit_offset(predictor, dev).offset  # retrieval moves it
    return predictor


def _sampler(settings: SamplingSettings, epochs: int) -> Sampler:
    if settings.sampler not in SAMPLERS:
        raise UsageError(unknown_name("sampler", settings.sampler, SAMPLERS))
    if settings.sampler == "weighted":
        return weighted.sampler_of(settings, epochs)
    return UniformSampler(settings.rate)


SCL_RAI = Recipe(
    name="scl_rai",
    title="span classifier; contrastive learning of spans, retrieval in prediction",
    citation="Si et al. 2022",
    settings=Settings,
    train=train,
    unit="span",
    predictor=predictor_of,
    robust_to=("missing",),
)
