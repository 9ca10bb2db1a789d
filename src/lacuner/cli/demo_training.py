"""The trainings of `lacuner demo`: the dictionary, what is learnt from it, twice, the ceiling."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lacuner import demo as embedded
from lacuner.cli.console import say
from lacuner.cli.training_progress import TrainingProgress
from lacuner.corpus.alignment import aligned
from lacuner.corpus.sentence import Corpus
from lacuner.evaluation.curves import Curve
from lacuner.evaluation.report_page import SystemResult, write_report
from lacuner.evaluation.scores import score_entities
from lacuner.recipes.training import train
from lacuner.training.run_folder import Run

SETTINGS = {"training": {"epochs": 8}}
LAST_STAGE = "train"  # of every recipe here: what is trained before has steps of its own


def compare_trainings(
    labelled: Corpus,
    gold: Corpus,
    by_dictionary: Corpus,
    output: Path,
    *,
    overwrite: bool,
    quiet: bool,
) -> list[SystemResult]:
    """Trains on the dictionary's labels, as they are and refilled, and on gold; writes the report.

    Args:
        labelled: The training sentences as the dictionary labels them.
        gold: The same with all labels.
        by_dictionary: The test sentences as the dictionary labels them.
        output: Folder for the runs and the report; runs that are there are gone on with.
        overwrite: Train anew.
        quiet: No progress.
    """
    dev, test = embedded.gold("dev"), embedded.gold("test")
    systems = [
        SystemResult(
            "dictionary",
            score_entities(aligned(by_dictionary, test)),
            by_dictionary.with_sentences(replace(s, ambiguous=()) for s in by_dictionary),
            note="its names, found again",
        )
    ]
    for recipe, corpus, name, note in (
        ("span_ce", labelled, "distant", "trained on what the dictionary labels"),
        ("refill", labelled, "refilled", "the same, with missing labels put back"),
        ("supervised", gold, "ceiling", "trained on all labels"),
    ):
        run = output / name
        say(f"\n{name}: {recipe} on {corpus.entity_count:,} labels", quiet=quiet)
        with TrainingProgress(quiet=quiet) as progress:
            recogniser = train(
                corpus,
                recipe,
                dev=dev,
                out=run,
                settings=SETTINGS,
                resume=run.exists() and not overwrite,
                overwrite=overwrite,
                listeners=[progress],
            )
        predicted = recogniser.predict(test)
        systems.append(
            SystemResult(
                name,
                score_entities(aligned(predicted, test)),
                predicted,
                Curve.of(row for row in Run(run).metrics() if row["stage"] == LAST_STAGE),
                note,
            )
        )
    write_report(
        output / "report.html",
        "Lacuner: what gaps in the labels do",
        systems,
        test,
        introduction=(
            f"A dictionary labels {labelled.entity_count:,} spans in {len(labelled):,} sentences "
            f"that hold {gold.entity_count:,} entities. A recogniser that takes every missing "
            "label for 'no entity' learns to miss them. The recipe 'refill' puts labels back "
            "before it learns; the same recogniser trained on all labels is the ceiling. Models "
            f"are chosen on {len(dev)} dev sentences; the figures are on {len(test)} test "
            "sentences."
        ),
        overwrite=True,
    )
    return systems
