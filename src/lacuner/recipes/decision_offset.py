"""Where a span becomes an entity: an offset on the score of "no entity", fitted on gold dev.

If a share c of the entities is labelled, whichever they are, a classifier that takes all others for
"no entity" learns c · P(entity) instead of P(entity) (Elkan & Noto 2008): its order is right, its
threshold is not. What the robust losses leave of that shift is one number, which a gold dev shows.
"""

from __future__ import annotations

from dataclasses import dataclass

from lacuner.corpus.alignment import aligned
from lacuner.corpus.sentence import Corpus
from lacuner.errors import UsageError
from lacuner.evaluation.scores import Score, score_entities
from lacuner.inference.predictor import NeuralPredictor

FROM_DEV = "dev"
_OFFSETS = tuple(half / 2 for half in range(-4, 17))  # from -2 to 8; F1 is flat within a half


@dataclass(frozen=True)
class OffsetFit:
    """What offsets give on a gold dev.

    Attributes:
        offset: The one with the best F1; of equals the least.
        score: The score with it.
        unshifted: The score without any.
    """

    offset: float
    score: Score
    unshifted: Score


def fit_offset(predictor: NeuralPredictor, gold: Corpus) -> OffsetFit:
    """Tries the offsets on gold sentences, in one pass of the model."""
    found = predictor.predict_at(gold.sentences, _OFFSETS)
    scores = {
        offset: score_entities(aligned(gold.with_sentences(labelled), gold)).total
        for offset, labelled in zip(_OFFSETS, found, strict=True)
    }
    best = max(_OFFSETS, key=lambda offset: (scores[offset].f1, -abs(offset)))
    return OffsetFit(best, scores[best], scores[0.0])


def fixed_offset(offset: float | str, dev: Corpus | None) -> float | None:
    """The offset that a setting asks for; None where it is to be fitted on dev.

    Without a dev that somebody vouches for nothing can be fitted, and the offset is 0.

    Raises:
        UsageError: Neither a number nor `dev`.
    """
    if isinstance(offset, str):
        if offset != FROM_DEV:
            raise UsageError(f"decoding.offset is a number or '{FROM_DEV}', not '{offset}'.")
        gold = dev is not None and all(sentence.complete for sentence in dev)
        return None if gold else 0.0
    return offset
