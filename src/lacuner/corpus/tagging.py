"""Tags to entities and back: IOB1, BIO, BIOES, BILOU, BMES and IO, and `UNK` for unknown.

Every scheme is normalised to spans here, once; nothing else in Lacuner knows about prefixes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lacuner.corpus.sentence import Entity, Span, overlap

SCHEMES = ("iob1", "bio", "bioes", "bilou", "bmes", "io")
OUTSIDE, UNKNOWN = "O", "UNK"

# BMES and BILOU write other letters for the same four places.
_PLACES = {"B": "B", "I": "I", "M": "I", "E": "E", "L": "E", "S": "S", "U": "S"}
_PLACES_OF_SCHEME = {
    "iob1": "BI",
    "bio": "BI",
    "bioes": "BIES",
    "bilou": "BIES",
    "bmes": "BIES",
    "io": "I",
}
# Letters that encode start, inside, end and single word.
_LETTERS = {
    "iob1": "IIII",
    "bio": "BIIB",
    "bioes": "BIES",
    "bilou": "BILU",
    "bmes": "BMES",
    "io": "IIII",
}


class UnknownTag(ValueError):
    """A tag that belongs to no scheme, or not to the one of the file."""

    def __init__(self, tag: str, index: int, right: str) -> None:
        self.tag, self.index, self.right = tag, index, right
        super().__init__(f"tag '{tag}' of word {index + 1} is unknown. {right}")


@dataclass(frozen=True, slots=True)
class BrokenTag:
    """A tag that its scheme does not allow after the one before.

    Attributes:
        index: The word, from 0.
        what: What is wrong, such as `I-PER after O`.
    """

    index: int
    what: str


@dataclass(slots=True)
class Decoded:
    """What a row of tags says.

    Attributes:
        spans: `(start, end, label)` of each entity.
        outside: The runs of words tagged O, where other words are tagged unknown; else empty,
            since a file that never says "unknown" uses O for that as well.
        broken: Tags that break the scheme. A stray tag and those that continue it are one break:
            their words are left unlabelled, or are an entity when repaired. An entity that is
            not closed ends with its last tag.
    """

    spans: list[tuple[int, int, str]] = field(default_factory=list)
    outside: list[Span] = field(default_factory=list)
    broken: list[BrokenTag] = field(default_factory=list)


def parse_tag(tag: str) -> tuple[str, str]:
    """Place (B, I, E, S, O, or ? for unknown) and label of a tag.

    Raises:
        ValueError: It is no tag.
    """
    if tag == OUTSIDE:
        return "O", ""
    if tag == UNKNOWN:
        return "?", ""
    place, dash, label = tag.partition("-")
    if not dash or not label or place not in _PLACES:
        raise ValueError(tag)
    return _PLACES[place], label


def looks_like_tag(tag: str) -> bool:
    """Is this a tag of any scheme with prefixes?"""
    try:
        parse_tag(tag)
    except ValueError:
        return False
    return True


def find_scheme(rows: Iterable[Sequence[str]]) -> str:
    """The scheme that rows of tags are written in: bioes (also for BMES), iob1 or bio.

    Only I as the beginning of entities and B nowhere but between two of one label means IOB1.
    """
    inside_begins = begin_needless = False
    for row in rows:
        before = ""
        for tag in row:
            place, label = parse_tag(tag) if looks_like_tag(tag) else ("O", "")
            if place in "ES":
                return "bioes"
            inside_begins |= place == "I" and label != before
            begin_needless |= place == "B" and label != before
            before = label
    return "iob1" if inside_begins and not begin_needless else "bio"


def decode_tags(tags: Sequence[str], scheme: str, *, repair: bool = False) -> Decoded:
    """The entities that a row of tags says.

    Args:
        tags: One tag a word.
        scheme: One of `SCHEMES`; `io` also takes labels without a prefix.
        repair: Let a stray inside or end tag begin an entity.

    Raises:
        UnknownTag: A tag of no scheme, or of another one.
    """
    decoded = Decoded()
    closes = scheme in ("bioes", "bilou", "bmes")  # entities of these have an explicit end
    merges = scheme in ("iob1", "io")
    start, label = -1, ""  # the open entity, if start is not negative
    stray = ""  # the label of a stray inside tag, which the next tag may continue
    tag_before = "the beginning"

    def finish(end: int, *, closed: bool) -> None:
        nonlocal start
        if start >= 0:
            decoded.spans.append((start, end, label))
            if closes and not closed:
                decoded.broken.append(BrokenTag(end - 1, f"{tag_before} is not followed by an end"))
        start = -1

    for index, tag in enumerate(tags):
        stray_before, stray = stray, ""
        place, tag_label = _place(tag, index, scheme)
        continues = start >= 0 and tag_label == label
        if place in "O?":
            finish(index, closed=False)
        elif place == "B" or place == "S" or (merges and not continues):
            finish(index, closed=False)
            start, label = index, tag_label
        elif not continues:
            finish(index, closed=False)
            if tag_label != stray_before:
                decoded.broken.append(BrokenTag(index, f"{tag} after {tag_before}"))
            if repair:
                start, label = index, tag_label
            elif place == "I":
                stray = tag_label
        if place in "ES":
            finish(index + 1, closed=True)
        tag_before = tag
    finish(len(tags), closed=False)
    if UNKNOWN in tags:
        decoded.outside = runs(tag == OUTSIDE for tag in tags)
    return decoded


def _place(tag: str, index: int, scheme: str) -> tuple[str, str]:
    try:
        place, label = parse_tag(tag)
    except ValueError:
        if scheme == "io" and tag:
            return "I", tag
        raise UnknownTag(
            tag,
            index,
            "Tags are O, UNK, or a letter of B I E S (M L U), a dash and a label; "
            "--scheme io also takes labels alone",
        ) from None
    if place in "O?" or place in _PLACES_OF_SCHEME[scheme]:
        return place, label
    raise UnknownTag(
        tag, index, f"The file is read as {scheme}, which has no such tag; --scheme says another"
    )


def runs(flags: Iterable[bool]) -> list[Span]:
    """The stretches where `flags` are true, as spans."""
    spans: list[Span] = []
    start = -1
    index = -1
    for index, flag in enumerate(flags):
        if flag and start < 0:
            start = index
        elif not flag and start >= 0:
            spans.append((start, index))
            start = -1
    if start >= 0:
        spans.append((start, index + 1))
    return spans


def encode_tags(
    length: int, entities: Iterable[Entity], scheme: str = "bio", *, rest: str = OUTSIDE
) -> list[str]:
    """The tags of a sentence.

    Args:
        length: How many words it has.
        entities: Its entities, none overlapping another (see `without_overlap`).
        scheme: One of `SCHEMES`.
        rest: The tag of all other words.
    """
    tags = [rest] * length
    first, inside, last, single = tuple(_LETTERS[scheme])
    before: Entity | None = None
    for entity in sorted(entities, key=lambda e: e.start):
        adjacent = before is not None and before.end == entity.start
        touches = adjacent and before is not None and before.label == entity.label
        for index in range(entity.start, entity.end):
            tags[index] = f"{inside}-{entity.label}"
        if entity.end - entity.start == 1:
            tags[entity.start] = f"{single}-{entity.label}"
        else:
            tags[entity.start] = f"{first}-{entity.label}"
            tags[entity.end - 1] = f"{last}-{entity.label}"
        if scheme == "iob1" and touches:
            tags[entity.start] = f"B-{entity.label}"
        before = entity
    return tags


def without_overlap(entities: Iterable[Entity]) -> tuple[list[Entity], list[tuple[Entity, Entity]]]:
    """The longest entities that do not overlap, and `(left out, because of)` for the others."""
    kept: list[Entity] = []
    dropped: list[tuple[Entity, Entity]] = []
    for entity in sorted(entities, key=lambda e: (e.start - e.end, e.start)):
        rival = next((k for k in kept if overlap(k.span, entity.span)), None)
        if rival is None:
            kept.append(entity)
        else:
            dropped.append((entity, rival))
    kept.sort(key=lambda e: e.start)
    dropped.sort(key=lambda pair: pair[0].start)
    return kept, dropped
