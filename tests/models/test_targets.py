"""Targets against the plain loops that they stand for."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lacuner import Entity, Sentence
from lacuner.corpus.tag_set import TAGGER_SCHEMES, TagSet
from lacuner.corpus.tagging import encode_tags, without_overlap
from lacuner.models.span_features import band_mask
from lacuner.models.targets import span_targets, tag_targets
from tests.neural import batch_of, output_of, sentence
from tests.strategies import LABELS, sentences

KNOWN = LABELS[:4]  # the others are labels that the model does not know

several = st.lists(sentences(min_words=1), min_size=1, max_size=4)


@settings(deadline=None)
@given(several, st.integers(1, 5))
def test_span_targets_say_what_entities_say(found: list[Sentence], max_width: int) -> None:
    batch = batch_of(found, KNOWN)
    words = int(batch.lengths.max())
    widths = min(words, max_width)
    mask = band_mask(batch.lengths, words, widths)
    targets, settled = span_targets(output_of(torch.zeros(*mask.shape, 5), mask), batch)
    for row, each in enumerate(found):
        numbers = {e.span: KNOWN.index(e.label) + 1 for e in each.entities if e.label in KNOWN}
        ambiguous = {a.span for a in each.ambiguous}
        for start in range(words):
            for width in range(widths):
                span = start, start + width + 1
                assert targets[row, start, width] == numbers.get(span, 0)
                inside = span[1] <= len(each)
                assert settled[row, start, width] == (inside and span not in ambiguous)


@settings(deadline=None)
@given(several, st.sampled_from(TAGGER_SCHEMES))
def test_tag_targets_are_the_tags_of_the_longest_entities(
    found: list[Sentence], scheme: str
) -> None:
    batch = batch_of(found, KNOWN)
    tag_set = TagSet(KNOWN, scheme)
    targets, settled = tag_targets(batch, tag_set)
    for row, each in enumerate(found):
        kept, _ = without_overlap(e for e in each.entities if e.label in KNOWN)
        tags = encode_tags(len(each), kept, scheme)
        assert [tag_set.tags[tag] for tag in targets[row, : len(each)].tolist()] == tags
        open_words = {index for a in each.ambiguous for index in range(a.start, a.end)}
        for index in range(settled.shape[1]):
            right = index < len(each) and not (index in open_words and tags[index] == "O")
            assert settled[row, index] == right


def test_tag_targets_take_the_longest_first_in_a_chain_of_overlaps() -> None:
    # The longest ends its neighbour, which frees the one behind; sentences do not touch.
    chain = [(0, 2, "A"), (1, 4, "A"), (3, 7, "B"), (6, 8, "A")]
    batch = batch_of([sentence(9, chain), sentence(9, chain[:2])], ("A", "B"))
    targets, _ = tag_targets(batch, TagSet(("A", "B"), "io"))
    assert targets.tolist() == [[1, 1, 0, 2, 2, 2, 2, 0, 0], [0, 1, 1, 1, 0, 0, 0, 0, 0]]


def test_batch_without_entities_has_targets_of_zero() -> None:
    batch = batch_of([Sentence("1", ("a",)), Sentence("2", ("b", "c"), (Entity(0, 1, "X"),))], "A")
    targets, settled = tag_targets(batch, TagSet(("A",)))
    assert not targets.any()
    assert settled.tolist() == [[True, False], [True, True]]
