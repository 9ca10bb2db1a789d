"""Entries of a dictionary, from scattered facts: a thing, its names, its aliases."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lacuner.knowledge.answers import Term
from lacuner.labelling.name_records import is_blank

_WHITE_SPACE = re.compile(r"\s+")


class Entry(NamedTuple):
    """A name and its aliases, fit for a line of a dictionary."""

    name: str
    aliases: tuple[str, ...] = ()


def clean(text: str) -> str:
    """A name on one line: white space is one blank, control characters go; empty if blank.

    Example:
        >>> clean(" Ada\\tLovelace\\n")
        'Ada Lovelace'
    """
    text = _WHITE_SPACE.sub(" ", text)
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cs")).strip()
    return "" if is_blank(text) else text


def entry_of(
    names: Iterable[Term], aliases: Iterable[Term], languages: Sequence[str]
) -> Entry | None:
    """The entry of a thing: its name in the first language that has one; all else are aliases.

    Returns:
        None when nothing is left after cleaning.
    """
    rank = {code: place for place, code in enumerate(languages)}

    def ordered(terms: Iterable[Term]) -> list[str]:
        by_language = sorted(terms, key=lambda term: rank.get(term.language, len(rank)))
        return [clean(term.value) for term in by_language]

    forms = [form for form in dict.fromkeys([*ordered(names), *ordered(aliases)]) if form]
    return Entry(forms[0], tuple(forms[1:])) if forms else None


class EntryCollector:
    """Gathers rows to entries: rows of one thing may come in any order.

    Args:
        languages: The order in which languages are preferred for the name.
    """

    def __init__(self, languages: Sequence[str] = ()) -> None:
        self.languages = tuple(languages)
        self._found: dict[str, tuple[dict[Term, None], dict[Term, None]]] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, row: dict[str, Term]) -> None:
        """Takes the `name` and `alias` of a row; `item` says which thing, else the name does."""
        name, alias = row.get("name"), row.get("alias")
        if name is None and alias is None:
            return
        thing = row.get("item") or name or alias
        assert thing is not None
        names, aliases = self._found.setdefault(thing.value, ({}, {}))
        if name is not None:
            names[name] = None
        if alias is not None:
            aliases[alias] = None

    def entries(self, limit: int | None = None) -> Iterator[Entry]:
        """The entries, in the order in which their things were met first."""
        given = 0
        for names, aliases in self._found.values():
            if limit is not None and given >= limit:
                return
            entry = entry_of(names, aliases, self.languages)
            if entry is not None:
                given += 1
                yield entry
