"""Finds every name in a list of tokens at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacuner.matching.string_table import StringTable
from lacuner.matching.trie import Ints, Longs, Trie
from lacuner.matching.units import TokenCodes, cutter, folder


class Places(NamedTuple):
    """Names found in a list of tokens, by length in units, then by place.

    Attributes:
        start: The first token.
        end: The token after the last.
        form: Which name.
        lower: Whether the text has no capital there; None if nobody asked.
    """

    start: Ints
    end: Ints
    form: Ints
    lower: NDArray[np.bool_] | None


class Matcher:
    """A trie of names, and how text is cut and compared with them.

    Args:
        edges: The trie.
        form_of_state: The name that ends in each state of the trie; -1 is none.
        vocabulary: The units of names, number 1 first.
        units: `words` or `characters`.
        normal_form: `NFC`, `NFKC` or `none`.
        ignore_case: Whether case does not count.
    """

    def __init__(
        self,
        edges: Longs,
        form_of_state: Ints,
        vocabulary: StringTable,
        *,
        units: str,
        normal_form: str,
        ignore_case: bool,
    ) -> None:
        self.form_of_state = form_of_state
        self.trie = Trie.of_edges(edges, len(vocabulary) + 1)
        fold = folder(normal_form, ignore_case=ignore_case)
        self.codes = TokenCodes(vocabulary.index(), cutter(units), fold)

    def find(self, tokens: list[str]) -> Places:
        """All names in a list of tokens; an empty token stands between sentences."""
        return self.find_codes(self.codes.of(tokens))

    def find_codes(self, codes: Ints, *, note_case: bool = False) -> Places:
        """All names in tokens whose codes were just taken by `self.codes`."""
        place: Ints | None = None
        if codes.size and codes.min() < 0:
            codes, place = self._units_of_tokens(codes)
        forms = self.form_of_state
        start, length, state = self.trie.walk(codes >> 1, forms >= 0)
        end = start + length
        form = forms[state]
        if place is not None:
            # A name begins where a token begins and ends where one ends.
            whole = np.diff(place, prepend=-1, append=place[-1] + 1) > 0
            fits = whole[start] & whole[end]
            start, end, form = start[fits], end[fits], form[fits]
        lower = None
        if note_case:
            capitals = np.cumsum(np.append(0, codes & 1))
            lower = capitals[start] == capitals[end]
        if place is not None:
            start, end = place[start], place[end - 1] + 1
        return Places(start, end, form, lower)

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
