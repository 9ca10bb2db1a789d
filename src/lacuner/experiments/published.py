"""What the papers report, to stand beside what we measure: `published.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from lacuner.settings import read_toml

_FACTS = ("source", "encoder", "on")


@dataclass(frozen=True)
class Figure:
    """A published F1.

    Attributes:
        f1: In percent, as printed.
        on: `dev` or `test`.
        encoder: What it was reached with.
        source: Paper and table.
    """

    f1: float
    on: str
    encoder: str
    source: str


@cache
def published_figures() -> dict[str, dict[tuple[str, float], Figure]]:
    """All figures: by name, then by corpus and masking rate."""
    tables = read_toml(Path(str(files(__package__) / "published.toml")))
    return {
        name: {
            (corpus, float(rate)): Figure(
                f1, on=table["on"], encoder=table["encoder"], source=table["source"]
            )
            for corpus, rates in table.items()
            if corpus not in _FACTS
            for rate, f1 in rates.items()
        }
        for name, table in tables.items()
    }


def find_figure(name: str | None, corpus: str, masking: float, encoder: str = "") -> Figure | None:
    """The figure of that name on a corpus at a rate, if there is one.

    Args:
        name: What the study calls it.
        corpus: Name of the corpus.
        masking: The rate.
        encoder: Its name in the study; figures of a paper with that encoder come first.
    """
    figures = published_figures()
    with_it = figures.get(f"{name}, {encoder}", {}).get((corpus, masking))
    return with_it or figures.get(name or "", {}).get((corpus, masking))
