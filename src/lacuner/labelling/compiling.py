"""From names to a gazetteer: every name becomes a row of numbers, and those become tables."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from lacuner.errors import LacunerError
from lacuner.labelling.gazetteer import Gazetteer, LeftOut, Tables
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.meanings import Meanings
from lacuner.labelling.names import Name
from lacuner.labelling.string_table import StringTable
from lacuner.labelling.trie import Trie
from lacuner.labelling.units import cutter, folder, has_capital, spellings


def compile_names(names: Iterable[Name], options: MatchOptions) -> Gazetteer:
    """Compiles names, which are taken one by one.

    Args:
        names: As of `read_names`.
        options: How to compare; its units are `words` or `characters` by now.

    Raises:
        LacunerError: No name is left.
    """
    return _Compiler(options).compile(names)


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
        self.stop = {
            tuple(map(self.fold, self.cut(spelling)))
            for name in options.stop
            for spelling in spellings(name, options)
        }
        self.short = self.stopped = self.unreadable = 0

    def compile(self, names: Iterable[Name]) -> Gazetteer:
        """Builds the tables of all names."""
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
        added = False
        for form in (name.name, *name.aliases):
            for spelling in spellings(form, self.options):
                added |= self._add_form(spelling, name, entry)
        if added:
            self.entries.append(name.name)
            self.entry_dictionary.append(
                self.dictionaries.setdefault(name.dictionary, len(self.dictionaries))
            )
            self.lower_code.append(self._lower_code(name.name))

    def _add_form(self, form: str, name: Name, entry: int) -> bool:
        pieces = self.cut(form)
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

    def _lower_code(self, name: str) -> int:
        """Where case counts, lower-case forms of names become units too, to be counted in text."""
        if " " in name or not has_capital(name):
            return -1
        pieces = self.cut(name)
        if len(pieces) != 1:
            return -1
        key = self.fold(pieces[0].lower())
        return 2 * self.vocabulary.setdefault(key, len(self.vocabulary) + 1)
