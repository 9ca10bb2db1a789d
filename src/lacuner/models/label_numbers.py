"""Labels to numbers: 0 is "no entity", the first label has number 1."""

from __future__ import annotations

from collections.abc import Sequence

from lacuner.errors import UsageError


def number_labels(labels: Sequence[str]) -> dict[str, int]:
    """The number of each label, from 1.

    Raises:
        UsageError: There is no label, or one is given twice.
    """
    if not labels:
        raise UsageError("A model needs at least one label, but the corpus has none.")
    numbers = {label: number for number, label in enumerate(labels, 1)}
    if len(numbers) < len(labels):
        twice = next(label for label in labels if list(labels).count(label) > 1)
        raise UsageError(f"The label '{twice}' is given twice to one model.")
    return numbers
