"""Scores of relative places in a lattice, without a table of places × places × width.

Four distances of two spans (of their heads and tails, each with each) follow from three numbers:
the distance of the heads, and the two lengths. A lattice has few different lengths, so there are
few different keys of relative places; queries meet those in one product for each length, and every
pair of spans picks its score. Nothing of that is kept for the backward pass, which computes it
again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

_CHUNK = 1 << 22  # scores that are computed at once


class _RelativeScores(torch.autograd.Function):
    """See `relative_scores`."""

    @staticmethod
    def forward(
        context: Any, queries: Tensor, keys: Tensor, kinds: Tensor, columns: Tensor
    ) -> Tensor:
        scores = queries.new_empty(*queries.shape[:2], columns.shape[-1])
        for kind, rows in _chunks(kinds, scores_a_row=keys.shape[1] * keys.shape[2]):
            said = torch.bmm(queries[:, rows], keys[kind].transpose(1, 2))  # [heads, rows, columns]
            picked = columns[rows].expand(len(said), -1, -1)
            scores[:, rows] = said.gather(2, picked)
        context.save_for_backward(queries, keys, kinds, columns)
        return scores

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        queries, keys, kinds, columns = context.saved_tensors
        gradient = gradients[0]
        of_queries, of_keys = torch.empty_like(queries), torch.zeros_like(keys)
        for kind, rows in _chunks(kinds, scores_a_row=keys.shape[1] * keys.shape[2]):
            said = queries.new_zeros(len(queries), len(rows), keys.shape[2])
            picked = columns[rows].expand(len(said), -1, -1)
            said.scatter_add_(2, picked, gradient[:, rows])
            of_queries[:, rows] = torch.bmm(said, keys[kind])
            of_keys[kind] += torch.bmm(said.transpose(1, 2), queries[:, rows])
        return of_queries, of_keys, None, None


def _chunks(kinds: Tensor, *, scores_a_row: int) -> Iterator[tuple[int, Tensor]]:
    """Rows of one kind each, not too many at once."""
    most = max(1, _CHUNK // scores_a_row)
    for kind in torch.unique(kinds).tolist():
        for rows in (kinds == kind).nonzero()[:, 0].split(most):
            yield kind, rows


def relative_scores(queries: Tensor, keys: Tensor, kinds: Tensor, columns: Tensor) -> Tensor:
    """Products of queries with keys that each pair picks by itself.

    Args:
        queries: # [heads, rows, width]
        keys: The keys that queries of each kind may meet.  # [kinds, heads, columns, width]
        kinds: The kind of each query.  # [rows]
        columns: The key that each query meets at each place.  # [rows, places]

    Returns:
        # [heads, rows, places]
    """
    with torch.autocast(queries.device.type, enabled=False):  # mixed precision ends here
        scores: Tensor = _RelativeScores.apply(  # type: ignore[no-untyped-call]
            queries, keys.to(queries.dtype), kinds, columns
        )
    return scores
