"""The fifth contract: a recipe turns a corpus into a predictor, and reads like its paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import Predictor
from lacuner.models import Model
from lacuner.training.run_folder import Run


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A published method, or what it is measured against.

    Attributes:
        name: What `--recipe` takes.
        title: One line for people.
        citation: Where it comes from.
        settings: The dataclass of its settings, every field with a default.
        train: Trains on a corpus; dev may be None.
        unit: What it decides on: `span`, `token` or `name`.
        predictor: Makes a predictor of a model that learnt by the recipe and went on from there;
            None where nothing but the model matters.
        encoder: Builds its encoder from settings and corpus, where that is more than what
            `settings.encoder` describes; None where it is just that.
        distils: Can an ensemble and self-training follow? They need a model that is nothing but a
            distribution over the labels of words or of spans.
        explores: Can an exploration come before it, which finds likely gaps? It needs a tagger that
            takes missing labels for O, and leaves words in doubt out of its loss.
        needs_negatives: Does it learn only from negatives that somebody vouches for (complete
            sentences, words outside, rejected spans) what is no entity?
        stages: Trainings one after the other, with the default settings.
        cost: What they cost together, as a multiple of one plain training; roughly.
        robust_to: The faults of labels that it is made for: `missing` ones, `wrong` ones.
    """

    name: str
    title: str
    citation: str
    settings: type[Any]
    train: Callable[[Corpus, Corpus | None, Any, Run], Predictor]
    unit: str
    predictor: Callable[[Model, Corpus, Corpus | None, Any], Predictor] | None = None
    encoder: Callable[[Any, Corpus], Any] | None = None
    distils: bool = True
    explores: bool = False
    needs_negatives: bool = False
    stages: int = 1
    cost: float = 1.0
    robust_to: tuple[str, ...] = ()
