"""From names to a trie: every name becomes a row of unit numbers, and those become arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from lacuner.matching.string_table import StringTable
from lacuner.matching.trie import Ints, Longs, Trie
from lacuner.matching.units import Fold


class CompiledRows(NamedTuple):
    """Names that are ready to be found.

    Attributes:
        edges: The trie, see `Trie.of_edges`.
        form_of_state: The form that ends in each state of the trie; -1 is none.
        form: The form of each row: rows of the same units share one.
        vocabulary: The units, number 1 first.
    """

    edges: Longs
    form_of_state: Ints
    form: Ints
    vocabulary: StringTable


class UnitRows:
    """Collects names as rows of unit numbers.

    Args:
        fold: How a piece becomes a unit.
    """

    def __init__(self, fold: Fold) -> None:
        self.numbers = _UnitNumbers(fold)
        self.units, self.lengths = array("i"), array("i")

    def __len__(self) -> int:
        return len(self.lengths)

    def add(self, pieces: Iterable[str]) -> None:
        """Takes a row of at least one piece."""
        before = len(self.units)
        self.units.extend(map(self.numbers.__getitem__, pieces))
        self.lengths.append(len(self.units) - before)

    def compiled(self) -> CompiledRows:
        """Builds the trie of all rows."""
        vocabulary = self.numbers.vocabulary
        trie, state = Trie.build(
            np.array(self.units, np.int32), np.array(self.lengths, np.int32), len(vocabulary) + 1
        )
        ends, form = np.unique(state, return_inverse=True)
        form_of_state = np.full(trie.states, -1, np.int32)
        form_of_state[ends] = np.arange(len(ends))
        return CompiledRows(
            trie.edges, form_of_state, form.astype(np.int32), StringTable.of(vocabulary)
        )


class _UnitNumbers(dict[str, int]):
    """From a piece of a name to the number of its unit; new units get the next number."""

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        self.vocabulary: dict[str, int] = {}

    def __missing__(self, piece: str) -> int:
        vocabulary = self.vocabulary
        number = self[piece] = vocabulary.setdefault(self.fold(piece), len(vocabulary) + 1)
        return number
