"""`supervised`: the span classifier on complete labels. The ceiling that others are measured by."""

from __future__ import annotations

from dataclasses import dataclass

from lacuner.corpus.sentence import Corpus
from lacuner.errors import UsageError
from lacuner.inference.predictor import NeuralPredictor
from lacuner.recipes import span_ce
from lacuner.recipes.recipe import Recipe
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class Settings(span_ce.Settings):
    """Settings of `supervised`: those of `span_ce`."""


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """As `span_ce`, once somebody vouches for the labels.

    Raises:
        UsageError: Some sentences are not known to be complete.
    """
    open_sentences = sum(not sentence.complete for sentence in corpus)
    if open_sentences:
        raise UsageError(
            f"The labels of {open_sentences:,} of {len(corpus):,} sentences are not known to be "
            "complete, so that 'supervised' would learn their gaps. If they are complete, say "
            "--complete (in Python: corpus.vouched()); if not, take another recipe."
        )
    return span_ce.train(corpus, dev, settings, run)


SUPERVISED = Recipe(
    name="supervised",
    title="span classifier on complete labels: the ceiling",
    citation="the baseline of Li, Liu & Shi 2021, on gold",
    settings=Settings,
    train=train,
    unit="span",
    needs_negatives=True,
)
