"""A round of refilling, kept in its stage: what was found, what it means, what was changed.

candidates.jsonl   a line for each span that could be an entity: its sentence, place, label,
                   margin and certainty
verdicts.jsonl     the same for labels that were given, each with what a model that has not learnt
                   from it would say instead; no line where there is no such model
gaps.json          how many labels are missing, and how margins become probabilities
beliefs.npy        the probabilities of all tags of all words, where taggers with a CRF looked
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Corpus, Span
from lacuner.errors import UsageError
from lacuner.files import read_json, read_json_lines, write_json, written_aside
from lacuner.refilling.candidates import Candidate, margins_of
from lacuner.refilling.filling import FillingSettings, fill, is_added, is_doubt, wrong_labels
from lacuner.refilling.gap_estimate import Booleans, Floats, GapEstimate, estimate_gaps
from lacuner.refilling.verdicts import Verdict
from lacuner.training.run_folder import Stage

_CANDIDATES, _VERDICTS, _GAPS = "candidates.jsonl", "verdicts.jsonl", "gaps.json"
_BELIEFS = "beliefs.npy"
_FEWEST = 10  # labels held back, below which they say nothing


@dataclass(frozen=True)
class RoundSettings:
    """How models look at a corpus.

    Attributes:
        members: Models that look together; from each of them other labels are held back.
        held_back: Share of the labels that a model does not see, by which it is judged.
        unit: `mention` holds back single mentions, `name` all mentions of a name, as a name that no
            list knows; `auto` looks whether names have a label everywhere or here and there.
    """

    members: int = 3
    held_back: float = 0.1
    unit: str = "auto"

    def __post_init__(self) -> None:
        if self.members < 1:
            raise UsageError(f"rounds.members is {self.members}, but must be at least 1.")
        if not 0 < self.held_back < 1:
            raise UsageError(f"rounds.held_back is a share, not {self.held_back:g}.")
        if self.unit not in ("auto", "mention", "name"):
            raise UsageError(f"rounds.unit is 'auto', 'mention' or 'name', not '{self.unit}'.")


@dataclass(frozen=True)
class Look:
    """What a model says of spans, or words, without a label; some labels were held back from it.

    Attributes:
        margins: Of each span, or of an entity that begins at each word.  # [spans]
        is_held: Was its label held back?  # [spans]
        held_back: How many labels were, those included that are not among the spans.
        names: The words of each span, where all mentions of a name were held back together; none
            where single ones were.
    """

    margins: Floats
    is_held: Booleans
    held_back: int
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, candidates: Sequence[Candidate], corpus: Corpus, shown: Corpus) -> Look:
        """What was found in a corpus of which models were shown the labels of some names."""
        held = _held_spans(corpus, shown)
        is_held = np.array([(c.sentence, c.span) in held for c in candidates], dtype=bool)
        names = tuple(corpus.sentences[c.sentence].surface(*c.span) for c in candidates)
        return cls(margins_of(candidates), is_held, len(held), names)


class Round:
    """A round of a run.

    Args:
        stage: Where it is kept.
        number: Which one, from 1.
        settings: What becomes of spans without a label.
    """

    def __init__(self, stage: Stage, number: int, settings: FillingSettings) -> None:
        self.name, self.number = f"round-{number}", number
        self._folder, self._settings = stage.folder, settings

    def is_finished(self) -> bool:
        """Is it known what was found?"""
        return all((self._folder / name).exists() for name in (_GAPS, _VERDICTS, _CANDIDATES))

    def estimate(self, looks: Sequence[Look], given: int, rng: np.random.Generator) -> GapEstimate:
        """Estimates the gaps, and keeps what is known of them.

        Args:
            looks: What there is to estimate by: one of each model.
            given: How many labels there are, those held back included, in sentences that may miss
                some.
            rng: For the interval of the estimate.
        """
        gaps = replace(estimated(looks, rng), given=given)
        write_json(asdict(gaps), self._folder / _GAPS)
        return gaps

    def keep(self, candidates: Sequence[Candidate], verdicts: Sequence[Verdict]) -> None:
        """Keeps what models found, after which the round is finished.

        Args:
            candidates: Spans without a label.
            verdicts: What models say of labels that they have not learnt by heart.
        """
        self._write(verdicts, _VERDICTS)
        self._write(candidates, _CANDIDATES)  # the last: it says that the round is finished

    def _write(self, rows: Sequence[Candidate] | Sequence[Verdict], name: str) -> None:
        with written_aside(self._folder / name, overwrite=True) as aside, open(aside, "wb") as file:
            for row in rows:
                file.write(orjson.dumps(asdict(row)) + b"\n")

    @property
    def beliefs(self) -> Path:
        """Where taggers keep what they believe of all words; see `refilling.tag_beliefs`."""
        return self._folder / _BELIEFS

    @cached_property
    def gaps(self) -> GapEstimate:
        """What the labels that were held back say."""
        facts: dict[str, Any] = read_json(self._folder / _GAPS)
        return GapEstimate(**facts)

    @cached_property
    def candidates(self) -> list[Candidate]:
        """What models found."""
        return [Candidate(**row) for _, row in read_json_lines(self._folder / _CANDIDATES)]

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """What models say of labels that they have not learnt from."""
        return [Verdict.from_dict(row) for _, row in read_json_lines(self._folder / _VERDICTS)]

    @cached_property
    def wrong(self) -> list[Verdict]:
        """The verdicts by which a label is taken out."""
        return wrong_labels(self.verdicts, self.gaps, self._settings)

    def counts(self, corpus: Corpus) -> dict[str, int]:
        """How many labels the round adds and takes out, and of how many spans it is in doubt."""
        filled = self.filled(corpus)
        return {
            "added": sum(is_added(entity) for s in filled for entity in s.entities),
            "removed": len(self.wrong),
            "doubtful": sum(is_doubt(found) for s in filled for found in s.ambiguous),
        }

    def findings(self, corpus: Corpus) -> Findings:
        """What there is to say of it."""
        counts, gaps, findings = self.counts(corpus), self.gaps, Findings()
        missing = (
            f"only {gaps.held_back} labels could be held back, too few to tell how many are missing"
            if gaps.missing is None
            else f"about {gaps.missing:,.0f} are missing ({gaps.low:,.0f} to {gaps.high:,.0f})"
        )
        if gaps.hardly_any:
            findings.remark(f"{missing}: labels are learnt as they are")
            return findings
        findings.remark(
            f"{counts['added']:,} labels are put back, {counts['removed']:,} taken out, "
            f"{counts['doubtful']:,} spans are in doubt; {missing}"
        )
        return findings

    def filled(self, corpus: Corpus) -> Corpus:
        """The labels of a corpus with those that the round adds, without those it takes out."""
        return fill(corpus, self.candidates, self.gaps, self._settings, self.number, self.verdicts)


def estimated(looks: Sequence[Look], rng: np.random.Generator) -> GapEstimate:
    """What labels that were held back say of those that are missing, if they are enough."""
    held_back = sum(look.held_back for look in looks)
    if held_back < _FEWEST:
        return GapEstimate.unknown(held_back)
    margins = np.concatenate([look.margins for look in looks])
    is_held = np.concatenate([look.is_held for look in looks])
    words = [name for look in looks for name in look.names]
    names = np.unique(words, return_inverse=True)[1] if words else None
    return estimate_gaps(margins, is_held, held_back, rng, looks=len(looks), names=names)


def _held_spans(corpus: Corpus, shown: Corpus) -> set[tuple[int, Span]]:
    """Where labels were held back: numbers of sentences, and spans."""
    return {
        (number, span)
        for number, (given, seen) in enumerate(zip(corpus, shown, strict=True))
        for span in {e.span for e in given.entities} - {e.span for e in seen.entities}
    }
