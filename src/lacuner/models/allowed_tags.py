"""What the labels of a batch allow: a set of tags for every word.

The one mechanism behind all recipes that sum over what they do not know:

    a labelled entity      the one tag that each of its words has
    an ambiguous span      the tags of that place, of the labels it may have
    outside, complete      O
    anything else          every tag

A row of tags with an allowed tag at every word is a row that the labels do not contradict: with the
schemes `bio` and `bioes` exactly, since their neighbours say the rest. `io` cannot say where one
entity ends and another of its label begins, nor keep the words of an ambiguous span to one label;
there the sets allow more than the labels do.

Rejected spans are not in the sets. That no entity runs from here to there forbids no tag at any
word: each of the words may belong to a longer, a shorter or a crossing entity. So the sets err on
the side of allowing too much, and no true row is excluded, unless the labels contradict themselves
(an ambiguous span across an entity, in a sentence said to be complete); `allowed_if_entity` gives
the rows that a rejection excludes, from which `objectives.partial_crf` makes a term of its own.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.corpus.tag_set import TagSet
from lacuner.models.batch import Batch
from lacuner.models.targets import longest_apart, places_of, tag_targets, words_of


def allowed_tags(batch: Batch, tag_set: TagSet) -> Tensor:
    """The tags that each word may have.

    Of overlapping entities the longest count, as everywhere in taggers; of ambiguous spans the
    longest that touch no such entity. A labelled entity wins over `outside`.

    Args:
        batch: Sentences with their labels.
        tag_set: The tags.

    Returns:
        Places without a word allow every tag.  # [batch, words, tags]
    """
    targets, _ = tag_targets(batch, tag_set)
    labelled = targets > 0  # [batch, words]
    known = labelled | batch.outside | batch.complete[:, None]
    allowed = (~(known & batch.words))[:, :, None].repeat(1, 1, len(tag_set))
    allowed.scatter_(2, targets[:, :, None], True)  # O, where there is no entity

    spans, labels = unsettled_spans(batch, labelled)
    row, offset = words_of(spans)
    sentence, start = spans[row, 0], spans[row, 1]
    allowed[sentence, start + offset] = _tags_within(spans, labels, tag_set)

    if tag_set.scheme == "bio":
        # An entity ends because the next word does not continue it: so it must not.
        covered = labelled.clone()
        covered[sentence, start + offset] = True
        after = functional.pad(covered[:, :-1], (1, 0)) & ~covered & batch.words
        allowed[:, :, _inside_tags(tag_set)] &= ~after[:, :, None]
    return allowed


def allowed_if_entity(allowed: Tensor, spans: Tensor, tag_set: TagSet) -> Tensor:
    """What would be allowed if a span were an entity, of any label.

    Args:
        allowed: What is allowed.  # [batch, words, tags]
        spans: Sentence, start, end.  # [spans, 3]
        tag_set: The tags, of the scheme `bio` or `bioes`.

    Returns:
        The sets of each span's sentence.  # [spans, words, tags]
    """
    labels = torch.ones(len(spans), len(tag_set.labels), dtype=torch.bool, device=spans.device)
    row, offset = words_of(spans)
    then = allowed[spans[:, 0]]
    then[row, spans[row, 1] + offset] &= _tags_within(spans, labels, tag_set)
    if tag_set.scheme == "bio":
        followed = (spans[:, 2] < allowed.shape[1]).nonzero()[:, 0]
        then[followed, spans[followed, 2], _inside_tags(tag_set)] = False
    return then


def _tags_within(spans: Tensor, labels: Tensor, tag_set: TagSet) -> Tensor:
    """The tags of the words of entities.

    Args:
        spans: Sentence, start, end.  # [spans, 3]
        labels: The labels that each may have.  # [spans, labels]
        tag_set: The tags.

    Returns:
        Span by span.  # [words of all spans, tags]
    """
    row, offset = words_of(spans)
    width = (spans[:, 2] - spans[:, 1])[row]
    place = functional.one_hot(places_of(offset, width, tag_set), tag_set.places).bool()
    return functional.pad((labels[row][:, :, None] & place[:, None]).flatten(1), (1, 0))


def _inside_tags(tag_set: TagSet) -> slice:
    return slice(1 + tag_set.place_numbers[1], None, tag_set.places)


def unsettled_spans(batch: Batch, labelled: Tensor) -> tuple[Tensor, Tensor]:
    """Ambiguous spans that overlap neither a labelled entity nor a longer ambiguous span.

    Args:
        batch: Sentences with their labels.
        labelled: Words of labelled entities.  # [batch, words]

    Returns:
        Sentence, start, end [spans, 3], and which labels they may have [spans, labels].
    """
    spans, labels = batch.ambiguous, batch.ambiguous_labels
    row, offset = words_of(spans)
    touches = torch.zeros(len(spans), dtype=torch.long, device=spans.device)
    touches.index_add_(0, row, labelled[spans[row, 0], spans[row, 1] + offset].long())
    free = touches == 0
    spans, labels = spans[free], labels[free]
    kept = longest_apart(spans)
    return spans[kept], labels[kept]
