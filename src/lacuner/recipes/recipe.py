"""The fifth contract: a recipe turns a corpus into a predictor, and reads like its paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import Predictor
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
    """

    name: str
    title: str
    citation: str
    settings: type[Any]
    train: Callable[[Corpus, Corpus | None, Any, Run], Predictor]
    unit: str
