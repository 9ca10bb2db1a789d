"""`fuzzy_crf`: unlabelled words that look like names may have any tag, all others are O.

Shang et al. 2018, "Learning Named Entity Tagger using Domain-Specific Dictionary", the first of its
two models. In place of its phrase miner, capital letters say which words look like names (see
`lacuner.labelling.likely_names`); labels that are ambiguous allow several tags.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.labelling.likely_names import with_unlikely_words_outside
from lacuner.objectives.partial_crf import PartialCrfLikelihood
from lacuner.recipes.crf_tagger import (
    CrfRecipeSettings,
    train_crf_tagger,
    warn_without_negatives,
)
from lacuner.recipes.recipe import Recipe
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class UnlabelledSettings:
    """What words without a label are.

    Attributes:
        unknown: Which of them are unknown, all others being taken for O: those that look like
            `names`, `all` (which needs negatives that somebody vouches for), or `none`.
    """

    unknown: str = "names"


@dataclass(frozen=True)
class Settings(CrfRecipeSettings):
    """Settings of `fuzzy_crf`."""

    unlabelled: UnlabelledSettings = field(default_factory=UnlabelledSettings)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training with the likelihood of all rows of tags that agree with labels and guesses."""
    told = with_unlikely_words_outside(corpus, settings.unlabelled.unknown)
    warn_without_negatives(told, "fuzzy_crf", run)
    return train_crf_tagger(told, dev, PartialCrfLikelihood, settings, run)


FUZZY_CRF = Recipe(
    name="fuzzy_crf",
    title="CRF; unlabelled words that look like names may have any tag, all others are O",
    citation="Shang et al. 2018",
    settings=Settings,
    train=train,
    unit="token",
    robust_to=("missing",),
)
