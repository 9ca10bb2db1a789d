"""Scores that forgive: a wrong label, or a wrong boundary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from lacuner.corpus.sentence import Sentence, Span
from lacuner.evaluation.scores import Pair, Score, Scores, sum_of


def score_boundaries(pairs: Iterable[Pair]) -> Score:
    """Forgives labels: an entity is right when its span is."""
    total = Score(0, 0, 0)
    for sentence, gold_sentence in pairs:
        found = {entity.span for entity in sentence.entities}
        gold = {entity.span for entity in gold_sentence.entities}
        total += Score(len(found & gold), len(found), len(gold))
    return total


def score_overlaps(pairs: Iterable[Pair]) -> Scores:
    """Forgives boundaries: an entity is right when it shares a word with one of the same label.

    Each entity is credited once: found and true entities are paired one to one, as many pairs as
    can be. Two halves of one true entity are therefore one right and one wrong.
    """
    by_label: dict[str, Score] = defaultdict(lambda: Score(0, 0, 0))
    for sentence, gold_sentence in pairs:
        found, gold = _spans_by_label(sentence), _spans_by_label(gold_sentence)
        for label in found.keys() | gold.keys():
            ours, true = found.get(label, []), gold.get(label, [])
            by_label[label] += Score(most_overlaps(ours, true), len(ours), len(true))
    return Scores(sum_of(by_label.values()), dict(sorted(by_label.items())))


def most_overlaps(spans: Iterable[Span], others: Iterable[Span]) -> int:
    """How many pairs of overlapping spans there can be, each span being in one pair at most.

    The span that ends first takes, of those it overlaps, the one that ends first. No choice is
    better: whoever else could have taken that one ends later, and so also overlaps whatever ends
    later among those that the first span overlaps.
    """
    waiting = sorted(others, key=_end)
    count = 0
    for start, end in sorted(spans, key=_end):
        partner = next((other for other in waiting if other[0] < end and start < other[1]), None)
        if partner is not None:
            waiting.remove(partner)
            count += 1
    return count


def _end(span: Span) -> int:
    return span[1]


def _spans_by_label(sentence: Sentence) -> dict[str, list[Span]]:
    spans: dict[str, list[Span]] = defaultdict(list)
    for entity in sentence.entities:
        spans[entity.label].append(entity.span)
    return spans
