"""`lacuner stats`: what a corpus holds, and how good its labels are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from lacuner.cli.console import Json, Quiet, print_json, reading_shown, results, tell
from lacuner.cli.reading_options import Reading, takes_reading
from lacuner.corpus.alignment import aligned
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import read
from lacuner.corpus.statistics import NEGATIVE_RATE, Statistics
from lacuner.evaluation.scores import Scores, score_entities

_SHOWN_FORMS = 10


@takes_reading
def stats(
    source: Annotated[Path, typer.Argument(help="Corpus to look at.")],
    reading: Reading,
    gold: Annotated[
        Path | None,
        typer.Option("--gold", metavar="FILE", help="The same sentences with true labels."),
    ] = None,
    negative_rate: Annotated[
        float, typer.Option("--lambda", help="Share of negatives drawn, for the bound.")
    ] = NEGATIVE_RATE,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Count what a corpus holds, and score its labels against gold.

    Example: lacuner stats distant.jsonl --gold gold.conll
    """
    findings = Findings()
    scores: Scores | None = None
    with reading_shown(source, quiet=quiet or json):
        if gold is None:
            statistics = Statistics.of(reading.stream(source, findings))
        else:
            corpus = reading.read(source, findings)
            statistics = Statistics.of(corpus)
            scores = score_entities(aligned(corpus, read(gold, findings=findings)))
    tell(findings, quiet=quiet or json)
    counts = statistics.as_dict(negative_rate)
    if json:
        if scores is not None:
            counts["against_gold"] = scores.as_dict()
        print_json(counts)
        return
    _print(results(), counts, scores)


def _print(console: Console, counts: dict[str, Any], scores: Scores | None) -> None:
    overview = Table(box=None, show_header=False)
    overview.add_column(style="bold")
    overview.add_column(justify="right")
    for title, value in _overview(counts):
        overview.add_row(title, value)
    console.print(overview)

    if counts["entities"]:
        console.print()
        console.print(_labels(counts, scores))
    if counts["ambiguous_forms"]:
        console.print()
        console.print(_forms(counts["ambiguous_forms"]))
    sparsity = counts["sparsity"]
    console.print(
        f"\n{sparsity['share']:.1%} of the sentences have at most √n labelled entities "
        f"(n words). Where that holds of all entities, negatives drawn at random at rate "
        f"{sparsity['negative_rate']:g} hold no unlabelled entity with probability:"
    )
    for bound in sparsity["bound"]:
        console.print(f"  {bound['words']:>5,} words: above {bound['at_least']:.2f}")


def _overview(counts: dict[str, Any]) -> list[tuple[str, str]]:
    sentence, entity = counts["sentence_length"], counts["entity_length"]
    rows = [
        ("sentences", f"{counts['sentences']:,}"),
        ("  vouched complete", f"{counts['complete_sentences']:,}"),
        ("  without an entity", f"{counts['sentences_without_entity']:,}"),
        ("words", f"{counts['words']:,}"),
        ("  a sentence", _lengths(sentence)),
        ("entities", f"{counts['entities']:,}"),
        ("  words each", _lengths(entity)),
        ("  distinct forms", f"{counts['distinct_forms']:,}"),
    ]
    optional = {
        "nested entities": "nested_entities",
        "rejected spans": "rejected_spans",
        "ambiguous spans": "ambiguous_spans",
        "words known outside": "outside_words",
    }
    rows += [(title, f"{counts[key]:,}") for title, key in optional.items() if counts[key]]
    return rows


def _lengths(lengths: dict[str, float]) -> str:
    return f"mean {lengths['mean']:.1f}, median {lengths['median']:g}, max {lengths['max']:,}"


def _labels(counts: dict[str, Any], scores: Scores | None) -> Table:
    table = Table(box=None, header_style="bold")
    table.add_column("label")
    for heading in ("entities", *(("gold", "precision", "recall", "F1") if scores else ())):
        table.add_column(heading, justify="right")
    by_label = counts["entities_by_label"]
    if scores is None:
        for label, count in by_label.items():
            table.add_row(label, f"{count:,}")
        return table
    for label, score in (*scores.by_label.items(), ("all", scores.total)):
        table.add_row(
            label,
            f"{score.found:,}",
            f"{score.gold:,}",
            f"{score.precision:.3f}",
            f"{score.recall:.3f}",
            f"{score.f1:.3f}",
        )
    return table


def _forms(forms: list[dict[str, Any]]) -> Table:
    title = f"{len(forms):,} forms with several labels"
    table = Table(box=None, header_style="bold", title=title, title_justify="left")
    table.add_column("form")
    table.add_column("labels")
    for found in forms[:_SHOWN_FORMS]:
        labels = ", ".join(f"{label} {count}" for label, count in found["labels"].items())
        table.add_row(found["form"], labels)
    if len(forms) > _SHOWN_FORMS:
        table.add_row("…", "(all with --json)")
    return table
