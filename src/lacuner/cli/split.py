"""`lacuner split`: train, dev and test."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from lacuner.cli.console import (
    Json,
    Overwrite,
    Quiet,
    Seed,
    print_json,
    reading_shown,
    say,
    tell,
)
from lacuner.cli.key_values import numbers_by_name
from lacuner.cli.reading_options import Reading, takes_reading
from lacuner.corpus import splits
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import find_format, write
from lacuner.errors import OutputExists


@takes_reading
def split(
    source: Annotated[Path, typer.Argument(help="Corpus to split.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the parts.")],
    reading: Reading,
    part: Annotated[
        list[str] | None,
        typer.Option(
            "--part",
            metavar="NAME=SIZE",
            help="A part: a share of at most 1, or a number of sentences. "
            "(default: train=0.8 dev=0.1 test=0.1)",
        ),
    ] = None,
    seed: Seed = 0,
    to: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="Format of the parts.")
    ] = "lacuner",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Split a corpus into parts at random.

    Sentences of one document stay together, and so do sentences of the same words.

    Example: lacuner split all.jsonl -o parts --part train=0.9 --part dev=500
    """
    findings = Findings()
    sizes = numbers_by_name(part or ["train=0.8", "dev=0.1", "test=0.1"], "--part")
    ending = find_format(to).suffixes[0]
    paths = {name: output / f"{name}{ending}" for name in sizes}
    for path in paths.values():
        if path.exists() and not overwrite:
            raise OutputExists(path)
    with reading_shown(source, quiet=quiet):
        corpus = reading.read(source, findings)
    parts = splits.split(corpus, sizes, np.random.default_rng(seed))
    for name, chosen in parts.items():
        write(chosen, paths[name], format=to, overwrite=overwrite, findings=findings)
    tell(findings, quiet=quiet)
    if json:
        print_json(
            {
                name: {
                    "path": str(paths[name]),
                    "sentences": len(chosen),
                    "entities": chosen.entity_count,
                }
                for name, chosen in parts.items()
            }
        )
    for name, chosen in parts.items():
        say(
            f"{paths[name]}: {len(chosen):,} sentences, {chosen.entity_count:,} entities",
            quiet=quiet or json,
        )
