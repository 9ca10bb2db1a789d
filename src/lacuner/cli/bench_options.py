"""Options that commands of `lacuner bench` share."""

from __future__ import annotations

from typing import Annotated

import typer

from lacuner.errors import UsageError

Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="NAME=VALUE,…",
        help="Only runs of this corpus, encoder, masking, recipe, seed or system.",
    ),
]


def pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """What an option that takes NAME=VALUE was given.

    Raises:
        UsageError: Something that is not that.
    """
    found = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise UsageError(f"{option} takes NAME=VALUE; '{text}' is not that.")
        found[name.strip()] = value.strip()
    return found


def filters(given: list[str] | None) -> dict[str, list[str]]:
    """What `--only` was given, by the name of the filter."""
    found: dict[str, list[str]] = {}
    for text in given or []:
        for name, values in pairs([text], "--only").items():
            found.setdefault(name, []).append(values)
    return found
