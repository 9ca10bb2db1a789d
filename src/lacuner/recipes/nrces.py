"""`nrces`: what is not labelled teaches less and less.

Kang et al. 2022, "NRCES": labelled entities learn by cross-entropy; of all other spans a random
half learns by a mixture that passes, epoch by epoch, from cross-entropy to a bounded sigmoid term,
before the network begins to remember the missing labels. The ablations of its Table 5 are settings:

    no random sampling          loss.keep=1
    no sigmoid                  loss.negatives=ce
    no separate training        loss.positives=cs
    sigmoid on positives, too   loss.positives=ce+cs
    plain CE on negatives, too  loss.negatives=ce+cs
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models import Model
from lacuner.objectives.nrces import (
    FIRST,
    KEEP,
    NEGATIVES,
    POSITIVES,
    SIGN,
    NoiseRobustCrossEntropy,
    W,
)
from lacuner.recipes.parts import RobustSpanSettings, calibrated, train_span_classifier
from lacuner.recipes.recipe import Recipe
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class LossSettings:
    """The loss; see `lacuner.objectives.nrces`.

    Attributes:
        w: β = exp(-epoch / w) is the share of cross-entropy: 2 for many missing labels, 10 for few.
        first: The number of the first epoch in β, 1 or 0.
        sign: Of the sigmoid term, `minus` or as `printed` in the paper.
        keep: Share of the unlabelled spans that is used in a step.
        positives: What entities learn by: `ce`, `cs` (the mixture) or `ce+cs`.
        negatives: What all others learn by.
        trust: Negatives that somebody vouches for count all, by plain cross-entropy.
    """

    w: float = W
    first: int = FIRST
    sign: str = SIGN
    keep: float = KEEP
    positives: str = POSITIVES
    negatives: str = NEGATIVES
    trust: bool = True


@dataclass(frozen=True)
class Settings(RobustSpanSettings):
    """Settings of `nrces`.

    Attributes:
        threshold: Entities that are less probable are dropped; raises precision.
    """

    loss: LossSettings = field(default_factory=LossSettings)
    threshold: float = 0.0


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training with the noise-robust loss."""
    objective = NoiseRobustCrossEntropy(**asdict(settings.loss))
    model = train_span_classifier(corpus, dev, objective, settings, run)
    return predictor_of(model, corpus, dev, settings)


def predictor_of(
    model: Model, corpus: Corpus, dev: Corpus | None, settings: Settings
) -> NeuralPredictor:
    """The model, with its threshold."""
    thresholds = dict.fromkeys(model.labels, settings.threshold) if settings.threshold else {}
    predictor = NeuralPredictor(model, thresholds=thresholds)
    return calibrated(predictor, dev, settings.decoding.offset)


NRCES = Recipe(
    name="nrces",
    title="span classifier; unlabelled spans learn by a loss that fades",
    citation="Kang et al. 2022",
    settings=Settings,
    train=train,
    unit="span",
    predictor=predictor_of,
    robust_to=("missing",),
)
