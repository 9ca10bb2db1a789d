"""The tags of a tagger agree with what `tagging` reads and writes."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from lacuner import Entity
from lacuner.corpus.tag_set import TAGGER_SCHEMES, TagSet
from lacuner.corpus.tagging import decode_tags, encode_tags
from lacuner.errors import UsageError


@pytest.mark.parametrize("scheme", TAGGER_SCHEMES)
def test_transitions_allow_exactly_the_rows_that_decode_unbroken(scheme: str) -> None:
    tag_set = TagSet(("LOC", "PER"), scheme)
    for length in (1, 2, 3):
        for row in product(tag_set.tags, repeat=length):
            allowed = (
                tag_set.may_begin(row[0])
                and tag_set.may_end(row[-1])
                and all(tag_set.may_follow(*pair) for pair in pairwise(row))
            )
            assert allowed == (not decode_tags(row, scheme).broken), row


@pytest.mark.parametrize("scheme", TAGGER_SCHEMES)
@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_place_numbers_give_the_tags_that_are_written(scheme: str, width: int) -> None:
    tag_set = TagSet(("LOC", "PER"), scheme)
    first, inside, last, single = tag_set.place_numbers
    places = [single] if width == 1 else [first, *[inside] * (width - 2), last]
    for number, label in enumerate(tag_set.labels, 1):
        tags = [tag_set.tags[1 + (number - 1) * tag_set.places + place] for place in places]
        assert tags == encode_tags(width, [Entity(0, width, label)], scheme)


def test_tags_count_o_and_every_place_of_every_label() -> None:
    assert len(TagSet(("A", "B", "C"), "bioes")) == 13
    assert TagSet(("A",), "io").tags == ("O", "I-A")


def test_unknown_scheme_is_named_with_the_close_one() -> None:
    with pytest.raises(UsageError, match="Did you mean bioes"):
        TagSet(("A",), "bioess")
