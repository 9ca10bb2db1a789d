"""`lacuner convert`: from one format to another, saying what is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from lacuner.cli.console import (
    Json,
    Overwrite,
    Quiet,
    ToFormat,
    print_json,
    reading_shown,
    say,
    tell,
)
from lacuner.cli.reading_options import Reading, takes_reading
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import write
from lacuner.corpus.sentence import Sentence


@takes_reading
def convert(
    source: Annotated[Path, typer.Argument(help="File or folder to read.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write.")],
    reading: Reading,
    to: ToFormat = None,
    to_scheme: Annotated[
        str,
        typer.Option(
            "--to-scheme", metavar="SCHEME", help="Tags to write: iob1, bio, bioes, bmes or io."
        ),
    ] = "bio",
    unknown: Annotated[
        str | None,
        typer.Option(
            "--unknown",
            metavar="TAG",
            help="Tag for words of which nothing is known, such as UNK. (default: O)",
        ),
    ] = None,
    losses: Annotated[
        bool, typer.Option("--losses", help="Say everything that is lost, sentence by sentence.")
    ] = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Read a corpus in one format and write it in another.

    What the new format cannot hold is counted, and named sentence by sentence with --losses.

    Example: lacuner convert train.conll -o train.jsonl --complete
    """
    findings = Findings(keep_all=losses)
    count = 0

    def counted() -> Iterator[Sentence]:
        nonlocal count
        for sentence in reading.stream(source, findings):
            count += 1
            yield sentence

    with reading_shown(source, quiet=quiet or json):
        write(
            counted(),
            output,
            format=to,
            overwrite=overwrite,
            findings=findings,
            scheme=to_scheme,
            unknown=unknown,
        )
    if json:
        print_json({"output": str(output), "sentences": count, **findings.as_dict()})
        return
    tell(findings, quiet=quiet, every_loss=losses)
    say(f"{output}: {count:,} sentences", quiet=quiet)
