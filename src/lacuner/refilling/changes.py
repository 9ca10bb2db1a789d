"""What a refilling changed, label by label: what a team takes to its annotators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lacuner.corpus.sentence import Corpus
from lacuner.refilling.candidates import Candidate, margins_of
from lacuner.refilling.filling import is_added, is_doubt
from lacuner.refilling.gap_estimate import GapEstimate
from lacuner.refilling.verdicts import Verdict, rivals_of

ADDED, DOUBTFUL, REMOVED = "added", "doubtful", "removed"


@dataclass(frozen=True)
class Change:
    """A label that was put back or taken out, or a span in doubt.

    Attributes:
        id: The sentence.
        start: Its first word.
        end: The word after its last.
        text: Its words.
        label: The label that was put back or taken out, or the most probable one.
        action: `added`, `removed` or `doubtful`.
        round: In which round that was last done.
        score: The probability that the span is an entity of that label.
        reason: Why, in words.
    """

    id: str
    start: int
    end: int
    text: str
    label: str
    action: str
    round: int
    score: float
    reason: str

    @property
    def sureness(self) -> float:
        """How probable it is that the change is right."""
        return 1 - self.score if self.action == REMOVED else self.score

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def changes(
    filled: Corpus,
    candidates: Sequence[Candidate],
    gaps: GapEstimate,
    round_number: int,
    wrong: Sequence[Verdict] = (),
) -> Iterator[Change]:
    """What a round changed.

    Args:
        filled: The corpus after the round.
        candidates: What its models found.
        gaps: How likely they are.
        round_number: Which round it was.
        wrong: The verdicts by which labels were taken out.
    """
    found_ones = [*candidates, *rivals_of(wrong)]
    chances = gaps.probabilities(margins_of(found_ones)).tolist()
    for found, chance in zip(found_ones, chances, strict=True):
        sentence = filled.sentences[found.sentence]
        span = found.span
        if any(entity.span == span and is_added(entity) for entity in sentence.entities):
            action = ADDED
        elif any(doubt.span == span and is_doubt(doubt) for doubt in sentence.ambiguous):
            action = DOUBTFUL
        else:
            continue
        yield Change(
            sentence.id,
            *span,
            sentence.surface(*span),
            found.label,
            action,
            round_number,
            chance * found.certainty,
            f"an entity with probability {chance:.2f}, then {found.label} with "
            f"{found.certainty:.2f}",
        )
    for one in wrong:
        given, chance = one.given, one.chance(gaps)
        sentence = filled.sentences[given.sentence]
        instead = ", ".join(
            f"'{sentence.surface(*rival.span)}' {rival.label}" for rival in one.rivals
        )
        yield Change(
            sentence.id,
            *given.span,
            sentence.surface(*given.span),
            given.label,
            REMOVED,
            round_number,
            chance * given.certainty,
            f"an entity with probability {chance:.2f}, then {given.label} with "
            f"{given.certainty:.2f}; rather {instead or 'none'}",
        )


@dataclass(frozen=True)
class LabelGaps:
    """What is known of the gaps of one label.

    Attributes:
        given: Labels that the corpus has.
        added: Labels that were put back.
        removed: Labels that were taken out.
        doubtful: Spans in doubt, of which it is the likeliest label.
        missing: How many are missing by estimate; None where that cannot be told.
        low: The lower end of an interval that holds the true number nine times out of ten.
        high: Its upper end.
    """

    given: int
    added: int
    removed: int
    doubtful: int
    missing: float | None
    low: float | None
    high: float | None


def gaps_by_label(
    given: Corpus, changed: Sequence[Change], candidates: Sequence[Candidate], gaps: GapEstimate
) -> Mapping[str, LabelGaps]:
    """The gaps of each label: those of all, shared out as the probable entities without a label.

    Args:
        given: The labels that the corpus has.
        changed: What was changed.
        candidates: What the last round found.
        gaps: What is known of all gaps.
    """
    labelled = Counter(entity.label for sentence in given for entity in sentence.entities)
    actions = Counter((change.label, change.action) for change in changed)
    expected = Counter[str]()
    taken = [{e.span for e in sentence.entities} for sentence in given]
    chances = gaps.probabilities(margins_of(candidates)).tolist()
    for found, chance in zip(candidates, chances, strict=True):
        if found.span not in taken[found.sentence]:
            expected[found.label] += chance
    total = expected.total() or 1.0
    return {
        label: LabelGaps(
            labelled[label],
            actions[label, ADDED],
            actions[label, REMOVED],
            actions[label, DOUBTFUL],
            *(
                None if count is None else count * expected[label] / total
                for count in (gaps.missing, gaps.low, gaps.high)
            ),
        )
        for label in given.labels
    }
