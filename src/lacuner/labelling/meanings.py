"""What a found form means: its entries, and which of them wins.

A form is a sequence of units; several entries may be written so, with one label or with several.
Higher priority wins; among equals the first dictionary, then the first entry, unless their labels
differ and the user wants such names recorded or skipped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

# Text with a capital (or where case does not matter), and text without one.
VARIANTS = 2


@dataclass(frozen=True)
class Meanings:
    """The entries of every form, those of one form side by side, the winning ones first.

    Attributes:
        form: The form of each meaning, ascending.
        entry: Its entry.
        label: Its label.
        priority: Its priority.
        lower: Whether it may be written without a capital.
        winner: For each variant of text and each form, the meaning that wins; -1 is none.
        ambiguous: For each variant and form, whether meanings of equal priority differ in label.
    """

    form: Ints
    entry: Ints
    label: Ints
    priority: Ints
    lower: Flags
    winner: Ints  # [variants, forms]
    ambiguous: Flags  # [variants, forms]

    @classmethod
    def build(
        cls, form: Ints, entry: Ints, label: Ints, priority: Ints, lower: Flags, forms: int
    ) -> Meanings:
        """Sorts meanings and decides, for every form, which wins."""
        order = np.lexsort((entry, -priority, form))
        form, entry, label = form[order], entry[order], label[order]
        priority, lower = priority[order], lower[order]
        winner = np.full((VARIANTS, forms), -1, np.int32)
        ambiguous = np.zeros((VARIANTS, forms), np.bool_)
        everything = np.arange(len(form), dtype=np.int32)
        for variant, places in enumerate((everything, everything[lower])):
            present, first = np.unique(form[places], return_index=True)
            winner[variant, present] = places[first]
            best = winner[variant, form[places]]
            rival = (priority[places] == priority[best]) & (label[places] != label[best])
            ambiguous[variant, form[places[rival]]] = True
        return cls(form, entry, label, priority, lower, winner, ambiguous)

    def rivals(self, form: int, variant: int) -> list[int]:
        """The meanings of a form that share the highest priority, the winner first."""
        begin, end = np.searchsorted(self.form, (form, form + 1))
        best = int(self.winner[variant, form])
        return [
            place
            for place in range(int(begin), int(end))
            if self.priority[place] == self.priority[best] and (variant == 0 or self.lower[place])
        ]

    def credited(self, counts: NDArray[np.int64], *, winners_only: bool) -> NDArray[np.int64]:
        """Counts of forms, shared out to meanings.

        Args:
            counts: How often each form was seen, by variant. [variants, forms]
            winners_only: Only the winner of a form is credited; otherwise all that share the
                highest priority.
        """
        credit = np.zeros(len(self.form), np.int64)
        for variant in range(VARIANTS):
            best = self.winner[variant, self.form]
            fits = (best >= 0) & (self.priority == self.priority[best])
            if variant:
                fits &= self.lower
            if winners_only:
                fits &= best == np.arange(len(self.form))
            credit += np.where(fits, counts[variant, self.form], 0)
        return credit
