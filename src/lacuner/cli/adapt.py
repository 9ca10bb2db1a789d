"""`lacuner adapt`: an encoder and raw text to an encoder that knows it, and fills gaps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from lacuner.cli.console import Json, Overwrite, Quiet, print_json, reading_shown, say, tell
from lacuner.cli.reading_options import Reading, takes_reading
from lacuner.cli.train import stop_on_interrupt
from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Sentence
from lacuner.encoders import DEFAULT_ENCODER
from lacuner.errors import UsageError
from lacuner.settings import with_assignments


@takes_reading
def adapt(
    source: Annotated[Path, typer.Argument(help="Raw text, or a corpus in any format.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the encoder.")],
    reading: Reading,
    encoder: Annotated[
        str,
        typer.Option(
            "--encoder", "-e", metavar="NAME", help="Name or folder of a Hugging Face encoder."
        ),
    ] = DEFAULT_ENCODER,
    steps: Annotated[
        int | None, typer.Option("--steps", help="Steps of training. (default: 1,000)")
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", help="As many steps as fit into this time, instead."),
    ] = None,
    assign: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="One setting: masking.whole_words=true."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the adaptation that is in the folder.")
    ] = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train an encoder further on text of yours, by filling gaps.

    Some words are masked, and the encoder learns to guess them. One that never did gets a head
    for it. The folder then is an encoder ('lacuner train --encoder FOLDER') and a model
    that augments ('lacuner augment --model FOLDER').

    Example: lacuner adapt news.txt --encoder minilm --minutes 20 -o news-minilm
    """
    from lacuner.adaptation import adapt as adaptation
    from lacuner.cli.training_progress import TrainingProgress
    from lacuner.training.processes import is_main

    if steps is not None and minutes is not None:
        raise UsageError("Either --steps or --minutes says how long to adapt, not both.")
    speaks = is_main()
    quiet, json = quiet or not speaks, json and speaks
    given = [("steps", steps), ("minutes", minutes)]
    values = with_assignments({name: v for name, v in given if v is not None}, assign or [])
    findings = Findings()

    def sentences() -> Iterator[Sentence]:
        with reading_shown(source, quiet=quiet):
            yield from reading.stream(source, findings)
        tell(findings, quiet=quiet)

    progress = TrainingProgress(quiet=quiet, measure="masked accuracy", scored="accuracy")
    with progress, stop_on_interrupt(speaks) as stopped:
        adapted = adaptation.adapt(
            sentences(),
            encoder,
            out=output,
            settings=values,
            resume=resume,
            overwrite=overwrite,
            listeners=[progress],
            stopped=lambda: bool(stopped),
        )
    if json:
        print_json(adapted.as_dict())
    before, after = adapted.before, adapted.after
    say(
        f"{output}: masked accuracy on held-out text {before.accuracy:.3f} before, "
        f"{after.accuracy:.3f} after {adapted.steps:,} steps "
        f"(perplexity {before.perplexity:,.1f}, {after.perplexity:,.1f})",
        quiet=quiet or json,
    )
