"""What a run costs, in plain trainings: seconds mean little from one machine to the next.

The measure is the median of the runs that are one training, made in the same circumstances: the
same corpus, masking rate and profile, the same precision and number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from lacuner.experiments.results import Row

_CIRCUMSTANCES = (
    "study", "profile", "corpus", "masking", "encoder", "train_sentences", "computed_in", "threads",
)  # fmt: skip
_CLOCKS = ("processor_seconds", "seconds")  # the first is hardly moved by other work
_ONE_TRAINING = {"train"}


class PlainTrainings:
    """What one training takes, wherever there are rows of some.

    Args:
        rows: All rows of a table.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._seconds: dict[tuple[object, ...], list[float]] = {}
        for row in rows:
            if set(row.get("stages") or ()) == _ONE_TRAINING:
                for clock in _CLOCKS:
                    if row.get(clock):
                        self._seconds.setdefault(_circumstances(row, clock), []).append(row[clock])

    def costs(self, rows: Sequence[Row]) -> list[float]:
        """How many plain trainings runs took; those that nothing is known of are left out.

        Seconds by the wall count only where no run has those of the processor.
        """
        for clock in _CLOCKS:
            known = [
                row[clock] / median(plain)
                for row in rows
                if row.get(clock)
                and row["encoder"] != "none"
                and (plain := self._seconds.get(_circumstances(row, clock)))
            ]
            if known:
                return known
        return []


def _circumstances(row: Row, clock: str) -> tuple[object, ...]:
    return clock, *(row.get(name) for name in _CIRCUMSTANCES)
