"""What the labels of a batch say about gaps between words and about chunks.

A gap is unknown where a word beside it is: neither labelled nor known to be in no entity. A word
that is known to be in no entity is a chunk by itself, without a label.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.models.allowed_tags import unsettled_spans
from lacuner.models.batch import Batch, Output
from lacuner.models.targets import longest_apart, words_of


@dataclass(frozen=True)
class ChunkTargets:
    """What is known of the chunks of a batch.

    Attributes:
        breaks: Gaps that are breaks; all other known ones are ties.  # [batch, words - 1]
        known: Gaps of which it is known.  # [batch, words - 1]
        chunks: Sentence, start, end of spans of which something is known, should they be chunks.
            # [chunks, 3]
        types: The types that each of them may have, "no entity" first.  # [chunks, 1 + labels]
    """

    breaks: Tensor
    known: Tensor
    chunks: Tensor
    types: Tensor


def chunk_targets(batch: Batch, labels: int) -> ChunkTargets:
    """What the labels say.

    Of overlapping entities the longest count, of ambiguous spans the longest that touch no such
    entity. A rejected span, should it be a chunk, is no entity: that says nothing of its gaps.

    Args:
        batch: Sentences with their labels.
        labels: How many there are.
    """
    entities = batch.entities[longest_apart(batch.entities)]
    owner = torch.zeros_like(batch.outside, dtype=torch.long)  # 0, or the number of an entity
    _own(owner, entities, 1)
    ambiguous, allowed = unsettled_spans(batch, owner > 0)
    _own(owner, ambiguous, 1 + len(entities))

    outside = (batch.outside | batch.complete[:, None]) & batch.words & (owner == 0)
    settled = outside | (owner > 0)
    tied = (owner[:, 1:] == owner[:, :-1]) & (owner[:, 1:] > 0)

    single = outside.nonzero()  # [outside words, 2]
    single = torch.cat([single, single[:, 1:] + 1], 1)
    nothing = torch.zeros(1 + labels, dtype=torch.bool, device=owner.device)
    nothing[0] = True
    chunks = torch.cat([entities[:, :3], ambiguous, single, batch.rejected])
    types = torch.cat(
        [
            functional.one_hot(entities[:, 3], 1 + labels).bool(),
            functional.pad(allowed, (1, 0)),
            nothing.expand(len(single) + len(batch.rejected), -1),
        ]
    )
    return ChunkTargets(~tied, settled[:, 1:] & settled[:, :-1], chunks, types)


def scores_of_chunks(output: Output, chunks: Tensor) -> tuple[Tensor, Tensor]:
    """What a model says of the types of chunks.

    Args:
        output: What it says of a batch.
        chunks: Sentence, start, end.  # [chunks, 3]

    Returns:
        Which chunks are narrow enough to have scores [chunks], and the scores of those
        [some chunks, 1 + labels].
    """
    width = chunks[:, 2] - chunks[:, 1] - 1
    fits = width < output.scores.shape[2]
    return fits, output.scores[chunks[fits, 0], chunks[fits, 1], width[fits]]


def _own(owner: Tensor, spans: Tensor, first: int) -> None:
    """Writes the number of each span, from `first`, on its words."""
    row, offset = words_of(spans)
    owner[spans[row, 0], spans[row, 1] + offset] = first + row
