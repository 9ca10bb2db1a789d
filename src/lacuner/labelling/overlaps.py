"""Which of several overlapping finds are kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lacuner.labelling.meanings import Ints


def resolve(start: Ints, end: Ints, priority: Ints, overlap: str) -> NDArray[np.intp]:
    """Chooses finds that do not overlap.

    Higher priority goes first. Among equals, `leftmost` takes them from the left, the longer
    first at each place, and `longest` takes the longest first wherever they stand. With `all`,
    everything is kept.

    Args:
        start: Where the finds start, ascending.
        end: Where they end; descending where the start is the same.
        priority: Their priorities.
        overlap: `leftmost`, `longest` or `all`.

    Returns:
        The places of the kept ones, ascending.
    """
    if overlap == "all" or len(start) < 2:
        return np.arange(len(start))
    # Finds that hang together by overlaps form a cluster; most have one member.
    reach = np.maximum.accumulate(end)
    begins = np.flatnonzero(np.append(True, start[1:] >= reach[:-1]))
    sizes = np.diff(np.append(begins, len(start)))
    # Often the first find of a cluster covers the whole of it, and none has a higher priority.
    covers = end[begins] == np.maximum.reduceat(end, begins)
    covers &= priority[begins] == np.maximum.reduceat(priority, begins)
    settled = (sizes == 1) | covers
    kept = begins[settled].tolist()
    for begin, size in zip(begins[~settled].tolist(), sizes[~settled].tolist(), strict=True):
        places = slice(begin, begin + size)
        kept += [
            begin + chosen
            for chosen in _resolve_cluster(
                start[places].tolist(), end[places].tolist(), priority[places].tolist(), overlap
            )
        ]
    return np.sort(np.array(kept, np.intp))


def _resolve_cluster(
    start: list[int], end: list[int], priority: list[int], overlap: str
) -> list[int]:
    if overlap == "leftmost":
        order = sorted(range(len(start)), key=lambda i: (-priority[i], start[i], -end[i]))
    else:
        order = sorted(range(len(start)), key=lambda i: (-priority[i], start[i] - end[i], start[i]))
    first = start[0]
    taken = bytearray(max(end) - first)
    kept: list[int] = []
    for find in order:
        begin, stop = start[find] - first, end[find] - first
        if taken.find(1, begin, stop) < 0:
            taken[begin:stop] = b"\1" * (stop - begin)
            kept.append(find)
    return kept
