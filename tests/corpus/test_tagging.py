"""Tags to entities and back, for every scheme."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacuner import Entity
from lacuner.corpus.tagging import (
    SCHEMES,
    UnknownTag,
    decode_tags,
    encode_tags,
    find_scheme,
    looks_like_tag,
    parse_tag,
    runs,
    without_overlap,
)

Key = tuple[int, int, str]


@st.composite
def flat_entities(draw: st.DrawFn) -> tuple[int, list[Entity]]:
    """How many words, and entities that do not overlap but may touch."""
    found, at = [], 0
    for gap, length, label in draw(
        st.lists(
            st.tuples(
                st.integers(0, 2), st.integers(1, 3), st.sampled_from(["PER", "LOC", "X-Y", "O"])
            ),
            max_size=6,
        )
    ):
        found.append(Entity(at + gap, at + gap + length, label))
        at += gap + length
    return at + draw(st.integers(0, 2)), found


def keys(entities: list[Entity]) -> list[Key]:
    return [entity.key for entity in entities]


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme != "io"])
@given(drawn=flat_entities())
def test_entities_to_tags_and_back_is_identity(
    scheme: str, drawn: tuple[int, list[Entity]]
) -> None:
    length, entities = drawn
    tags = encode_tags(length, entities, scheme)
    decoded = decode_tags(tags, scheme)
    assert decoded.spans == keys(entities)
    assert not decoded.broken and not decoded.outside


@pytest.mark.parametrize("scheme", SCHEMES)
@given(drawn=flat_entities())
def test_tags_to_entities_and_back_is_identity(
    scheme: str, drawn: tuple[int, list[Entity]]
) -> None:
    tags = encode_tags(*drawn, scheme)
    spans = decode_tags(tags, scheme).spans
    assert encode_tags(len(tags), [Entity(*span) for span in spans], scheme) == tags


@pytest.mark.parametrize("scheme", SCHEMES)
@given(drawn=flat_entities())
def test_scheme_that_is_found_reads_like_the_one_written(
    scheme: str, drawn: tuple[int, list[Entity]]
) -> None:
    tags = encode_tags(*drawn, scheme)
    found = find_scheme([tags])
    assert decode_tags(tags, found).spans == decode_tags(tags, scheme).spans


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("iob1", "I-P I-P B-P I-L O"),
        ("bio", "B-P I-P B-P B-L O"),
        ("bioes", "B-P E-P S-P S-L O"),
        ("bilou", "B-P L-P U-P U-L O"),
        ("bmes", "B-P E-P S-P S-L O"),
        ("io", "I-P I-P I-P I-L O"),
    ],
)
def test_scheme_writes_its_letters(scheme: str, tags: str) -> None:
    entities = [Entity(0, 2, "P"), Entity(2, 3, "P"), Entity(3, 4, "L")]
    assert encode_tags(5, entities, scheme) == tags.split()


def test_long_entity_has_an_inside() -> None:
    entity = [Entity(0, 4, "P")]
    assert encode_tags(4, entity, "bmes") == ["B-P", "M-P", "M-P", "E-P"]
    assert encode_tags(4, entity, "bilou") == ["B-P", "I-P", "I-P", "L-P"]


@pytest.mark.parametrize(
    ("rows", "scheme"),
    [
        (["B-P I-P O", "O B-L"], "bio"),
        (["I-P I-P O", "O I-L"], "iob1"),
        (["I-P B-P"], "iob1"),
        (["B-P I-P", "O I-P"], "bio"),  # a stray tag makes no scheme
        (["O O", "B-P E-P"], "bioes"),
        (["B-P M-P E-P"], "bioes"),
        (["U-P"], "bioes"),
        (["O O"], "bio"),
        ([], "bio"),
    ],
)
def test_scheme_is_found(rows: list[str], scheme: str) -> None:
    assert find_scheme(row.split() for row in rows) == scheme


@pytest.mark.parametrize(
    ("scheme", "tags", "spans", "mended", "breaks"),
    [
        ("bio", "O I-P I-P O", [], [(1, 3, "P")], 1),
        ("bio", "I-P", [], [(0, 1, "P")], 1),
        ("bio", "B-P I-L", [(0, 1, "P")], [(0, 1, "P"), (1, 2, "L")], 1),
        ("bio", "I-P O I-P", [], [(0, 1, "P"), (2, 3, "P")], 2),
        ("bio", "I-P I-L", [], [(0, 1, "P"), (1, 2, "L")], 2),
        ("bioes", "O M-P E-P O", [], [(1, 3, "P")], 1),
        ("bioes", "E-P E-P", [], [(0, 1, "P"), (1, 2, "P")], 2),
        ("bioes", "B-P I-P O", [(0, 2, "P")], [(0, 2, "P")], 1),
        ("bioes", "B-P B-P E-P", [(0, 1, "P"), (1, 3, "P")], [(0, 1, "P"), (1, 3, "P")], 1),
    ],
)
def test_broken_tags_are_counted_left_out_or_mended(
    scheme: str, tags: str, spans: list[Key], mended: list[Key], breaks: int
) -> None:
    decoded = decode_tags(tags.split(), scheme)
    assert decoded.spans == spans
    assert len(decoded.broken) == breaks
    assert decode_tags(tags.split(), scheme, repair=True).spans == mended


def test_broken_tag_says_where_and_what() -> None:
    (broken,) = decode_tags(["O", "I-P"], "bio").broken
    assert (broken.index, broken.what) == (1, "I-P after O")


@pytest.mark.parametrize("tag", ["", "X", "X-PER", "B-", "-PER", "b-PER", "o", "BPER"])
def test_tag_of_no_scheme_is_unknown(tag: str) -> None:
    assert not looks_like_tag(tag)
    with pytest.raises(ValueError):
        parse_tag(tag)
    with pytest.raises(UnknownTag) as caught:
        decode_tags(["O", tag], "bio")
    assert caught.value.index == 1 and caught.value.tag == tag


@pytest.mark.parametrize(("tag", "scheme"), [("E-P", "bio"), ("S-P", "iob1"), ("B-P", "io")])
def test_tag_of_another_scheme_is_unknown(tag: str, scheme: str) -> None:
    with pytest.raises(UnknownTag, match="--scheme"):
        decode_tags([tag], scheme)


def test_io_takes_labels_alone() -> None:
    assert decode_tags(["PER", "PER", "O", "I-LOC"], "io").spans == [(0, 2, "PER"), (3, 4, "LOC")]


def test_outside_is_known_only_where_unknown_is_said() -> None:
    assert decode_tags(["O", "UNK", "B-P", "O", "O"], "bio").outside == [(0, 1), (3, 5)]
    assert decode_tags(["O", "O", "B-P"], "bio").outside == []


@given(st.lists(st.booleans()))
def test_runs_cover_what_is_true(flags: list[bool]) -> None:
    covered = [index for start, end in runs(flags) for index in range(start, end)]
    assert covered == [index for index, flag in enumerate(flags) if flag]
    assert all(end not in {start for start, _ in runs(flags)} for _, end in runs(flags))


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), unique=True, max_size=8))
def test_without_overlap_keeps_the_longest(places: list[tuple[int, int]]) -> None:
    entities = [Entity(start, start + length, "P") for start, length in places]
    kept, dropped = without_overlap(entities)
    assert sorted(keys(kept) + keys([entity for entity, _ in dropped])) == sorted(keys(entities))
    words = [index for entity in kept for index in range(entity.start, entity.end)]
    assert len(words) == len(set(words))
    for entity, rival in dropped:
        assert rival in kept
        assert rival.end - rival.start >= entity.end - entity.start
        assert rival.start < entity.end and entity.start < rival.end
