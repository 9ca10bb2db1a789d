"""`expected_entity_ratio`: a partial CRF that is told which share of words belongs to entities.

Effland & Collins 2021, "Partially Supervised Named Entity Recognition via the Expected Entity Ratio
Loss". Needs no negatives, but a number.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.expected_entity_ratio import MARGIN, RATIO, WEIGHT, ExpectedEntityRatio
from lacuner.objectives.partial_crf import PartialCrfLikelihood
from lacuner.recipes.class_prior import vouched_shares
from lacuner.recipes.crf_tagger import CrfRecipeSettings, train_crf_tagger
from lacuner.recipes.recipe import Recipe
from lacuner.training.run_folder import Run

_LEAST = 1e-3  # a share is neither none nor all


@dataclass(frozen=True)
class EntitySettings:
    """How many words belong to entities.

    Attributes:
        ratio: The share of words that belong to entities, about; none takes that of the sentences
            that somebody vouches for, and where these do not tell, 0.15.
        margin: How far off the model's share may be without a cost.
        weight: What a distance of 1 beyond the margin costs.
    """

    ratio: float | None = None
    margin: float = MARGIN
    weight: float = WEIGHT


@dataclass(frozen=True)
class Settings(CrfRecipeSettings):
    """Settings of `expected_entity_ratio`."""

    entities: EntitySettings = field(default_factory=EntitySettings)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training with the partial likelihood and the hinge on the share of entities."""
    ratio = settings.entities.ratio
    own = replace(settings.entities, ratio=ratio_of(corpus) if ratio is None else ratio)

    def objective(model: TokenTagger) -> ExpectedEntityRatio:
        return ExpectedEntityRatio(PartialCrfLikelihood(model), **asdict(own))

    return train_crf_tagger(corpus, dev, objective, settings, run)


def ratio_of(corpus: Corpus) -> float:
    """The share of words in entities where sentences are complete, if they tell; the paper's."""
    shares = vouched_shares(corpus)
    return RATIO if shares is None else min(max(sum(shares.values()), _LEAST), 1 - _LEAST)


EXPECTED_ENTITY_RATIO = Recipe(
    name="expected_entity_ratio",
    title="CRF; an unlabelled word may have any tag, a known share of words is in entities",
    citation="Effland & Collins 2021",
    settings=Settings,
    train=train,
    unit="token",
    robust_to=("missing",),
)
