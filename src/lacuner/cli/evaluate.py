"""`lacuner evaluate`: how predictions compare with gold, and with another system's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from lacuner.cli.console import (
    Json,
    Overwrite,
    Quiet,
    Seed,
    print_json,
    reading_shown,
    results,
    say,
    tell,
)
from lacuner.cli.reading_options import Reading, takes_reading
from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Corpus
from lacuner.errors import OutputExists, UsageError
from lacuner.evaluation import plots
from lacuner.evaluation.bootstrap import RESAMPLES, Difference, compare_systems
from lacuner.evaluation.evaluation import Evaluation
from lacuner.evaluation.evaluation import evaluate as evaluate_corpus
from lacuner.evaluation.scores import Average, Score, sum_of

_LONG = 6  # entities of so many words and more share a row


@takes_reading
def evaluate(
    predicted: Annotated[Path, typer.Argument(help="Corpus with predicted labels.")],
    gold: Annotated[
        Path,
        typer.Option("--gold", metavar="FILE", help="The same sentences with true labels."),
    ],
    reading: Reading,
    train: Annotated[
        Path | None,
        typer.Option(
            "--train",
            metavar="FILE",
            help="The training corpus, to tell seen entities from unseen ones.",
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against", metavar="FILE", help="Another system's predictions, to test against."
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option("--resamples", help="Resamples of that test.")
    ] = RESAMPLES,
    seed: Seed = 0,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the scores by label, as .svg or .png."),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score predictions against gold: exact, lenient, by label, by length, seen and unseen.

    The exact scores are those of seqeval and conlleval. The options of reading hold for all files,
    but --from and --label-file are about PREDICTED (and --from about --against) only. Tags that
    break their scheme count as seqeval and conlleval count them with --repair.

    Example: lacuner evaluate predicted.jsonl --gold test.conll --train train.conll
    """
    if plot is not None:
        plots.check_plot(plot)
        if plot.exists() and not overwrite:
            raise OutputExists(plot)
    if resamples < 1:
        raise UsageError(f"--resamples is {resamples}. Right is 1 or more.")
    findings = Findings()
    found_out = replace(reading, format=None, options={**reading.options, "label_file": None})

    def read(path: Path, how: Reading = found_out) -> Corpus:
        with reading_shown(path, quiet=quiet or json):
            return how.read(path, findings)

    corpus, truth = read(predicted, reading), read(gold)
    evaluation = evaluate_corpus(corpus, truth, read(train) if train else None)
    difference = None
    if against is not None:
        other = read(against, replace(found_out, format=reading.format))
        difference = compare_systems(
            corpus, other, truth, np.random.default_rng(seed), resamples=resamples
        )
    if plot is not None:
        figure = plots.label_figure(evaluation.exact, title=f"{predicted.name}: exact scores")
        plots.save(figure, plot, overwrite=overwrite, findings=findings)
    tell(findings, quiet=quiet or json)
    if json:
        against_gold = {"difference": difference.as_dict()} if difference else {}
        print_json({**evaluation.as_dict(), **against_gold})
        return
    _remark(evaluation, quiet=quiet)
    _print(results(), evaluation)
    if difference is not None and against is not None:
        results().print(
            "\n" + _told(difference, predicted.name, against.name), markup=False, soft_wrap=True
        )
    if plot is not None:
        say(f"{plot}: scores by label", quiet=quiet)


def _remark(evaluation: Evaluation, *, quiet: bool) -> None:
    """Says what limits the figures."""
    if evaluation.left_out:
        say(
            f"warning: {evaluation.left_out:,} sentences of the gold have no prediction and are "
            "left out",
            quiet=False,
        )
    if evaluation.vouched < evaluation.sentences:
        say(
            "The gold is not vouched complete (--complete does): what it does not label counts "
            "as no entity",
            quiet=quiet,
        )


def _print(console: Console, evaluation: Evaluation) -> None:
    exact = evaluation.exact
    table = _table("label")
    for label, score in exact.by_label.items():
        _row(table, label, score)
    _row(table, "all (micro)", exact.total, style="bold")
    _row(table, "mean of labels (macro)", exact.macro)
    console.print(table)

    console.print()
    lenient = _table("looked at otherwise")
    _row(lenient, "boundaries only", evaluation.boundaries)
    _row(lenient, "label, a word shared", evaluation.overlap.total)
    if evaluation.seen is not None and evaluation.unseen is not None:
        _row(lenient, "seen in training", evaluation.seen)
        _row(lenient, "not seen in training", evaluation.unseen)
    console.print(lenient)

    if evaluation.by_length:
        console.print()
        lengths = _table("words of an entity")
        for title, score in _lengths(evaluation.by_length):
            _row(lengths, title, score)
        console.print(lengths)


def _lengths(by_length: dict[int, Score]) -> list[tuple[str, Score]]:
    rows = [(str(length), score) for length, score in by_length.items() if length < _LONG]
    long = [score for length, score in by_length.items() if length >= _LONG]
    return [*rows, (f"{_LONG} and more", sum_of(long))] if long else rows


def _table(heading: str) -> Table:
    table = Table(box=None, header_style="bold")
    table.add_column(heading, min_width=22)
    for name in ("gold", "found", "right", "precision", "recall", "F1"):
        table.add_column(name, justify="right", min_width=5)
    return table


def _row(table: Table, title: str, score: Score | Average, style: str | None = None) -> None:
    counts = (
        (f"{score.gold:,}", f"{score.found:,}", f"{score.right:,}")
        if isinstance(score, Score)
        else ("", "", "")
    )
    shares = (f"{score.precision:.3f}", f"{score.recall:.3f}", f"{score.f1:.3f}")
    table.add_row(title, *counts, *shares, style=style)


def _told(difference: Difference, first: str, second: str) -> str:
    sure = difference.low > 0 or difference.high < 0
    return (
        f"F1 {difference.first:.3f} ({first}) against {difference.second:.3f} ({second}): "
        f"{difference.value:+.3f}, {difference.confidence:.0%} interval {difference.low:+.3f} to "
        f"{difference.high:+.3f}, p = {_probability(difference)} "
        f"(paired bootstrap over sentences, {difference.resamples:,} resamples). "
        + (
            "The interval leaves out zero: chance alone hardly explains it."
            if sure
            else "The interval holds zero: this may well be chance."
        )
    )


def _probability(difference: Difference) -> str:
    digits = 4 if difference.p_value < 0.01 else 2
    return f"{difference.p_value:.{digits}f}"
