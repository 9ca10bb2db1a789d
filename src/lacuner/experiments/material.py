"""What a run of a study learns from and is scored on: read, drawn, masked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lacuner import demo
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import read
from lacuner.corpus.sentence import Corpus
from lacuner.corpus.splits import concatenate
from lacuner.errors import UsageError
from lacuner.experiments.study import CorpusEntry
from lacuner.labelling.masking import Masked, mask
from lacuner.training.provenance import fingerprint


@dataclass(frozen=True)
class Material:
    """The parts of a corpus, before labels are hidden.

    Attributes:
        train: The training sentences of every run, drawn by the study's seed.
        dev: Gold; None where the corpus has none.
        test: Gold.
    """

    train: Corpus
    dev: Corpus | None
    test: Corpus

    def fingerprints(self) -> dict[str, str | None]:
        """Names for the content of the parts."""
        return {
            "train": fingerprint(self.train),
            "dev": None if self.dev is None else fingerprint(self.dev),
            "test": fingerprint(self.test),
        }


def read_material(
    corpus: CorpusEntry,
    data: Path | None,
    *,
    train_sentences: int | None,
    sample_seed: int,
    dev_sentences: int | None = None,
    findings: Findings | None = None,
) -> Material:
    """Reads a corpus and draws the training sentences.

    Args:
        corpus: Which one.
        data: The folder that its files are relative to.
        train_sentences: How many to draw; None takes all, and so does a number that is too large.
        sample_seed: Draws them.
        dev_sentences: How many of dev to draw, in the same way.
        findings: Told what reading had to say.

    Raises:
        UsageError: Files, and no folder to find them in.
        DataError: A file is not there or not right.
    """
    if corpus.embedded:
        train, dev, test = (demo.gold(part) for part in demo.PARTS)
        return Material(
            _sample(train.vouched(complete=corpus.vouched), train_sentences, sample_seed),
            _sample(dev, dev_sentences, sample_seed),
            test,
        )
    if data is None:
        raise UsageError(
            f"The corpus {corpus.name} is read from files: say by --data in which folder they are."
        )
    folder = data

    def part(name: str, *, complete: bool) -> Corpus:
        return read(folder / name, findings=findings or Findings(), complete=complete)

    train = concatenate(
        [part(name, complete=corpus.vouched) for name in corpus.gold]
        + [part(name, complete=False) for name in corpus.distant]
    )
    assert corpus.test is not None, "checked when the study was read"
    chosen_on = None if corpus.dev is None else part(corpus.dev, complete=True)
    return Material(
        _sample(train, train_sentences, sample_seed),
        None if chosen_on is None else _sample(chosen_on, dev_sentences, sample_seed),
        part(corpus.test, complete=True),
    )


def with_gaps(train: Corpus, rate: float, seed: int) -> Masked | None:
    """The training sentences with labels hidden; None at rate 0, where nothing is.

    The same as `lacuner mask --rate RATE --seed SEED`. The seed is that of the run, so that three
    seeds see three maskings and all systems of a seed the same one; a higher rate hides what a
    lower one hides, and more.
    """
    return mask(train, rate, np.random.default_rng(seed)) if rate else None


def _sample(corpus: Corpus, count: int | None, seed: int) -> Corpus:
    if count is None or count >= len(corpus):
        return corpus
    order = np.random.default_rng(seed).permutation(len(corpus))
    return corpus.with_sentences(corpus.sentences[number] for number in sorted(order[:count]))
