"""Where a span becomes an entity: an offset on the score of "no entity", fitted on gold dev.

If a share c of the entities is labelled, whichever they are, a classifier that takes all others for
"no entity" learns c · P(entity) instead of P(entity) (Elkan & Noto 2008): its order is right, its
threshold is not. What the robust losses leave of that shift is one number, which a gold dev shows.
"""

from __future__ import annotations

from lacuner.corpus.alignment import aligned
from lacuner.corpus.sentence import Corpus
from lacuner.errors import UsageError
from lacuner.evaluation.scores import Score, score_entities
from lacuner.inference.predictor import NeuralPredictor

FROM_DEV = "dev"
_OFFSETS = tuple(half / 2 for half in range(-4, 17))  # from -2 to 8; F1 is flat within a half


def best_offset(predictor: NeuralPredictor, gold: Corpus) -> tuple[float, Score]:
    """The offset with the best F1 on gold sentences, and that score; of equals the least."""
    found = predictor.predict_at(gold.sentences, _OFFSETS)
    scores = [score_entities(aligned(gold.with_sentences(s), gold)).total for s in found]
    ranked = zip(_OFFSETS, scores, strict=True)
    return max(ranked, key=lambda pair: (pair[1].f1, -abs(pair[0])))


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
