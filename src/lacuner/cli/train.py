"""`lacuner train`: a corpus to a recogniser."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from lacuner.cli.console import Json, Overwrite, Quiet, print_json, reading_shown, say, tell
from lacuner.cli.reading_options import Reading, takes_reading
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import read
from lacuner.corpus.sentence import Corpus
from lacuner.settings import read_toml, with_assignments


@takes_reading
def train(
    source: Annotated[Path, typer.Argument(help="Corpus to learn from.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the run.")],
    reading: Reading,
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            "-r",
            metavar="RECIPE",
            help="A name of 'lacuner recipes'. [default: that of --settings, or refill]",
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder",
            "-e",
            metavar="NAME",
            help="A name of 'lacuner encoders', a folder or a TOML file; short for encoder.name.",
        ),
    ] = None,
    dev: Annotated[
        Path | None,
        typer.Option("--dev", metavar="FILE", help="Corpus that the model is chosen on."),
    ] = None,
    dev_complete: Annotated[
        bool, typer.Option("--dev-complete", help="Vouch that the labels of dev are complete.")
    ] = False,
    hidden: Annotated[
        Path | None,
        typer.Option(
            "--hidden",
            metavar="FILE",
            help="What 'lacuner mask --hidden' took out: measured, not learnt.",
        ),
    ] = None,
    settings: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE", help="Settings as TOML.")
    ] = None,
    assign: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="One setting, as training.epochs=3."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that is in the folder.")
    ] = False,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            help="Make N trainings at once, where a recipe has several (members of an ensemble).",
        ),
    ] = 1,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write TensorBoard events to the run, too.")
    ] = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train a recogniser.

    The run folder keeps settings, metrics and the model. A run that was stopped or killed goes
    on with --resume, to the same result.

    Example: lacuner train distant.jsonl --dev dev.conll --dev-complete -o run
    """
    from lacuner.cli.training_progress import TrainingProgress
    from lacuner.recipes import training
    from lacuner.training.processes import is_main
    from lacuner.training.provenance import selected_on

    speaks = is_main()  # of several processes, one
    quiet, json = quiet or not speaks, json and speaks
    values = read_toml(settings) if settings is not None else {}
    noted = values.pop("recipe", training.DEFAULT_RECIPE)  # the settings of a run name its recipe
    recipe = recipe or str(noted)
    training.find_recipe(recipe)
    named = [] if encoder is None else [f"encoder.name={encoder}"]
    values = with_assignments(values, [*named, *(assign or [])])
    findings = Findings()
    with reading_shown(source, quiet=quiet):
        corpus = reading.read(source, findings)
    dev_corpus = _read(dev, findings, complete=dev_complete)
    hidden_corpus = _read(hidden, findings)
    tell(findings, quiet=quiet)
    say(
        f"{recipe}: {len(corpus):,} sentences, {corpus.entity_count:,} labels "
        f"({', '.join(corpus.labels)}); chosen on {selected_on(dev_corpus)}",
        quiet=quiet,
    )
    if recipe == training.DEFAULT_RECIPE and _says_nothing_of_gaps(corpus):
        say(
            "What has no label counts as unknown. If no label is missing, say so by --complete: "
            "one training will do then.",
            quiet=quiet,
        )
    gaps = dev_corpus is not None and not all(sentence.complete for sentence in dev_corpus)
    measure = "dev √(P·R)" if gaps else "dev F1"
    with (
        TrainingProgress(quiet=quiet, measure=measure) as progress,
        stop_on_interrupt(speaks) as stopped,
    ):
        listeners: list[Any] = [progress]
        if tensorboard:
            from lacuner.training.tensorboard import TensorBoard

            listeners.append(TensorBoard(output / "tensorboard"))
        training.train(
            corpus,
            recipe,
            dev=dev_corpus,
            out=output,
            settings=values,
            resume=resume,
            overwrite=overwrite,
            listeners=listeners,
            stopped=lambda: bool(stopped),
            hidden=hidden_corpus,
            jobs=jobs,
        )
    if json:
        print_json({"run": str(output), "recipe": recipe, "labels": list(corpus.labels)})
    say(f"{output}: finished. 'lacuner predict {output} TEXT' uses it.", quiet=quiet or json)


def _read(path: Path | None, findings: Findings, *, complete: bool = False) -> Corpus | None:
    return None if path is None else read(path, findings=findings, complete=complete)


def _says_nothing_of_gaps(corpus: Corpus) -> bool:
    """Is it a corpus that may well be complete, though it does not say so?"""
    return not any(sentence.complete for sentence in corpus) and not any(
        entity.source for sentence in corpus for entity in sentence.entities
    )


@contextmanager
def stop_on_interrupt(speaks: bool) -> Iterator[list[int]]:
    """Ctrl-C fills the list, so that the step is finished; a second one ends the program."""
    heard: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        if heard:
            raise KeyboardInterrupt
        heard.append(number)
        say("stopping after this step; Ctrl-C again stops at once", quiet=not speaks)

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, before)
