"""Step 1 of `two_step`, which can come before other taggers, too.

What a short training says of words without a label, kept in its stage.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Ambiguity, Corpus, Sentence
from lacuner.errors import UsageError
from lacuner.labelling.holding_back import hold_back
from lacuner.models.batching import Examples
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.removal_share import GRID, ChosenShare, chosen_share
from lacuner.training.removed_words import RemovedRow, write_removed
from lacuner.training.run_folder import Stage
from lacuner.training.word_removal import (
    OutsideWords,
    emptied_sentences,
    measured,
    outside_words,
    removed_rows,
)

AUTO = "auto"
DOUBT = "exploration:doubt"


@dataclass(frozen=True)
class ExplorationSettings:
    """A short training that finds likely gaps; see `docs/two_step.md`.

    Attributes:
        n: Its epochs. The paper tries 1, 2 and 3.
        ell: Which share of the words without a label is removed. The paper tries 0.1 times 1/32,
            1/16, 1/8, 1/4, 1/2 and 1, and 0.15; more for more gaps, the smallest for data as it is
            found. `auto` chooses without gold, by entities that are held back. 0 removes none.
        held_back: Share of the labelled entities that the short training does not see, for `auto`.
    """

    n: int = 2
    ell: float | str = AUTO
    held_back: float = 0.2

    def __post_init__(self) -> None:
        if self.n < 1:
            raise UsageError(f"exploration.n is {self.n}, but must be at least 1 epoch.")
        if isinstance(self.ell, str) and self.ell != AUTO:
            raise UsageError(
                f"exploration.ell is '{self.ell}', but must be a number from 0 to 1, or 'auto'."
            )
        if not isinstance(self.ell, str) and not 0 <= self.ell < 1:
            raise UsageError(
                f"exploration.ell is {self.ell:g}, but must be at least 0 and below 1: a share of "
                "the words without a label, of which some must be left."
            )
        if not 0 < self.held_back < 1:
            raise UsageError(
                f"exploration.held_back is {self.held_back:g}, but must be between 0 and 1."
            )


def shown_labels(corpus: Corpus, settings: ExplorationSettings, seed: int) -> Corpus:
    """The corpus as the short training sees it: for `auto`, without some of its entities."""
    return hold_back(corpus, settings.held_back, seed) if settings.ell == AUTO else corpus


def keep_removed(
    stage: Stage,
    model: TokenTagger,
    examples: Examples,
    shown: Corpus,
    settings: ExplorationSettings,
    *,
    batch_words: int,
) -> None:
    """Finds the words to remove, and writes them to the stage.

    Args:
        stage: Where to.
        model: Has seen the labels for a few epochs.
        examples: The sentences with all their labels.
        shown: The sentences as the model saw them.
        settings: How many to remove.
        batch_words: Most places for words in a batch, padding included.
    """
    sentences, hidden = examples.sentences, stage.run.hidden
    seen = [sentence for sentence in shown if sentence.tokens]
    words = outside_words(model, examples, seen, batch_words=batch_words)
    chosen = None
    if settings.ell == AUTO:
        chosen = chosen_share(words.values[words.doubtful], words.values[words.held_back])
        share = GRID[0] if chosen is None else chosen.share
    else:
        share = float(settings.ell)
    removed = words.removed(share)
    gone = None if hidden is None else [sentence for sentence in hidden if sentence.tokens]
    rows = removed_rows(words, removed, sentences, gone)
    emptied = emptied_sentences(words, removed, sentences)
    summary: dict[str, Any] = {
        "ell": share,
        "auto": settings.ell == AUTO,
        "candidates": int(words.doubtful.sum()),
        "removed": int(removed.sum()),
        "sentences": len(rows),
        "emptied_sentences": len(emptied),
        "expected": None if chosen is None else asdict(chosen),
        "measured": None if gone is None else measured(words, removed, gone),
    }
    stage.run.report(_findings(words, share, chosen, settings, emptied, summary))
    write_removed(stage.folder, rows, summary)


def with_doubts(corpus: Corpus, removed: Iterable[RemovedRow]) -> Corpus:
    """The corpus with its removed words in doubt: a tagger that takes missing labels for O leaves
    words of ambiguous spans out of its loss.
    """
    words = {row.sentence.id: row.words for row in removed}
    return corpus.with_sentences(
        sentence.with_labels(
            sentence.entities,
            [
                *sentence.ambiguous,
                *(Ambiguity(word, word + 1, (), DOUBT) for word in words.get(sentence.id, ())),
            ],
        )
        for sentence in corpus
    )


def _findings(
    words: OutsideWords,
    share: float,
    chosen: ChosenShare | None,
    settings: ExplorationSettings,
    emptied: list[Sentence],
    summary: dict[str, Any],
) -> Findings:
    """What there is to say of a removal."""
    findings = Findings()
    why = ""
    if settings.ell == AUTO:
        why = (
            f", the smallest of the grid, as only {int(words.held_back.sum())} words of entities "
            "could be held back to choose by"
            if chosen is None
            else f", chosen by itself; expected precision about {chosen.precision:.2f}, recall "
            f"{chosen.recall:.2f}"
        )
    findings.remark(
        f"{summary['removed']:,} of {summary['candidates']:,} words without a label are left out "
        f"of training (ell {share:.4g}{why}); 'lacuner show-removed' shows them"
    )
    for sentence in emptied:
        findings.lose(
            "sentence whose words without a label are all left out: only its labels teach"
            if sentence.entities
            else "sentence without labels whose words are all left out: it teaches nothing",
            sentence.id,
            f"ell is {share:.4g}; a smaller exploration.ell keeps more",
        )
    return findings
