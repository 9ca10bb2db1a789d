"""The example sentences of a report: which to show, and how they look as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from lacuner.corpus.alignment import aligned
from lacuner.corpus.sentence import Corpus, Entity, Sentence
from lacuner.evaluation.comparison import SIGNS, Mark, compare, marks, pieces

_LONGEST = 40  # words of a sentence that is pleasant to read

LEGEND = (
    '<p class="legend">'
    f'<mark class="found"><b>{SIGNS["found"]} LABEL</b>\u00a0found</mark> '
    f'<mark class="missed"><b>{SIGNS["missed"]} LABEL</b>\u00a0missed</mark> '
    f'<mark class="wrong"><b>{SIGNS["wrong"]} LABEL</b>\u00a0wrong <i>what is true</i></mark></p>'
)


def instructive(
    corpora: Sequence[Corpus], gold: Corpus, count: int
) -> list[tuple[Sentence, list[Sentence]]]:
    """The sentences on which systems differ most, in the order of the gold.

    With one system, those with most that is found beside most that is not.

    Args:
        corpora: What each system says.
        gold: The truth.
        count: How many sentences at most.

    Returns:
        Gold sentences, each with what every system says of it.

    Raises:
        NotAligned: A system's sentences are not those of the gold.
    """
    by_system = [
        {gold_sentence.id: sentence for sentence, gold_sentence in aligned(corpus, gold)}
        for corpus in corpora
    ]
    candidates = []
    for number, sentence in enumerate(gold):
        given = [answers[sentence.id] for answers in by_system if sentence.id in answers]
        interest = _interest(given, sentence) if len(given) == len(corpora) else 0
        if interest:
            candidates.append((len(sentence) > _LONGEST, -interest, number, sentence, given))
    candidates.sort(key=lambda candidate: candidate[:3])
    chosen = sorted(candidates[:count], key=lambda candidate: candidate[2])
    return [(sentence, given) for *_, sentence, given in chosen]


def _interest(given: Sequence[Sentence], gold: Sentence) -> int:
    """How much there is to see: different fates of true entities, and different errors."""
    if not given:
        return 0
    comparisons = [compare(sentence, gold) for sentence in given]
    if len(comparisons) == 1:
        only = comparisons[0]
        return min(len(only.found), len(only.missed) + len(only.wrong))
    found = [{entity.key for entity in comparison.found} for comparison in comparisons]
    wrong = [{entity.key for entity in comparison.wrong} for comparison in comparisons]
    return sum(len(set.union(*keys)) - len(set.intersection(*keys)) for keys in (found, wrong))


def example(names: Sequence[str], given: Sequence[Sentence], gold: Sentence) -> str:
    """A sentence as each system sees it."""
    rows = "".join(
        f'<dt>{escape(name)}</dt><dd dir="auto">{marked(sentence, gold)}</dd>'
        for name, sentence in zip(names, given, strict=True)
    )
    return f'<dl class="example">{rows}</dl>'


def marked(given: Sentence, gold: Sentence) -> str:
    """The text of a sentence with its entities marked; all of it escaped."""
    return "".join(
        escape(text) if mark is None else _mark(text, mark, gold)
        for text, mark in pieces(gold, marks(given, gold))
    )


def _mark(text: str, mark: Mark, gold: Sentence) -> str:
    truth = f" <i>{escape(_truth(mark, gold))}</i>" if mark.kind == "wrong" else ""
    return (
        f'<mark class="{mark.kind}" title="{mark.kind}"><b>{mark.sign} {escape(mark.label)}</b>'
        f"\u00a0{escape(text)}{truth}</mark>"
    )


def _truth(mark: Mark, gold: Sentence) -> str:
    def said(entity: Entity) -> str:
        if entity.span == (mark.start, mark.end):
            return entity.label
        return f"‘{gold.surface(*entity.span)}’ {entity.label}"

    return "is " + (" and ".join(map(said, mark.truth)) or "no entity")
