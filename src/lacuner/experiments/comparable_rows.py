"""Which rows of results compare: those of several studies, and of one cell of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lacuner.errors import UsageError
from lacuner.experiments.results import Row

Column = tuple[str, float]  # corpus and masking rate


def joined(rows: Sequence[Row]) -> list[Row]:
    """Rows of several studies as those of one, so that they stand in one table.

    Raises:
        UsageError: They do not compare: a corpus has another size in another study.
    """
    sizes: dict[Column, tuple[int, str]] = {}
    for row in rows:
        column, own = (row["corpus"], row["masking"]), row["train_sentences"]
        size, study = sizes.setdefault(column, (own, row["study"]))
        if size != own:
            raise UsageError(
                f"These studies do not compare: {row['corpus']} has {size:,} training sentences in "
                f"{study} and {own:,} in {row['study']}."
            )
    name = " + ".join(dict.fromkeys(row["study"] for row in rows))
    return [{**row, "study": name} for row in rows]


def newest(rows: Sequence[Row]) -> list[Row]:
    """Of the rows of a cell those that were made with what the last one was: one for each seed."""
    last = _made_with(rows[-1])
    by_seed = {row["seed"]: row for row in rows if _made_with(row) == last}
    return [by_seed[seed] for seed in sorted(by_seed)]


def _made_with(row: Row) -> Any:
    settings: dict[str, Any] = row.get("settings", {})
    if isinstance(settings, dict) and "training" in settings:
        training = {k: v for k, v in settings["training"].items() if k != "seed"}
        settings = {**settings, "training": training}
    return settings, row.get("fingerprints"), row["train_sentences"]
