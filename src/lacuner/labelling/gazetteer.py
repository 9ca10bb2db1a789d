"""All names of all dictionaries, compiled; finds every one of them in a text at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.meanings import Ints, Meanings
from lacuner.matching.matcher import Matcher
from lacuner.matching.string_table import StringTable
from lacuner.matching.trie import Longs
from lacuner.matching.units import TokenCodes


class Sense(NamedTuple):
    """What a find means.

    Attributes:
        label: The winning label.
        labels: All labels, when the name is ambiguous.
        source: Its dictionary and entry; for an ambiguous name, all of them.
    """

    label: str
    labels: tuple[str, ...]
    source: str


class Finds(NamedTuple):
    """Names found in a list of tokens, sorted by start, longer ones first.

    Attributes:
        start: The first token.
        end: The token after the last.
        form: Which name.
        variant: 1 where only lower-case names may match, else 0.
    """

    start: Ints
    end: Ints
    form: Ints
    variant: Ints

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Finds:
        """Some of them."""
        return Finds(*(column[chosen] for column in self))


class LeftOut(NamedTuple):
    """How many forms of names can never match, and why."""

    short: int = 0
    stopped: int = 0
    unreadable: int = 0


@dataclass(frozen=True)
class Tables:
    """Everything compiled, as arrays that a file can hold.

    Attributes:
        edges: The trie.
        form_of_state: The form that ends in each state of the trie; -1 is none.
        meanings: What the forms mean.
        vocabulary: The units of names, number 1 first.
        entries: The names of entries.
        entry_dictionary: Where each entry stands.
        lower_code: For entries of one unit with a capital, the code of that unit in lower case;
            for all others -1. Tells names that are common words.
    """

    edges: Longs
    form_of_state: Ints
    meanings: Meanings
    vocabulary: StringTable
    entries: StringTable
    entry_dictionary: Ints
    lower_code: Ints


@dataclass(frozen=True)
class Gazetteer:
    """Compiled dictionaries, as of `compile_names`.

    Attributes:
        options: How names are compared.
        labels: All labels, by number.
        dictionaries: The names of the files, by number.
        tables: The compiled names.
        left_out: Names that can never match.
    """

    options: MatchOptions
    labels: tuple[str, ...]
    dictionaries: tuple[str, ...]
    tables: Tables
    left_out: LeftOut
    matcher: Matcher = field(init=False, repr=False)

    def __post_init__(self) -> None:
        matcher = Matcher(
            self.tables.edges,
            self.tables.form_of_state,
            self.tables.vocabulary,
            units=self.options.units,
            normal_form=self.options.normal_form,
            ignore_case=self.options.ignores_case,
        )
        object.__setattr__(self, "matcher", matcher)

    @property
    def codes(self) -> TokenCodes:
        """From tokens to what `find_codes` takes."""
        return self.matcher.codes

    def __len__(self) -> int:
        return len(self.tables.entries)

    def find(self, tokens: list[str]) -> Finds:
        """All names in a list of tokens; an empty token stands between sentences."""
        return self.find_codes(self.codes.of(tokens))

    def find_codes(self, codes: Ints) -> Finds:
        """All names in tokens whose codes were just taken by `self.codes`."""
        start, end, form, lower = self.matcher.find_codes(
            codes, note_case=self.options.case == "smart"
        )
        variant = np.zeros(len(start), np.int32) if lower is None else lower.astype(np.int32)
        order = np.lexsort((-end, start))
        finds = Finds(start, end, form, variant).take(order)
        return finds.take(self.tables.meanings.winner[finds.variant, finds.form] >= 0)

    def priority(self, finds: Finds) -> Ints:
        """The priority of each find."""
        meanings = self.tables.meanings
        return meanings.priority[meanings.winner[finds.variant, finds.form]]

    def senses(self, finds: Finds) -> list[Sense]:
        """What each find means."""
        meanings = self.tables.meanings
        best = meanings.winner[finds.variant, finds.form]
        entries = meanings.entry[best]
        dictionaries = self.tables.entry_dictionary[entries].tolist()
        names = self.tables.entries.many(entries)
        senses = [
            Sense(self.labels[label], (), f"{self.dictionaries[dictionary]}:{name}")
            for label, dictionary, name in zip(
                meanings.label[best].tolist(), dictionaries, names, strict=True
            )
        ]
        if self.options.ambiguous != "first":
            ambiguous = meanings.ambiguous[finds.variant, finds.form]
            for place in np.flatnonzero(ambiguous).tolist():
                form, variant = int(finds.form[place]), int(finds.variant[place])
                senses[place] = self._all_senses(form, variant)
        return senses

    def _all_senses(self, form: int, variant: int) -> Sense:
        meanings = self.tables.meanings
        rivals = meanings.rivals(form, variant)
        labels = [self.labels[meanings.label[rival]] for rival in rivals]
        sources = dict.fromkeys(self.source(int(meanings.entry[rival])) for rival in rivals)
        return Sense(labels[0], tuple(sorted(set(labels))), " | ".join(sources))

    def source(self, entry: int) -> str:
        """Where an entry stands: its dictionary and name."""
        dictionary = self.dictionaries[self.tables.entry_dictionary[entry]]
        return f"{dictionary}:{self.tables.entries[entry]}"
