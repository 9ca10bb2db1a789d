"""Classes below classes: walked step by step on a server, or found in a table of edges.

Both stop after a number of steps: Wikidata's tree of classes is made by many hands, and far below
"city" there are things that nobody would call one. Circles do no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lacuner.errors import EndpointError
from lacuner.knowledge.pages import PagedEndpoint
from lacuner.knowledge.queries import ENTITY, subclasses_query

CLASSES_AT_ONCE = 1000
DEPTH = 4


def portions(classes: Iterable[str], size: int = CLASSES_AT_ONCE) -> list[list[str]]:
    """Classes in portions that fit into one query."""
    rest = iter(classes)
    return list(iter(lambda: list(islice(rest, size)), []))


def walk_subclasses(
    source: PagedEndpoint,
    roots: Sequence[str],
    depth: int,
    on_step: Callable[[int, int], None] | None = None,
) -> list[str]:
    """The roots and all classes at most `depth` steps below them, as a server knows them.

    Args:
        source: Whom to ask.
        roots: Such as `Q515`.
        depth: How many steps; 0 is the roots alone.
        on_step: Told of every step and the number of classes so far.
    """
    found = dict.fromkeys(roots)
    level = list(found)
    for step in range(1, depth + 1):
        below: dict[str, None] = {}
        for parents in portions(level):

            def query(limit: int, offset: int, parents: Sequence[str] = parents) -> str:
                return subclasses_query(parents, limit, offset)

            for answer in source.pages(query):
                for row in answer.rows:
                    term = row.get("class")
                    below.setdefault(_class_name(term.value if term else "", source))
        level = [name for name in below if name and name not in found]
        found.update(dict.fromkeys(level))
        if on_step:
            on_step(step, len(found))
        if not level:
            break
    return list(found)


def _class_name(address: str, source: PagedEndpoint) -> str:
    name = address.removeprefix(ENTITY)
    if name[:1] != "Q" or not name[1:].isdigit():
        # Lexemes and unknown values may stand here; anything else means another vocabulary.
        if address.startswith((ENTITY, "_:", "http://www.wikidata.org/.well-known/")):
            return ""
        raise EndpointError(
            source.endpoint.url, f"the server names a class '{address}', which is none of Wikidata"
        )
    return name


def subclasses_in(edges: NDArray[np.int64], roots: Iterable[int], depth: int) -> NDArray[np.int64]:
    """The roots and all classes at most `depth` steps below them, from a table of edges.

    Args:
        edges: Class and the class above it, by their numbers. [edges, 2]
        roots: Numbers of classes.
        depth: How many steps; 0 is the roots alone.

    Returns:
        Numbers of classes, ascending.
    """
    by_parent = edges[np.argsort(edges[:, 1], kind="stable")]
    children, parents = by_parent[:, 0], by_parent[:, 1]
    found = np.unique(np.fromiter(roots, np.int64))
    level = found
    for _ in range(depth):
        begins = np.searchsorted(parents, level, side="left")
        ends = np.searchsorted(parents, level, side="right")
        below = [children[begin:end] for begin, end in zip(begins, ends, strict=True)]
        level = np.setdiff1d(np.concatenate([*below, found[:0]]), found)
        if not len(level):
            break
        found = np.union1d(found, level)
    return found
