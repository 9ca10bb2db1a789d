"""Lacuner: named-entity recognisers from labels with gaps."""

from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import read, stream, write
from lacuner.corpus.sentence import Ambiguity, Corpus, Entity, Sentence
from lacuner.errors import DataError, LacunerError

__version__ = "0.1.0"

__all__ = [
    "Ambiguity",
    "Corpus",
    "DataError",
    "Entity",
    "Findings",
    "LacunerError",
    "Sentence",
    "read",
    "stream",
    "write",
]
