"""Options of the form NAME=VALUE."""

from __future__ import annotations

from collections.abc import Iterable

from lacuner.errors import UsageError


def numbers_by_name(items: Iterable[str], option: str) -> dict[str, float]:
    """Numbers from `NAME=NUMBER`.

    Raises:
        UsageError: An item of another form, or a name that occurs twice.
    """
    found: dict[str, float] = {}
    for item in items:
        name, _, text = item.rpartition("=")
        try:
            value = float(text)
        except ValueError:
            name = ""
        if not name:
            raise UsageError(f"{option} takes NAME=NUMBER, as in PER=0.5; '{item}' is not that.")
        if name in found:
            raise UsageError(f"{option} names {name} twice.")
        found[name] = value
    return found
