"""`lacuner augment`: what a masked language model makes of sentences, to look at and to keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from lacuner.cli.console import (
    Json,
    Overwrite,
    Quiet,
    Seed,
    ToFormat,
    print_json,
    reading_shown,
    results,
    say,
    tell,
)
from lacuner.cli.reading_options import Reading, takes_reading
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import write
from lacuner.corpus.sentence import Sentence
from lacuner.errors import OutputExists, UsageError

_CHUNK = 1024  # sentences that are augmented together
_OLD, _NEW, _LABELLED = "red", "bold green", "underline"


@takes_reading
def augment(
    source: Annotated[Path, typer.Argument(help="Text, or a corpus in any format.")],
    model: Annotated[
        str,
        typer.Option(
            "--model", "-m", metavar="NAME", help="Name or folder of a masked language model."
        ),
    ],
    reading: Reading,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write all of it, augmented.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", help="Share of the words to mask. (default: 0.15)")
    ] = None,
    top: Annotated[
        int | None, typer.Option("--top", help="Guesses of the model to draw among. (default: 5)")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", help="Sentences to show.")] = 10,
    seed: Seed = 0,
    to: ToFormat = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Replace some words by what a masked language model would say there.

    Shows the first sentences as they were and as they become, with the words that changed; labels
    (underlined) stay where they are. With -o the whole corpus is written.

    Example: lacuner augment news.jsonl --model news-minilm --seed 1
    """
    from lacuner.augmentation import Augmenter

    if limit < 0:
        raise UsageError(f"--limit is a number of sentences, not {limit}.")
    if output is not None and output.exists() and not overwrite:
        raise OutputExists(output)
    chosen: dict[str, Any] = {"rate": rate, "top": top}
    augmenter = Augmenter(model, **{name: v for name, v in chosen.items() if v is not None})
    findings, seen = Findings(), _Seen(limit)

    def augmented() -> Iterator[Sentence]:
        sentences = reading.stream(source, findings)
        while chunk := list(islice(sentences, _CHUNK if output is not None else limit)):
            for before, after in zip(chunk, augmenter.augment(chunk, seed), strict=True):
                seen.take(before, after)
                yield after
            if output is None:
                return

    with reading_shown(source, quiet=quiet or json):
        if output is None:
            for _ in augmented():
                pass
        else:
            write(augmented(), output, format=to, overwrite=overwrite, findings=findings)
    if json:
        print_json({"output": None if output is None else str(output), **seen.as_dict()})
        return
    if output is None or not quiet:
        print_pairs(seen.pairs, results())
    tell(findings, quiet=quiet)
    place = f"{output}: " if output is not None else ""
    say(
        f"{place}{seen.sentences:,} sentences, {seen.changed:,} of {seen.words:,} words changed",
        quiet=quiet,
    )


@dataclass
class _Seen:
    """What was augmented: counts, and the first sentences.

    Attributes:
        most: How many sentences to keep.
    """

    most: int
    pairs: list[tuple[Sentence, Sentence]] = field(default_factory=list)
    sentences: int = 0
    words: int = 0
    changed: int = 0

    def take(self, before: Sentence, after: Sentence) -> None:
        """Counts a sentence, and keeps it if it is one of the first."""
        self.sentences += 1
        self.words += len(before)
        self.changed += len(_changed(before, after))
        if len(self.pairs) < self.most:
            self.pairs.append((before, after))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "sentences": self.sentences,
            "words": self.words,
            "changed": self.changed,
            "examples": [
                {
                    "id": before.id,
                    "original": list(before.tokens),
                    "augmented": list(after.tokens),
                    "changed": _changed(before, after),
                }
                for before, after in self.pairs
            ],
        }


def _changed(before: Sentence, after: Sentence) -> list[int]:
    pairs = zip(before.tokens, after.tokens, strict=True)
    return [number for number, (old, new) in enumerate(pairs) if old != new]


def print_pairs(pairs: Iterable[tuple[Sentence, Sentence]], console: Console) -> None:
    """Prints sentences as they were and, below, as they are; changed words stand out.

    They do by colour on a terminal, by brackets elsewhere.
    """
    brackets = not console.is_terminal or console.no_color
    for before, after in pairs:
        changed = set(_changed(before, after))
        shown = [("- ", before, _OLD), ("+ ", after, _NEW)] if changed else [("  ", before, "")]
        for prefix, sentence, style in shown:
            line = _line(sentence, changed, style, brackets=brackets)
            console.print(Text.assemble((prefix, "dim"), line), soft_wrap=True)
        console.print()


def _line(sentence: Sentence, changed: set[int], style: str, *, brackets: bool) -> Text:
    labelled = {n for entity in sentence.entities for n in range(entity.start, entity.end)}
    line = Text()
    for number, word in enumerate(sentence.tokens):
        styles = [style] if number in changed else []
        styles += [_LABELLED] if number in labelled else []
        shown = f"[{word}]" if number in changed and brackets else word
        line.append(shown, style=" ".join(styles))
        line.append(_gap(sentence, number))
    return line


def _gap(sentence: Sentence, number: int) -> str:
    """What stands after a word: a space, or nothing where text has none."""
    if number + 1 == len(sentence):
        return ""
    if sentence.offsets is not None:
        return " " if sentence.offsets[number][1] < sentence.offsets[number + 1][0] else ""
    return "" if all(len(word) == 1 for word in sentence.tokens) else " "
