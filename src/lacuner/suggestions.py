"""Unknown names in messages: say which ones are close, or which ones there are."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """A sentence for a name that is not among the known ones.

    Example:
        >>> unknown_name("format", "jsnol", ["jsonl", "conll"])
        "There is no format 'jsnol'. Did you mean jsonl?"
    """
    known = list(known)
    close = get_close_matches(name, known, n=3, cutoff=0.6)
    if close:
        return f"There is no {kind} '{name}'. Did you mean {' or '.join(close)}?"
    return f"There is no {kind} '{name}'. There are: {', '.join(known)}."
