"""What a model is chosen by on dev, and the offset at which its spans become entities.

If a share c of the entities is labelled, whichever they are, a classifier that takes all others for
"no entity" learns c · P(entity) instead of P(entity) (Elkan & Noto 2008): its order is right, its
threshold is not. What the robust losses leave of that shift is one number, taken off the score of
"no entity", which dev shows.

Dev may have gaps itself. Against its labels every model's recall comes out right and its precision
c times too small, so that √(P·R) is √c times too small for all of them and ranks them as gold would
(Lee & Liu 2003); F1 does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lacuner.corpus.alignment import aligned
from lacuner.corpus.sentence import Corpus
from lacuner.errors import UsageError
from lacuner.evaluation.scores import Score, score_entities
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models import Model

FROM_DEV = "dev"
OFFSETS = tuple(half / 2 for half in range(-4, 17))  # from -2 to 8; F1 is flat within a half
LOWER = tuple(half / 2 for half in range(-16, -4))  # where nothing was learnt of negatives


@dataclass(frozen=True)
class OffsetFit:
    """What offsets give on dev.

    Attributes:
        offset: The one with the best `merit`; of equals the least.
        score: The score with it.
        unshifted: The score without any.
    """

    offset: float
    score: Score
    unshifted: Score


def is_gold(dev: Corpus) -> bool:
    """Does somebody vouch for all labels of it?"""
    return all(sentence.complete for sentence in dev)


def merit(score: Score, dev: Corpus) -> float:
    """What models are ranked by: F1 on gold, √(P·R) on labels with gaps."""
    return score.f1 if is_gold(dev) else math.sqrt(score.precision * score.recall)


def fit_offset(predictor: NeuralPredictor, dev: Corpus) -> OffsetFit:
    """Tries the offsets on dev, in one pass of the model; in a second one if the least is best."""
    scores = _scores_at(OFFSETS, predictor, dev)
    merits = {offset: merit(score, dev) for offset, score in scores.items()}
    if merits[OFFSETS[0]] == max(merits.values()) > 0:
        scores |= _scores_at(LOWER, predictor, dev)
    best = max(scores, key=lambda offset: (merit(scores[offset], dev), -abs(offset)))
    return OffsetFit(best, scores[best], scores[0.0])


def offset_of(model: Model, dev: Corpus | None, setting: float | str | None) -> float:
    """The offset with which a model decides, if a setting asks for this one; see `fixed_offset`."""
    fixed = fixed_offset(setting, dev)
    if fixed is None and dev is not None:
        return fit_offset(NeuralPredictor(model), dev).offset
    return fixed or 0.0


def _scores_at(
    offsets: Sequence[float], predictor: NeuralPredictor, dev: Corpus
) -> dict[float, Score]:
    found = predictor.predict_at(dev.sentences, offsets)
    return {
        offset: score_entities(aligned(dev.with_sentences(labelled), dev)).total
        for offset, labelled in zip(offsets, found, strict=True)
    }


def fixed_offset(offset: float | str | None, dev: Corpus | None) -> float | None:
    """The offset that a setting asks for; None where it is to be fitted on dev.

    Raises:
        UsageError: Neither a number nor `dev`.
    """
    if not isinstance(offset, str):
        return offset or 0.0
    if offset != FROM_DEV:
        raise UsageError(f"decoding.offset is a number or '{FROM_DEV}', not '{offset}'.")
    return 0.0 if dev is None else None
