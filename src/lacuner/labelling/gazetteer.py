"""All names of all dictionaries, compiled; finds every one of them in a text at once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacuner.errors import LacunerError
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.meanings import Ints, Meanings
from lacuner.labelling.names import Name
from lacuner.labelling.string_table import StringTable
from lacuner.labelling.trie import Longs, Trie
from lacuner.labelling.units import TokenCodes, cutter, folder, has_capital

_REMEMBERED_SENSES = 200_000


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
    """Compiled dictionaries.

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
    trie: Trie = field(init=False, repr=False)
    codes: TokenCodes = field(init=False, repr=False)
    _senses: dict[tuple[int, int], Sense] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        vocabulary = self.tables.vocabulary
        trie = Trie.of_edges(self.tables.edges, len(vocabulary) + 1)
        codes = TokenCodes(vocabulary.index(), cutter(self.options), folder(self.options))
        object.__setattr__(self, "trie", trie)
        object.__setattr__(self, "codes", codes)

    @classmethod
    def compile(cls, names: Iterable[Name], options: MatchOptions) -> Gazetteer:
        """Compiles names.

        Args:
            names: As of `read_names`.
            options: How to compare; its units are `words` or `characters` by now.

        Raises:
            LacunerError: No name is left.
        """
        return _Compiler(options).compile(names)

    def __len__(self) -> int:
        return len(self.tables.entries)

    def find(self, tokens: list[str]) -> Finds:
        """All names in a list of tokens; an empty token stands between sentences."""
        return self.find_codes(self.codes.of(tokens))

    def find_codes(self, codes: Ints) -> Finds:
        """All names in tokens whose codes were just taken by `self.codes`."""
        place: Ints | None = None
        if codes.size and codes.min() < 0:
            codes, place = self._units_of_tokens(codes)
        forms = self.tables.form_of_state
        start, length, state = self.trie.walk(codes >> 1, forms >= 0)
        end = start + length
        form = forms[state]
        if place is not None:
            # A name begins where a token begins and ends where one ends.
            whole = np.diff(place, prepend=-1, append=place[-1] + 1) > 0
            fits = whole[start] & whole[end]
            start, end, form = start[fits], end[fits], form[fits]
        variant = np.zeros(len(start), np.int32)
        if self.options.case == "smart":
            capitals = np.cumsum(np.append(0, codes & 1))
            variant = (capitals[start] == capitals[end]).astype(np.int32)
        if place is not None:
            start, end = place[start], place[end - 1] + 1
        order = np.lexsort((-end, start))
        finds = Finds(start, end, form, variant).take(order)
        return finds.take(self.tables.meanings.winner[finds.variant, finds.form] >= 0)

    def _units_of_tokens(self, codes: Ints) -> tuple[Ints, Ints]:
        """Codes of units where tokens may have several, and the token of each."""
        parts = self.codes.parts
        several = np.flatnonzero(codes < 0)
        counts = np.ones(len(codes), np.int32)
        counts[several] = [len(parts[-1 - code]) for code in codes[several]]
        units = np.repeat(codes, counts)
        units[np.repeat(codes < 0, counts)] = [
            unit for code in codes[several] for unit in parts[-1 - code]
        ]
        return units, np.repeat(np.arange(len(codes), dtype=np.int32), counts)

    def priority(self, finds: Finds) -> Ints:
        """The priority of each find."""
        meanings = self.tables.meanings
        return meanings.priority[meanings.winner[finds.variant, finds.form]]

    def sense(self, form: int, variant: int) -> Sense:
        """What a find means."""
        known = self._senses.get((form, variant))
        if known is None:
            if len(self._senses) > _REMEMBERED_SENSES:
                self._senses.clear()
            known = self._senses[form, variant] = self._look_up(form, variant)
        return known

    def _look_up(self, form: int, variant: int) -> Sense:
        meanings = self.tables.meanings
        best = int(meanings.winner[variant, form])
        label = self.labels[meanings.label[best]]
        if not meanings.ambiguous[variant, form] or self.options.ambiguous == "first":
            return Sense(label, (), self.source(int(meanings.entry[best])))
        rivals = meanings.rivals(form, variant)
        labels = tuple(sorted({self.labels[meanings.label[rival]] for rival in rivals}))
        sources = dict.fromkeys(self.source(int(meanings.entry[rival])) for rival in rivals)
        return Sense(label, labels, " | ".join(sources))

    def source(self, entry: int) -> str:
        """Where an entry stands: its dictionary and name."""
        dictionary = self.dictionaries[self.tables.entry_dictionary[entry]]
        return f"{dictionary}:{self.tables.entries[entry]}"


