"""`lacuner mask`: hide gold labels on purpose."""

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
    ToFormat,
    print_json,
    reading_shown,
    say,
    tell,
)
from lacuner.cli.key_values import numbers_by_name
from lacuner.cli.reading_options import Reading, takes_reading
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import write
from lacuner.errors import OutputExists
from lacuner.labelling import masking


@takes_reading
def mask(
    source: Annotated[Path, typer.Argument(help="Corpus with gold labels.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The corpus with gaps.")],
    reading: Reading,
    rate: Annotated[float, typer.Option("--rate", "-p", help="Probability to hide a label.")] = 0.5,
    rate_of: Annotated[
        list[str] | None,
        typer.Option("--rate-of", metavar="LABEL=RATE", help="Another rate for a label."),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="mention|name",
            help="Draw for each mention, or once for each name so that all its mentions vanish.",
        ),
    ] = "mention",
    hidden: Annotated[
        Path | None,
        typer.Option("--hidden", help="Where the hidden labels go. (default: beside the output)"),
    ] = None,
    seed: Seed = 0,
    to: ToFormat = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Hide gold labels, to measure how a method copes with gaps.

    Each label is hidden with probability --rate. The hidden ones are written to a file of their
    own, OUTPUT with '.hidden' before its ending, so that training never sees them.

    Example: lacuner mask train.conll --rate 0.8 --seed 1 -o train-0.8.jsonl
    """
    findings = Findings()
    aside = hidden or output.with_name(f"{output.stem}.hidden{output.suffix}")
    for path in (output, aside):
        if path.exists() and not overwrite:
            raise OutputExists(path)
    with reading_shown(source, quiet=quiet):
        corpus = reading.read(source, findings)
    masked = masking.mask(
        corpus,
        rate,
        np.random.default_rng(seed),
        rates=numbers_by_name(rate_of or [], "--rate-of"),
        unit=by,
    )
    for part, path in ((masked.corpus, output), (masked.hidden, aside)):
        write(part, path, format=to, overwrite=overwrite, findings=findings)
    tell(findings, quiet=quiet)
    left, gone = masked.corpus.entity_count, masked.hidden.entity_count
    if json:
        print_json({"output": str(output), "hidden_file": str(aside), "left": left, "hidden": gone})
    say(f"{output}: {left:,} labels left; {aside}: {gone:,} hidden", quiet=quiet or json)
