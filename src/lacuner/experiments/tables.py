"""From rows to tables: means over seeds, retention, and which differences are no accident."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

import numpy as np

from lacuner.evaluation.bootstrap import paired_bootstrap
from lacuner.experiments.comparable_rows import Column, newest
from lacuner.experiments.costs import PlainTrainings
from lacuner.experiments.published import Figure, find_figure
from lacuner.experiments.results import Counts, Row

SIGNIFICANCE = 0.05
_BOOTSTRAP_SEED = 0
_SETTLED = 2  # epochs after which the missampling rate is averaged


@dataclass(frozen=True)
class Mean:
    """A mean over seeds; the sample deviation is None for one seed."""

    value: float
    deviation: float | None
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """Of at least one value."""
        return cls(mean(values), stdev(values) if len(values) > 1 else None, len(values))

    @property
    def in_percent(self) -> Mean:
        """A hundred times both."""
        deviation = None if self.deviation is None else 100 * self.deviation
        return Mean(100 * self.value, deviation, self.count)


@dataclass(frozen=True)
class Cell:
    """A system on a corpus at a masking rate.

    Attributes:
        f1: On test.
        unshifted: F1 on test of the same models without the offset that they were given on dev;
            None where they have none.
        precision: On test.
        recall: On test.
        dev: F1 on dev; None without dev.
        missampling: Share of drawn negatives that are hidden entities, after two epochs.
        removed: Share of the words without a label that exploration left out; None without one.
        exploration: Seconds of the exploration over those of the training after it.
        seconds: Of training.
        processor: Seconds of the processor; None where no row knows them.
        cost: Its time over that of a plain training; None where there is none to compare with.
        peak_mb: Of the process.
        retention: F1 over that of the supervised ceiling; None where that has not been run.
        published: The figure of the paper.
        best: Has it the highest F1 of the column, and is it not alone there?
        tied: Does the paired bootstrap not tell it from the best? None when it cannot be asked.
        rows: What it was made from.
    """

    f1: Mean
    unshifted: Mean | None
    precision: Mean
    recall: Mean
    dev: Mean | None
    missampling: Mean | None
    removed: Mean | None
    exploration: Mean | None
    seconds: Mean
    processor: Mean | None
    cost: Mean | None
    peak_mb: Mean
    retention: float | None
    published: Figure | None
    best: bool
    tied: bool | None
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class StudyTable:
    """The results of a profile with an encoder.

    Attributes:
        study: Name of the study.
        profile: Name of the profile.
        encoder: Name of the encoder.
        columns: Corpora and masking rates, in order.
        systems: Lines, in the order in which they were first run.
        cells: By system and column.
        superseded: Rows that were left out, because their cell was run again with other settings
            or other data.
    """

    study: str
    profile: str
    encoder: str
    columns: tuple[Column, ...]
    systems: tuple[str, ...]
    cells: Mapping[tuple[str, Column], Cell]
    superseded: int


def make_tables(rows: Iterable[Row], counts: Mapping[str, Counts]) -> list[StudyTable]:
    """The tables of a results file: one for each profile and encoder.

    Args:
        rows: Of one or more studies.
        counts: Those of the test sentences, by run, for the bootstrap.
    """
    groups: dict[tuple[str, str, str], list[Row]] = {}
    bare: list[Row] = []
    for row in rows:
        if row["encoder"] == "none":
            bare.append(row)
        else:
            groups.setdefault((row["study"], row["profile"], row["encoder"]), []).append(row)
    if not groups:  # nothing but recipes without an encoder
        groups = {(row["study"], row["profile"], "none"): [] for row in bare}
    tables = []
    for (study, profile, encoder), found in groups.items():
        # Recipes without an encoder stand in the table of each.
        found = found + [r for r in bare if (r["study"], r["profile"]) == (study, profile)]
        tables.append(_table(study, profile, encoder, found, counts))
    return tables


def _table(
    study: str, profile: str, encoder: str, rows: list[Row], counts: Mapping[str, Counts]
) -> StudyTable:
    places: dict[tuple[str, Column], list[Row]] = {}
    for row in rows:
        places.setdefault((_label(row), (row["corpus"], row["masking"])), []).append(row)
    current = {place: newest(found) for place, found in places.items()}
    cells = {}
    plain = PlainTrainings(row for found in current.values() for row in found)
    for (system, column), found in current.items():
        rivals = {name: own for (name, where), own in current.items() if where == column}
        best = max(rivals, key=lambda name: mean(_f1s(rivals[name])))
        cells[system, column] = _cell(
            found,
            ceiling=_ceiling(found[0], current),
            costs=plain.costs(found),
            best=system == best and len(rivals) > 1,
            tied=False if system == best else _is_tied(found, rivals[best], counts),
        )
    return StudyTable(
        study,
        profile,
        encoder,
        columns=tuple(sorted({column for _, column in current}, key=_column_order(rows))),
        systems=tuple(dict.fromkeys(system for system, _ in current)),
        cells=cells,
        superseded=len(rows) - sum(map(len, current.values())),
    )


def _cell(
    rows: list[Row], *, ceiling: list[Row], costs: list[float], best: bool, tied: bool | None
) -> Cell:
    f1 = Mean.of(_f1s(rows))
    top = mean(_f1s(ceiling)) if ceiling else 0.0
    drawn = [settled_missampling(row["missampling"]) for row in rows if row["missampling"]]
    scored = [row["dev"]["f1"] for row in rows if row["dev"] is not None]
    explored = [row for row in rows if row.get("removed")]
    timed = [row["processor_seconds"] for row in rows if row.get("processor_seconds")]
    return Cell(
        f1=f1,
        unshifted=_unshifted(rows),
        precision=Mean.of([row["test"]["p"] for row in rows]),
        recall=Mean.of([row["test"]["r"] for row in rows]),
        dev=Mean.of(scored) if scored else None,
        missampling=Mean.of(drawn) if drawn else None,
        removed=Mean.of([_share_removed(row) for row in explored]) if explored else None,
        exploration=Mean.of([_extra_time(row) for row in explored]) if explored else None,
        seconds=Mean.of([row["seconds"] for row in rows]),
        processor=Mean.of(timed) if timed else None,
        cost=Mean.of(costs) if costs else None,
        peak_mb=Mean.of([row["peak_mb"] for row in rows]),
        retention=f1.value / top if top else None,
        published=find_figure(
            rows[0].get("published"), rows[0]["corpus"], rows[0]["masking"], rows[0]["encoder"]
        ),
        best=best,
        tied=tied,
        rows=tuple(rows),
    )


def _share_removed(row: Row) -> float:
    removed, candidates = row["removed"]["removed"], row["removed"]["candidates"]
    return float(removed / candidates) if candidates else 0.0


def _extra_time(row: Row) -> float:
    stages: dict[str, float] = row["stages"]
    return stages["explore"] / sum(own for name, own in stages.items() if name != "explore")


def _unshifted(rows: Sequence[Row]) -> Mean | None:
    plain = [(row.get("unshifted") or {}).get("test") for row in rows]
    if not any(plain):
        return None
    # An offset of 0 changes nothing.
    return Mean.of([(own or row["test"])["f1"] for own, row in zip(plain, rows, strict=True)])


def settled_missampling(rates: Sequence[float]) -> float:
    """The mean over the epochs after the second, or over all where there are no more than two."""
    return mean(rates[_SETTLED:] or rates)


def _ceiling(row: Row, current: Mapping[tuple[str, Column], list[Row]]) -> list[Row]:
    """The supervised runs that a row is measured by: those of its ceiling, with all labels."""
    corpus = row.get("ceiling", row["corpus"])
    for (_, column), found in current.items():
        same_size = found[0]["train_sentences"] == row["train_sentences"]
        if (
            found[0]["recipe"] == "supervised"
            and column == (corpus, 0.0)
            and (same_size or corpus != row["corpus"])
        ):
            return found
    return []


def _is_tied(rows: list[Row], best: list[Row], counts: Mapping[str, Counts]) -> bool | None:
    """Is the difference to the best one no more than chance explains?

    The counts of a sentence are added up over the seeds that both have, and sentences are drawn:
    what the seeds say of one sentence is alike, and must not count as several witnesses.
    """
    rivals = {row["seed"]: counts.get(row.get("run", "")) for row in best}
    size = next((len(rival) for rival in rivals.values() if rival is not None), 0)
    pairs = [
        (own, rival)
        for row in rows
        if (own := counts.get(row.get("run", ""))) is not None
        and (rival := rivals.get(row["seed"])) is not None
        and len(own) == len(rival) == size
    ]
    if not pairs:
        return None
    difference = paired_bootstrap(
        np.sum([own for own, _ in pairs], axis=0),
        np.sum([rival for _, rival in pairs], axis=0),
        np.random.default_rng(_BOOTSTRAP_SEED),
    )
    return difference.p_value >= SIGNIFICANCE


def _column_order(rows: Sequence[Row]) -> Any:
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    return lambda column: (corpora.index(column[0]), column[1])


def _label(row: Row) -> str:
    return str(row.get("system", row["recipe"]))


def _f1s(rows: Iterable[Row]) -> list[float]:
    return [row["test"]["f1"] for row in rows]
