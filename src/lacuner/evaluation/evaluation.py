"""`evaluate`: everything that can be said of a corpus of predictions beside its gold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lacuner.corpus.alignment import aligned
from lacuner.corpus.sentence import Corpus, Entity, Sentence
from lacuner.evaluation.lenient_scores import score_boundaries, score_overlaps
from lacuner.evaluation.scores import Pair, Score, Scores, score_by, score_entities


@dataclass(frozen=True)
class Evaluation:
    """How predictions compare with gold.

    Attributes:
        sentences: How many sentences were compared.
        left_out: Sentences of the gold that the predictions do not have; they count nowhere.
        vouched: How many of the compared gold sentences are vouched complete. In the others, too,
            what gold does not label counts as no entity.
        exact: Span and label are right.
        boundaries: The span is right, whatever the label.
        overlap: The label is right and a word is shared, each entity credited once.
        by_length: Exact scores by the number of words of an entity.
        seen: Exact score of entities whose words are an entity of the training corpus, of any
            label; None when no training corpus was given.
        unseen: Exact score of all others.
    """

    sentences: int
    left_out: int
    vouched: int
    exact: Scores
    boundaries: Score
    overlap: Scores
    by_length: dict[int, Score]
    seen: Score | None = None
    unseen: Score | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "sentences": self.sentences,
            "left_out": self.left_out,
            "vouched": self.vouched,
            "exact": self.exact.as_dict(),
            "boundaries": self.boundaries.as_dict(),
            "overlap": self.overlap.as_dict(),
            "by_length": {str(length): score.as_dict() for length, score in self.by_length.items()},
            "seen": self.seen.as_dict() if self.seen else None,
            "unseen": self.unseen.as_dict() if self.unseen else None,
        }


def evaluate(corpus: Corpus, gold: Corpus, train: Corpus | None = None) -> Evaluation:
    """Compares predictions with gold.

    Args:
        corpus: The predictions.
        gold: The same sentences with true labels; it may have more of them.
        train: The corpus that the predictor learned from, with the labels it learned from, to
            tell the entities it has seen from those it has not.

    Raises:
        NotAligned: The sentences are not the same.

    Example:
        >>> gold = Corpus((Sentence("1", ("Ada", "left"), (Entity(0, 1, "PER"),)),))
        >>> evaluate(gold, gold).exact.total.f1
        1.0
    """
    pairs = aligned(corpus, gold)
    by_length = score_by(pairs, lambda sentence, entity: entity.end - entity.start)
    seen, unseen = (None, None) if train is None else _seen_and_unseen(pairs, train)
    return Evaluation(
        sentences=len(pairs),
        left_out=len(gold) - len(pairs),
        vouched=sum(gold_sentence.complete for _, gold_sentence in pairs),
        exact=score_entities(pairs),
        boundaries=score_boundaries(pairs),
        overlap=score_overlaps(pairs),
        by_length=dict(sorted(by_length.items())),
        seen=seen,
        unseen=unseen,
    )


def _seen_and_unseen(pairs: list[Pair], train: Corpus) -> tuple[Score, Score]:
    known = {_words(sentence, entity) for sentence in train for entity in sentence.entities}
    scores = score_by(pairs, lambda sentence, entity: _words(sentence, entity) in known)
    nothing = Score(0, 0, 0)
    return scores.get(True, nothing), scores.get(False, nothing)


def _words(sentence: Sentence, entity: Entity) -> tuple[str, ...]:
    return sentence.tokens[entity.start : entity.end]
