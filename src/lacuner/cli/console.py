"""What all commands share: options, progress, messages for people, results for programs.

Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from lacuner.corpus.findings import Findings
from lacuner.files import bytes_heard

Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Say nothing but results, warnings and errors.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace output that is there.")]
ToFormat = Annotated[
    str | None,
    typer.Option("--to", metavar="FORMAT", help="Format to write. (default: by the ending)"),
]
Seed = Annotated[int, typer.Option("--seed", "-s", help="The same seed gives the same result.")]

_PIECE = 1 << 19  # bytes between two movements of a progress bar


def results() -> Console:
    """Where results are printed."""
    return Console(highlight=False)


def messages() -> Console:
    """Where people are talked to."""
    return Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """Prints a result for a program."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    sys.stdout.write(orjson.dumps(value, option=options).decode() + "\n")


def say(text: str, *, quiet: bool) -> None:
    """Prints a line for people, unless they want none."""
    if not quiet:
        messages().print(text, markup=False, soft_wrap=True)


def tell(findings: Findings, *, quiet: bool, every_loss: bool = False) -> None:
    """Says what reading and writing found: remarks, and every kind of loss with its count.

    Args:
        findings: What was found.
        quiet: Leave out remarks; losses are always said.
        every_loss: One line for each loss in place of the counts (the findings must have kept all).
    """
    for remark in findings.remarks:
        say(remark, quiet=quiet)
    if every_loss:
        for loss in findings.losses:
            say(f"sentence {loss.sentence_id}: {loss.kind}: {loss.detail}", quiet=False)
        return
    for loss in findings.losses:
        count = findings.counts[loss.kind]
        first = f"sentence {loss.sentence_id}: {loss.detail}"
        say(f"warning: {loss.kind}: {count:,} (first: {first})", quiet=False)


@contextmanager
def reading_shown(path: Path, *, quiet: bool, title: str | None = None) -> Iterator[None]:
    """A progress bar, on a terminal, for whatever is read from `path` meanwhile."""
    console = messages()
    if quiet or not console.is_terminal or not path.is_file():
        yield
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title or path.name, total=path.stat().st_size)
        heard = 0

        def listen(count: int) -> None:
            nonlocal heard
            heard += count
            if heard >= _PIECE:
                progress.advance(task, heard)
                heard = 0

        with bytes_heard(listen):
            yield
