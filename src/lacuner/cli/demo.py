"""`lacuner demo`: what a dictionary finds and misses, and what training on its labels does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lacuner import demo as embedded
from lacuner.cli.console import Json, Overwrite, Quiet, print_json, results, say
from lacuner.corpus.alignment import aligned
from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.evaluation.comparison import Kind, marks, pieces, telling
from lacuner.evaluation.report_page import SystemResult
from lacuner.evaluation.scores import Scores, score_entities
from lacuner.labelling.compiling import compile_names
from lacuner.labelling.distant import label
from lacuner.labelling.gazetteer import Gazetteer
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.names import Name

_EXAMPLES = 3
_STYLES: dict[Kind, str] = {"found": "bold green", "missed": "bold yellow", "wrong": "bold red"}


def demo(
    files: Annotated[
        Path | None,
        typer.Option(
            "--files", metavar="FOLDER", help="Write the corpus and the dictionary there, and stop."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Show the labels only; train nothing.")
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the runs and the report.")
    ] = Path("demo-output"),
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Label the embedded corpus by a dictionary, train on that, and show what the gaps do.

    Under ten minutes on two cores; --quick shows the labels alone, in a second. A demo that was
    stopped goes on where it was.

    Example: lacuner demo --files demo-files
    """
    if files is not None:
        embedded.write_files(files, overwrite=overwrite)
        say(f"{files}: train.txt, train_gold.jsonl, dev.jsonl, test.jsonl, names/", quiet=quiet)
        return
    gold = embedded.gold("train")
    gazetteer = _gazetteer()
    labelled = gold.with_sentences(label(embedded.raw("train"), gazetteer))
    pairs = aligned(labelled, gold)
    scores = score_entities(pairs)
    unsettled = sum(len(sentence.ambiguous) for sentence in labelled)
    if not json:
        _print(results(), labelled, pairs, scores, unsettled)
    counts = {"sentences": len(gold), "unsettled": unsettled, **scores.as_dict()}
    if not quick:
        from lacuner.cli.demo_training import compare_trainings

        test = embedded.gold("test")
        by_dictionary = test.with_sentences(label(embedded.raw("test"), gazetteer))
        systems = compare_trainings(
            labelled, gold, by_dictionary, output, overwrite=overwrite, quiet=quiet or json
        )
        counts["systems"] = {system.name: system.scores.as_dict() for system in systems}
        if not json:
            _print_systems(results(), systems, output)
    if json:
        print_json(counts)


def _gazetteer() -> Gazetteer:
    names = (
        Name(name, label, f"{label}.txt")
        for label, entries in embedded.names().items()
        for name in entries
    )
    return compile_names(names, MatchOptions(units="words"))


def _print(
    console: Console,
    labelled: Corpus,
    pairs: list[tuple[Sentence, Sentence]],
    scores: Scores,
    unsettled: int,
) -> None:
    count = sum(len(entries) for entries in embedded.names().values())
    console.print(
        f"{len(labelled):,} sentences, labelled by a dictionary of {count} names\n", style="bold"
    )
    console.print(_table(scores))
    console.print(
        f"\n{unsettled} more matches are names of two labels, such as Lumo (a company, and its "
        "phone): they are kept as ambiguous."
    )
    console.print(
        Text.assemble(
            "\n",
            ("[+ found]", _STYLES["found"]),
            ", ",
            ("[? missed]", _STYLES["missed"]),
            " and ",
            ("[! wrong]", _STYLES["wrong"]),
            ":\n",
        )
    )
    for given, gold in telling(pairs, _EXAMPLES):
        console.print(_marked(given, gold))
    share = 1 - scores.total.recall
    console.print(
        f"\n{share:.0%} of the entities have no label. A recogniser trained as if they were "
        "no entities learns to miss them.\n"
        "The files to play with: lacuner demo --files demo-files"
    )


def _print_systems(console: Console, systems: list[SystemResult], output: Path) -> None:
    table = Table(box=None, header_style="bold")
    table.add_column("on the test sentences")
    for heading in ("precision", "recall", "F1"):
        table.add_column(heading, justify="right")
    for system in systems:
        total = system.scores.total
        table.add_row(
            f"{system.name}: {system.note}",
            f"{total.precision:.3f}",
            f"{total.recall:.3f}",
            f"{total.f1:.3f}",
        )
    console.print()
    console.print(table)
    console.print(f"\nThe report, with learning curves and examples: {output / 'report.html'}")


def _table(scores: Scores) -> Table:
    table = Table(box=None, header_style="bold")
    table.add_column("label")
    for heading in ("entities", "found", "missed", "wrong", "precision", "recall", "F1"):
        table.add_column(heading, justify="right")
    for name, score in (*scores.by_label.items(), ("all", scores.total)):
        table.add_row(
            name,
            f"{score.gold:,}",
            f"{score.right:,}",
            f"{score.gold - score.right:,}",
            f"{score.found - score.right:,}",
            f"{score.precision:.3f}",
            f"{score.recall:.3f}",
            f"{score.f1:.3f}",
            style="bold" if name == "all" else None,
        )
    return table


def _marked(given: Sentence, gold: Sentence) -> Text:
    """The sentence with its entities in brackets and colour."""
    text = Text("  ")
    for piece, mark in pieces(gold, marks(given, gold)):
        if mark is None:
            text.append(piece)
        else:
            text.append(f"[{mark.sign} {mark.label} {piece}]", _STYLES[mark.kind])
    return text
