"""Windows over a sentence that is longer than a model can see at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]


def window_starts(length: int, size: int, overlap: int) -> Longs:
    """Where windows of `size` begin, so that they cover `length` places.

    Neighbours share at least `overlap` places. The last window ends where the sentence does, so
    that all are full; a sentence that fits has one window.

    Example:
        >>> window_starts(10, 4, 2).tolist()
        [0, 2, 4, 6]
    """
    if length <= size:
        return np.zeros(1, dtype=np.int64)
    last = length - size
    count = -(-last // (size - overlap)) + 1
    return np.minimum(np.arange(count, dtype=np.int64) * (size - overlap), last)


def even_size(length: int, size: int, overlap: int) -> int:
    """The size of windows that are as many as those of `size`, but share no more than they must.

    A sentence a little longer than a window would otherwise be read nearly twice.

    Example:
        >>> even_size(600, 510, 100)  # two windows, from 0 to 350 and from 250 to 600
        350
    """
    count = len(window_starts(length, size, overlap))
    return min(size, -(-(length + (count - 1) * overlap) // count))


def most_central(begins: Longs, ends: Longs, starts: Longs, size: int) -> Longs:
    """For each stretch of places, the window in whose middle it stands.

    Args:
        begins: First place of each stretch.
        ends: Place after the last of each stretch.
        starts: Where the windows begin, ascending.
        size: Their length.
    """
    if len(starts) == 1:
        return np.zeros(len(begins), dtype=np.int64)
    middles = begins + ends  # doubled, so that all stay whole numbers
    borders = starts[:-1] + starts[1:] + size  # half-way between the middles of two windows
    return np.searchsorted(borders, middles, side="left").astype(np.int64)
