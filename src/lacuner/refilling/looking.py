"""Models look at sentences: which labels they miss, and which of theirs are wrong."""

from __future__ import annotations

from collections.abc import Sequence

from lacuner.corpus.sentence import Sentence
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.token_tagger import TokenTagger
from lacuner.refilling.candidates import Candidate, find_candidates
from lacuner.refilling.tagged_runs import find_tagged, judge_by_tags
from lacuner.refilling.verdicts import Verdict, judge_labels


def look_at(
    models: Sequence[SpanClassifier | TokenTagger],
    shown: Sequence[Sentence],
    given: Sequence[Sentence],
    *,
    batch_words: int,
    judging: bool,
) -> tuple[list[Candidate], list[Verdict]]:
    """What could be an entity though no label says so, and what there is to say of labels.

    Args:
        models: Whose mean probabilities count.
        shown: Sentences with the labels that a round shows.
        given: The same with all labels that were given.
        batch_words: Most places for words in a batch, padding included.
        judging: Whether to speak of labels.
    """
    taggers = [model for model in models if isinstance(model, TokenTagger)]
    if taggers:
        found = find_tagged(taggers, shown, batch_words=batch_words)
        judged = judge_by_tags(taggers, given, batch_words=batch_words) if judging else []
        return found, judged
    classifiers = [model for model in models if isinstance(model, SpanClassifier)]
    found = find_candidates(classifiers, shown, batch_words=batch_words)
    judged = judge_labels(classifiers, given, batch_words=batch_words) if judging else []
    return found, judged
