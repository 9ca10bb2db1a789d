"""`dictionary`: no network at all. The labelled names of training, matched on new text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lacuner.corpus.sentence import Corpus
from lacuner.errors import UsageError
from lacuner.inference.dictionary import DictionaryPredictor
from lacuner.matching.units import detect_units
from lacuner.recipes.recipe import Recipe
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class Settings:
    """Settings of `dictionary`.

    Attributes:
        min_count: Names labelled less often are left out.
    """

    min_count: int = 1


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> DictionaryPredictor:
    """Collects the surface forms of the labels; a form with several labels takes the commonest."""
    labels: dict[str, Counter[str]] = {}
    for sentence in corpus:
        for entity in sentence.entities:
            form = sentence.surface(entity.start, entity.end)
            labels.setdefault(form, Counter())[entity.label] += 1
    names = [
        (form, max(counts, key=lambda label: (counts[label], label)))
        for form, counts in labels.items()
        if counts.total() >= settings.min_count
    ]
    if not names:
        raise UsageError("The corpus has no label, so that there is no name to learn.")
    return DictionaryPredictor(names, units=detect_units(corpus))


DICTIONARY = Recipe(
    name="dictionary",
    title="no network: the labelled names, matched again",
    citation="the distant labels themselves",
    settings=Settings,
    train=train,
    unit="name",
    stages=0,
    cost=0.0,
)
