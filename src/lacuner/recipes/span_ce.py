"""`span_ce`: a span classifier for which every missing label is "no entity". The floor.

What the papers on missing labels are measured against: cross-entropy over all spans up to a width
(Li et al. 2021, "Empirical Analysis of Unlabeled Entity Problem in NER", without their remedy).
"""

from __future__ import annotations

from dataclasses import dataclass

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.objectives.cross_entropy import SpanCrossEntropy
from lacuner.recipes.parts import SpanRecipeSettings, calibrated, train_span_classifier
from lacuner.recipes.recipe import Recipe
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class Settings(SpanRecipeSettings):
    """Settings of `span_ce`."""


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training with cross-entropy on all spans."""
    model = train_span_classifier(corpus, dev, SpanCrossEntropy(), settings, run)
    return calibrated(NeuralPredictor(model), dev, settings.decoding.offset)


SPAN_CE = Recipe(
    name="span_ce",
    title="span classifier; every missing label is taken for no entity",
    citation="the baseline of Li, Liu & Shi 2021",
    settings=Settings,
    train=train,
    unit="span",
)