class _Compiler:
    """Collects names as numbers, then builds the tables."""

    def __init__(self, options: MatchOptions) -> None:
        self.options = options
        self.cut, self.fold = cutter(options), folder(options)
        self.vocabulary: dict[str, int] = {}
        self.units, self.lengths = array("i"), array("i")
        self.entry, self.label, self.priority = array("i"), array("i"), array("i")
        self.lower = array("b")
        self.labels: dict[str, int] = {}
        self.dictionaries: dict[str, int] = {}
        self.entries: list[str] = []
        self.entry_dictionary, self.lower_code = array("i"), array("i")
        self.stop = {tuple(map(self.fold, self.cut(name))) for name in options.stop}
        self.short = self.stopped = self.unreadable = 0

    def compile(self, names: Iterable[Name]) -> Gazetteer:
        for name in names:
            self._add(name)
        if not self.entries:
            raise LacunerError(
                "No name is left to look for: all are too short, on the stop list or unreadable."
            )
        lengths = np.array(self.lengths, np.int32)
        width = len(self.vocabulary) + 1
        trie, state = Trie.build(np.array(self.units, np.int32), lengths, width)
        ends, form = np.unique(state, return_inverse=True)
        form_of_state = np.full(trie.states, -1, np.int32)
        form_of_state[ends] = np.arange(len(ends))
        meanings = Meanings.build(
            form.astype(np.int32),
            np.array(self.entry, np.int32),
            np.array(self.label, np.int32),
            np.array(self.priority, np.int32),
            np.array(self.lower, np.bool_),
            len(ends),
        )
        tables = Tables(
            trie.edges,
            form_of_state,
            meanings,
            StringTable.of(self.vocabulary),
            StringTable.of(self.entries),
            np.array(self.entry_dictionary, np.int32),
            np.array(self.lower_code, np.int32),
        )
        left_out = LeftOut(self.short, self.stopped, self.unreadable)
        return Gazetteer(
            self.options, tuple(self.labels), tuple(self.dictionaries), tables, left_out
        )

    def _add(self, name: Name) -> None:
        entry = len(self.entries)
        pieces = self.cut(name.name)
        added = self._add_form(name.name, pieces, name, entry)
        for alias in name.aliases:
            added |= self._add_form(alias, self.cut(alias), name, entry)
        if added:
            self.entries.append(name.name)
            self.entry_dictionary.append(
                self.dictionaries.setdefault(name.dictionary, len(self.dictionaries))
            )
            self.lower_code.append(self._lower_code(pieces) if len(pieces) == 1 else -1)

    def _add_form(self, form: str, pieces: list[str], name: Name, entry: int) -> bool:
        if not pieces:
            self.unreadable += 1
            return False
        least = self.options.min_length
        if least > 1 and len("".join(form.split())) < least:
            self.short += 1
            return False
        keys = list(map(self.fold, pieces))
        if self.stop and tuple(keys) in self.stop:
            self.stopped += 1
            return False
        vocabulary = self.vocabulary
        self.units.extend([vocabulary.setdefault(key, len(vocabulary) + 1) for key in keys])
        self.lengths.append(len(keys))
        self.entry.append(entry)
        self.label.append(self.labels.setdefault(name.label, len(self.labels)))
        self.priority.append(name.priority)
        self.lower.append(not has_capital(form))
        return True

    def _lower_code(self, pieces: list[str]) -> int:
        """Where case counts, lower-case forms of names become units too, to be counted in text."""
        (piece,) = pieces
        if not has_capital(piece):
            return -1
        key = self.fold(piece.lower())
        return 2 * self.vocabulary.setdefault(key, len(self.vocabulary) + 1)
