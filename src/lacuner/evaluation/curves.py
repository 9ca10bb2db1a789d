"""Learning curves: how loss and dev F1 went during a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Curve:
    """What a run measured, by step.

    Attributes:
        loss: `(step, training loss)`.
        f1: `(step, F1 on the dev corpus)`.
    """

    loss: tuple[Point, ...] = ()
    f1: tuple[Point, ...] = ()

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], *, loss: str = "loss", f1: str = "dev") -> Self:
        """Collects the points from rows of metrics, such as those of one stage of a run.

        Args:
            rows: Each with a `step`, and the loss or the F1 or both; others are passed over.
            loss: The name of the loss in a row.
            f1: The name of dev F1 in a row.

        Example:
            >>> Curve.of([{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.5, "dev": 0.4}])
            Curve(loss=((1.0, 2.0), (2.0, 1.5)), f1=((2.0, 0.4),))
        """
        rows = list(rows)
        return cls(_points(rows, loss), _points(rows, f1))


def thinned(points: Sequence[Point], most: int = 150) -> list[Point]:
    """At most so many points: the means of neighbours, which also calms a restless loss."""
    size = math.ceil(len(points) / most)
    if size <= 1:
        return list(points)
    groups = [points[begin : begin + size] for begin in range(0, len(points), size)]
    return [
        (sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group))
        for group in groups
    ]


def _points(rows: Iterable[Mapping[str, Any]], name: str) -> tuple[Point, ...]:
    points = (
        (float(row["step"]), float(row[name]))
        for row in rows
        if row.get("step") is not None and row.get(name) is not None
    )
    return tuple(point for point in points if math.isfinite(point[1]))
