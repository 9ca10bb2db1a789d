"""A trie of unit numbers in two sorted arrays, walked by all places of a text at once.

States are numbered breadth first and, within a level, by parent and unit. The edges, written as
`parent * width + unit`, are then sorted as they stand, and the edge at place i leads to state
i + 1: one array holds the whole trie, is built by sorting, and is mapped from disk as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@dataclass(frozen=True)
class Trie:
    """All names, as paths of unit numbers from state 0.

    Attributes:
        width: One more than the highest unit number. Unit 0 is on no path.
        edges: `parent * width + unit`, sorted.
        first: The state after each unit at the root, 0 where there is none.
        inner: For each state, whether it has children.
        later: For each unit, whether it stands anywhere but at the root.
    """

    width: int
    edges: Longs
    first: Ints
    inner: NDArray[np.bool_]
    later: NDArray[np.bool_]

    @classmethod
    def build(cls, units: Ints, lengths: Ints, width: int) -> tuple[Trie, Ints]:
        """Builds the trie.

        Args:
            units: The unit numbers of all names, one name after the other.
            lengths: How many units each name has, at least one.
            width: One more than the highest unit number.

        Returns:
            The trie, and the state in which each name ends.
        """
        begins = np.cumsum(lengths, dtype=np.int64) - lengths
        state = np.zeros(len(lengths), np.int32)
        levels: list[Longs] = []
        reached = 0
        going = np.arange(len(lengths))
        depth = 0
        while going.size:
            keys = state[going].astype(np.int64) * width + units[begins[going] + depth]
            edges, child = np.unique(keys, return_inverse=True)
            state[going] = child + (reached + 1)
            levels.append(edges)
            reached += len(edges)
            depth += 1
            going = going[lengths[going] > depth]
        edges = np.concatenate(levels) if levels else np.zeros(0, np.int64)
        return cls.of_edges(edges, width), state

    @classmethod
    def of_edges(cls, edges: Longs, width: int) -> Trie:
        """The trie of sorted edges, with the tables that make walking fast."""
        at_root = int(np.searchsorted(edges, width))
        first = np.zeros(width, np.int32)
        first[edges[:at_root]] = np.arange(1, at_root + 1)
        inner = np.zeros(len(edges) + 1, np.bool_)
        inner[edges // width] = True
        later = np.zeros(width, np.bool_)
        later[edges[at_root:] % width] = True
        return cls(width, edges, first, inner, later)

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.edges) + 1

    def walk(self, units: Ints, accepting: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
        """Every place of every name in a text.

        Args:
            units: The unit numbers of the text.
            accepting: For each state, whether a name ends there.

        Returns:
            Where each find starts, how many units it has, and its state; by length, then place.
        """
        starts: list[Ints] = []
        lengths: list[Ints] = []
        states: list[Ints] = []
        state = self.first[units]
        at = np.flatnonzero(state).astype(np.int32)
        state = state[at]
        padded = np.append(units, np.int32(0))
        depth = 1
        while at.size:
            hit = accepting[state]
            if hit.any():
                starts.append(at[hit])
                lengths.append(np.full(len(starts[-1]), depth, np.int32))
                states.append(state[hit])
            unit = padded[at + depth]
            going = self.inner[state] & self.later[unit]
            at, state, unit = at[going], state[going], unit[going]
            at, state = self._step(at, state, unit)
            depth += 1
        if not starts:
            nothing = np.zeros(0, np.int32)
            return nothing, nothing, nothing
        return np.concatenate(starts), np.concatenate(lengths), np.concatenate(states)

    def _step(self, at: Ints, state: Ints, unit: Ints) -> tuple[Ints, Ints]:
        keys = state.astype(np.int64) * self.width + unit
        place = np.searchsorted(self.edges, keys)
        place[place == len(self.edges)] = 0
        found = self.edges[place] == keys
        return at[found], (place[found] + 1).astype(np.int32)
