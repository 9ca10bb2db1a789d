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
from lacuner.matching.string_table import StringTable
from lacuner.matching.unit_rows import UnitRows
from lacuner.matching.units import cutter, folder, has_capital, spellings


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
        self.cut = cutter(options.units)
        self.fold = folder(options.normal_form, ignore_case=options.ignores_case)
        self.stop = {
            self._keys(spelling)
            for name in options.stop
            for spelling in spellings(name, options.units)
        }
        # One item a form of a name:
        self.rows, self.lower = UnitRows(self.fold), array("b")
        # One item an entry:
        self.entries: list[str] = []
        self.forms, self.label, self.priority = array("i"), array("i"), array("i")
        self.dictionary, self.lower_code = array("i"), array("i")
        self.labels: dict[str, int] = {}
        self.dictionaries: dict[str, int] = {}
        self.short = self.stopped = self.unreadable = 0

    def compile(self, names: Iterable[Name]) -> Gazetteer:
        """Builds the tables of all names."""
        for name in names:
            self._add(name)
        if not self.entries:
            raise LacunerError(
                "No name is left to look for: all are too short, on the stop list or unreadable."
            )
        edges, form_of_state, form, vocabulary = self.rows.compiled()
        entry = np.repeat(np.arange(len(self.entries), dtype=np.int32), self.forms)
        meanings = Meanings.build(
            form,
            entry,
            np.array(self.label, np.int32)[entry],
            np.array(self.priority, np.int32)[entry],
            np.array(self.lower, np.bool_),
            int(form.max()) + 1,
        )
        tables = Tables(
            edges,
            form_of_state,
            meanings,
            vocabulary,
            StringTable.of(self.entries),
            np.array(self.dictionary, np.int32),
            np.array(self.lower_code, np.int32),
        )
        left_out = LeftOut(self.short, self.stopped, self.unreadable)
        return Gazetteer(
            self.options, tuple(self.labels), tuple(self.dictionaries), tables, left_out
        )

    def _add(self, name: Name) -> None:
        before = len(self.rows)
        self._add_form(name.name)
        for alias in name.aliases:
            self._add_form(alias)
        added = len(self.rows) - before
        if added:
            self.entries.append(name.name)
            self.forms.append(added)
            self.label.append(self.labels.setdefault(name.label, len(self.labels)))
            self.priority.append(name.priority)
            place = self.dictionaries.setdefault(name.dictionary, len(self.dictionaries))
            self.dictionary.append(place)
            self.lower_code.append(-1 if " " in name.name else self._lower_code(name.name))

    def _add_form(self, form: str) -> None:
        units = self.options.units
        for spelling in (form,) if units == "words" else spellings(form, units):
            pieces = self.cut(spelling)
            if self._may_match(spelling, pieces):
                self.rows.add(pieces)
                self.lower.append(self.options.case != "smart" or not has_capital(spelling))

    def _may_match(self, form: str, pieces: list[str]) -> bool:
        if not pieces:
            self.unreadable += 1
            return False
        least = self.options.min_length
        if least > 1 and len("".join(form.split())) < least:
            self.short += 1
            return False
        if self.stop and self._keys(form) in self.stop:
            self.stopped += 1
            return False
        return True

    def _keys(self, form: str) -> tuple[str, ...]:
        return tuple(map(self.fold, self.cut(form)))

    def _lower_code(self, name: str) -> int:
        """Where case counts, lower-case forms of names become units too, to be counted in text."""
        pieces = self.cut(name)
        if len(pieces) != 1 or not has_capital(name):
            return -1
        return 2 * self.rows.numbers[pieces[0].lower()]
