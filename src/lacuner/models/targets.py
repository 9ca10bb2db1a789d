"""What the labels of a batch say, in the shape of a model's scores.

Whatever has no label has target 0 here, "no entity" or O: an objective that knows better than that
masks it. Nothing loops over sentences or spans.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lacuner.corpus.tag_set import TagSet
from lacuner.models.batch import Batch, Output


def span_targets(output: Output, batch: Batch) -> tuple[Tensor, Tensor]:
    """The label number of every span of the band.

    Entities that are wider than the band are not in it; they are skipped.

    Returns:
        Numbers [batch, words, widths], and which spans are settled: those of `output.mask` that
        are not ambiguous.
    """
    widths = output.mask.shape[2]
    targets = torch.zeros_like(output.mask, dtype=torch.long)
    sentence, start, width, label = in_band(batch.entities, widths).unbind(1)
    targets[sentence, start, width] = label
    settled = output.mask.clone()
    sentence, start, width = in_band(batch.ambiguous, widths).unbind(1)
    settled[sentence, start, width] = False
    return targets, settled


def in_band(rows: Tensor, widths: int) -> Tensor:
    """Rows of sentence, start, end, …, with the place of the width instead of the end."""
    width = rows[:, 2] - rows[:, 1] - 1
    placed = torch.cat([rows[:, :2], width[:, None], rows[:, 3:]], 1)
    return placed[width < widths]


def tag_targets(batch: Batch, tag_set: TagSet) -> tuple[Tensor, Tensor]:
    """The tag number of every word.

    Of overlapping entities the longest are tagged, as `tagging.without_overlap` keeps them.

    Returns:
        Numbers [batch, words], and which words are settled: all but those of ambiguous spans
        that no tagged entity covers.
    """
    entities = batch.entities[longest_apart(batch.entities)]
    row, offset = words_of(entities)
    sentence, start, end, label = entities[row].unbind(1)
    place = places_of(offset, end - start, tag_set)
    targets = torch.zeros_like(batch.outside, dtype=torch.long)
    targets[sentence, start + offset] = 1 + (label - 1) * tag_set.places + place

    row, offset = words_of(batch.ambiguous)
    sentence, start, _ = batch.ambiguous[row].unbind(1)
    open_words = torch.zeros_like(batch.outside)
    open_words[sentence, start + offset] = True
    return targets, batch.words & ~(open_words & (targets == 0))


def places_of(offset: Tensor, width: Tensor, tag_set: TagSet) -> Tensor:
    """The place among a label's tags of the word that stands `offset` words behind a first word.

    Args:
        offset: From 0.  # [words]
        width: Words of the entity it belongs to.  # [words]
        tag_set: The tags.

    Returns:
        [words].
    """
    first, inside, last, single = tag_set.place_numbers
    is_first, is_last = offset == 0, offset == width - 1
    place = torch.full_like(offset, inside)
    place[is_first] = first
    place[is_last] = last
    place[is_first & is_last] = single
    return place


def words_of(rows: Tensor) -> tuple[Tensor, Tensor]:
    """The row of each word of all spans, and how far it stands behind the span's first word."""
    widths = rows[:, 2] - rows[:, 1]
    row = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), widths)
    begins = widths.cumsum(0) - widths
    return row, torch.arange(len(row), device=rows.device) - begins[row]


def longest_apart(entities: Tensor) -> Tensor:
    """Which spans stay when longer ones (of equal ones the earlier) push out overlapping ones.

    In each round every span without a stronger living rival is kept and ends its rivals. That
    is what one would get by taking them one by one, longest first; a round or two are enough for
    real sentences.
    """
    sentence, start, end = entities[:, 0], entities[:, 1], entities[:, 2]
    overlap = (sentence[:, None] == sentence) & (start[:, None] < end) & (start < end[:, None])
    width = end - start
    stronger = (width[:, None] > width) | ((width[:, None] == width) & (start[:, None] < start))
    beats = overlap & stronger  # [entities, entities]: the first beats the second
    kept = torch.zeros_like(sentence, dtype=torch.bool)
    alive = ~kept
    while bool(alive.any()):
        winners = alive & ~(beats & alive[:, None]).any(0)
        kept |= winners
        alive = alive & ~winners & ~(overlap & winners[:, None]).any(0)
    return kept
