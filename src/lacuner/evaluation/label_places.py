"""Where to put labels beside lines that end close together."""

from __future__ import annotations

from collections.abc import Sequence


def spread(places: Sequence[float], gap: float) -> list[float]:
    """The places moved apart as little as needed (least squares), keeping their order.

    Example:
        >>> spread([5.0, 1.0, 1.0], gap=2.0)
        [5.0, 0.0, 2.0]
    """
    order = sorted(range(len(places)), key=places.__getitem__)
    # Less their rank times the gap, the places need only not to fall: pool neighbours that do.
    pools: list[tuple[float, int]] = []  # mean, count
    for rank, index in enumerate(order):
        mean, count = places[index] - rank * gap, 1
        while pools and pools[-1][0] > mean:
            before, times = pools.pop()
            mean = (mean * count + before * times) / (count + times)
            count += times
        pools.append((mean, count))
    means = [mean for mean, count in pools for _ in range(count)]
    moved = list(places)
    for rank, (index, mean) in enumerate(zip(order, means, strict=True)):
        moved[index] = mean + rank * gap
    return moved
