"""Lacuner: named-entity recognisers from labels with gaps."""

from typing import TYPE_CHECKING, Any

from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import read, stream, write
from lacuner.corpus.sentence import Ambiguity, Corpus, Entity, Sentence
from lacuner.errors import DataError, LacunerError

if TYPE_CHECKING:
    from lacuner.adaptation.adapt import adapt
    from lacuner.inference.recogniser import load
    from lacuner.recipes.training import train

__version__ = "0.1.0"

__all__ = [
    "Ambiguity",
    "Corpus",
    "DataError",
    "Entity",
    "Findings",
    "LacunerError",
    "Sentence",
    "adapt",
    "load",
    "read",
    "stream",
    "train",
    "write",
]


def __getattr__(name: str) -> Any:
    """What brings torch, which whoever only reads files need not wait for."""
    if name == "adapt":
        from lacuner.adaptation.adapt import adapt

        return adapt
    if name == "load":
        from lacuner.inference.recogniser import load

        return load
    if name == "train":
        from lacuner.recipes.training import train

        return train
    raise AttributeError(f"module 'lacuner' has no attribute '{name}'")
