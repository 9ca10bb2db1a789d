"""`partial_crf`: what is not labelled may be anything, and all of it is summed over.

Tsuboi et al. 2008, "Training Conditional Random Fields Using Incomplete Annotations"; Yang et al.
2018, "Distantly Supervised NER with Partial Annotation Learning and Reinforcement Learning". Needs
negatives that somebody vouches for.
"""

from __future__ import annotations

from dataclasses import dataclass

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.objectives.partial_crf import PartialCrfLikelihood
from lacuner.recipes.crf_tagger import (
    CrfRecipeSettings,
    train_crf_tagger,
    warn_without_negatives,
)
from lacuner.recipes.recipe import Recipe
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class Settings(CrfRecipeSettings):
    """Settings of `partial_crf`."""


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training with the likelihood of all rows of tags that agree with the labels."""
    warn_without_negatives(corpus, "partial_crf", run)
    return train_crf_tagger(corpus, dev, PartialCrfLikelihood, settings, run)


PARTIAL_CRF = Recipe(
    name="partial_crf",
    title="CRF; an unlabelled word may have any tag",
    citation="Tsuboi et al. 2008; Yang et al. 2018",
    settings=Settings,
    train=train,
    unit="token",
    needs_negatives=True,
    robust_to=("missing",),
)
