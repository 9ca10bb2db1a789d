"""What the labels of a batch say about each span: an entity, surely none, or nothing at all."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.models.batch import Batch, Output
from lacuner.models.targets import in_band, span_targets


@dataclass(frozen=True)
class SpanRoles:
    """Every span of the band, in one of three roles; ambiguous spans have none.

    Attributes:
        targets: The label's number, 0 where there is none.  # [batch, words, widths]
        annotated: Spans with a label.  # [batch, words, widths]
        trusted: Spans that are known to be no entity.  # [batch, words, widths]
        unknown: All others: most are none, some are unlabelled entities.  # [batch, words, widths]
    """

    targets: Tensor
    annotated: Tensor
    trusted: Tensor
    unknown: Tensor


def span_roles(output: Output, batch: Batch) -> SpanRoles:
    """Sorts the spans of a batch.

    Known to be no entity are unlabelled spans of complete sentences, rejected spans, and spans
    with a word that is in no entity.
    """
    targets, settled = span_targets(output, batch)
    annotated = settled & (targets > 0)
    trusted = batch.complete[:, None, None].expand_as(settled).clone()
    sentence, start, width = in_band(batch.rejected, settled.shape[2]).unbind(1)
    trusted[sentence, start, width] = True
    if bool(batch.outside.any()):
        trusted |= spans_with_a(batch.outside, settled.shape[2])
    trusted &= settled & ~annotated
    return SpanRoles(targets, annotated, trusted, settled & ~annotated & ~trusted)


def hidden_spans(output: Output, batch: Batch) -> Tensor | None:
    """Spans that are entities although no label says so; None where nobody knows.

    Returns:
        [batch, words, widths].
    """
    if batch.hidden is None:
        return None
    hidden = torch.zeros_like(output.mask)
    sentence, start, width = in_band(batch.hidden, hidden.shape[2]).unbind(1)
    hidden[sentence, start, width] = True
    return hidden


def words_within(spans: Tensor, like: Tensor) -> Tensor:
    """Words that are in one of some spans.

    Args:
        spans: Rows that begin with sentence, start, end.  # [spans, 3 or more]
        like: For the shape.  # [batch, words]

    Returns:
        [batch, words].
    """
    edges = torch.zeros(like.shape[0], like.shape[1] + 1, dtype=torch.long, device=like.device)
    one = edges.new_ones(len(spans))
    edges.index_put_((spans[:, 0], spans[:, 1]), one, accumulate=True)
    edges.index_put_((spans[:, 0], spans[:, 2]), -one, accumulate=True)
    return edges.cumsum(1)[:, :-1] > 0


def spans_with_a(word: Tensor, widths: int) -> Tensor:
    """Spans that hold a word of a kind.  # [batch, words] -> [batch, words, widths]"""
    words = word.shape[1]
    before = functional.pad(word.long().cumsum(1), (1, widths - 1), mode="constant")
    before[:, words + 1 :] = before[:, words : words + 1]
    ends = [before[:, width + 1 : width + 1 + words] for width in range(widths)]
    return torch.stack([end > before[:, :words] for end in ends], 2)
