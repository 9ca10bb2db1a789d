"""The options of every command that reads a corpus, in one place."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import MAX_WORDS
from lacuner.corpus.reading import read, stream
from lacuner.corpus.sentence import Corpus, Sentence

_PANEL = "Reading"


@dataclass(frozen=True)
class Reading:
    """How the user wants files to be read."""

    format: str | None
    options: dict[str, Any]

    def stream(self, path: Path, findings: Findings) -> Iterator[Sentence]:
        """The sentences of a file, one by one."""
        return stream(path, format=self.format, findings=findings, **self.options)

    def read(self, path: Path, findings: Findings) -> Corpus:
        """The corpus of a file."""
        return read(path, format=self.format, findings=findings, **self.options)


def takes_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options below; it receives them as its argument `reading`."""
    own = inspect.signature(command, eval_str=True)
    shared = inspect.signature(_reading, eval_str=True)

    @wraps(command)
    def with_reading(**given: Any) -> None:
        taken = {name: given.pop(name) for name in shared.parameters}
        command(**given, reading=_reading(**taken))

    parameters = [
        *(p for p in own.parameters.values() if p.name != "reading"),
        *shared.parameters.values(),
    ]
    keyword_only = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    with_reading.__signature__ = own.replace(parameters=keyword_only)  # type: ignore[attr-defined]
    with_reading.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_reading


def _reading(
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="Format of the input, a name of 'lacuner formats'. (default: found out)",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    complete: Annotated[
        bool,
        typer.Option(
            "--complete",
            help="Vouch that the labels are complete: what is unlabelled is no entity.",
            rich_help_panel=_PANEL,
        ),
    ] = False,
    scheme: Annotated[
        str | None,
        typer.Option(
            "--scheme",
            metavar="SCHEME",
            help="Tags: iob1, bio, bioes, bmes or io. (default: found out)",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Mend tags that break their scheme.", rich_help_panel=_PANEL),
    ] = False,
    word_column: Annotated[
        int, typer.Option(help="Column of the words, from 0.", rich_help_panel=_PANEL)
    ] = 0,
    tag_column: Annotated[
        int, typer.Option(help="Column of the tags; -1 is the last.", rich_help_panel=_PANEL)
    ] = -1,
    label_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Tags that belong to a file of texts.", rich_help_panel=_PANEL
        ),
    ] = None,
    text_field: Annotated[
        str, typer.Option(metavar="NAME", help="JSON field of the text.", rich_help_panel=_PANEL)
    ] = "text",
    wrapped: Annotated[
        bool,
        typer.Option(
            "--wrapped",
            help="Plain text: a blank line ends a paragraph, a line break does not.",
            rich_help_panel=_PANEL,
        ),
    ] = False,
    whole_texts: Annotated[
        bool,
        typer.Option(
            "--whole-texts", help="Do not cut texts into sentences.", rich_help_panel=_PANEL
        ),
    ] = False,
    max_words: Annotated[
        int, typer.Option(help="Refuse longer sentences.", rich_help_panel=_PANEL)
    ] = MAX_WORDS,
) -> Reading:
    return Reading(
        from_,
        {
            "complete": complete,
            "scheme": scheme,
            "repair": repair,
            "word_column": word_column,
            "tag_column": tag_column,
            "label_file": label_file,
            "text_field": text_field,
            "wrapped": wrapped,
            "split_sentences": not whole_texts,
            "max_words": max_words,
        },
    )
