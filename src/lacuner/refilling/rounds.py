"""A round of refilling, kept in its stage: what was found, what it means, what was added.

candidates.jsonl   a line for each span that could be an entity: its sentence, place, label,
                   margin and certainty
gaps.json          how many labels are missing, and how margins become probabilities
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
import orjson

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Corpus, Span
from lacuner.files import read_json, read_json_lines, write_json, written_aside
from lacuner.refilling.candidates import Candidate, margins_of
from lacuner.refilling.filling import FillingSettings, fill, is_added, is_doubt
from lacuner.refilling.gap_estimate import GapEstimate, estimate_gaps
from lacuner.training.run_folder import Stage

_CANDIDATES, _GAPS = "candidates.jsonl", "gaps.json"
_FEWEST = 10  # labels held back, below which they say nothing

HeldSpans = set[tuple[int, Span]]


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
        return (self._folder / _CANDIDATES).exists()

    def keep(
        self, candidates: Sequence[Candidate], held: HeldSpans, rng: np.random.Generator
    ) -> None:
        """Estimates the gaps, and keeps them with the candidates.

        Args:
            candidates: What a model found.
            held: Where labels were held back: the numbers of sentences, and spans.
            rng: For the interval of the estimate.
        """
        is_held = np.array([(c.sentence, (c.start, c.end)) in held for c in candidates], dtype=bool)
        if len(held) >= _FEWEST:
            gaps = estimate_gaps(margins_of(candidates), is_held, len(held), rng)
        else:
            gaps = GapEstimate.unknown(len(held))
        write_json(asdict(gaps), self._folder / _GAPS)
        path = self._folder / _CANDIDATES
        with written_aside(path, overwrite=True) as aside, open(aside, "wb") as file:
            for candidate in candidates:
                file.write(orjson.dumps(asdict(candidate)) + b"\n")

    @cached_property
    def gaps(self) -> GapEstimate:
        """What the labels that were held back say."""
        facts: dict[str, Any] = read_json(self._folder / _GAPS)
        return GapEstimate(**facts)

    @cached_property
    def candidates(self) -> list[Candidate]:
        """What the model found."""
        return [Candidate(**row) for _, row in read_json_lines(self._folder / _CANDIDATES)]

    def counts(self, corpus: Corpus) -> dict[str, int]:
        """How many labels the round adds to a corpus, and of how many spans it is in doubt."""
        filled = self.filled(corpus)
        return {
            "added": sum(is_added(entity) for s in filled for entity in s.entities),
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
        findings.remark(
            f"round {self.number}: {counts['added']:,} labels are put back, nothing is learnt from "
            f"{counts['doubtful']:,} spans in doubt; {missing}"
        )
        return findings

    def filled(self, corpus: Corpus) -> Corpus:
        """The labels of a corpus with those that the round adds."""
        return fill(corpus, self.candidates, self.gaps, self._settings, self.number)


def held_spans(corpus: Corpus, shown: Corpus) -> HeldSpans:
    """Where labels were held back."""
    return {
        (number, span)
        for number, (given, seen) in enumerate(zip(corpus, shown, strict=True))
        for span in {e.span for e in given.entities} - {e.span for e in seen.entities}
    }
