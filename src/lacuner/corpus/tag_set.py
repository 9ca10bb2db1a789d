"""The tags that a tagger chooses among: their numbers, and which may follow which.

The other half of `tagging`: there tags are text of a file, here they are columns of a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lacuner.corpus.tagging import OUTSIDE, parse_tag
from lacuner.errors import UsageError
from lacuner.suggestions import unknown_name

# The letters of each scheme, and where among them the start, inside, end and single word stand.
_LETTERS = {"bio": "BI", "bioes": "BIES", "io": "I"}
_PLACES = {"bio": (0, 1, 1, 0), "bioes": (0, 1, 2, 3), "io": (0, 0, 0, 0)}

TAGGER_SCHEMES = tuple(_LETTERS)


@dataclass(frozen=True)
class TagSet:
    """All tags of some labels in a scheme.

    Tag 0 is O. The tags of the label with number `k` (from 1) are
    `1 + (k - 1) * places + place`, where `places` is how many letters the scheme has.

    Attributes:
        labels: The labels, in the order of their numbers.
        scheme: One of `TAGGER_SCHEMES`.

    Raises:
        UsageError: There is no such scheme.

    Example:
        >>> TagSet(("LOC", "PER"), "bio").tags
        ('O', 'B-LOC', 'I-LOC', 'B-PER', 'I-PER')
    """

    labels: tuple[str, ...]
    scheme: str = "bio"

    def __post_init__(self) -> None:
        if self.scheme not in _LETTERS:
            raise UsageError(unknown_name("tagging scheme", self.scheme, TAGGER_SCHEMES))

    def __len__(self) -> int:
        return len(self.tags)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags in the order of their numbers."""
        letters = _LETTERS[self.scheme]
        return (OUTSIDE, *(f"{letter}-{label}" for label in self.labels for letter in letters))

    @property
    def places(self) -> int:
        """How many tags a label has."""
        return len(_LETTERS[self.scheme])

    @property
    def place_numbers(self) -> tuple[int, int, int, int]:
        """The place of the first, an inner, the last and the only word of an entity."""
        return _PLACES[self.scheme]

    def may_begin(self, tag: str) -> bool:
        """May a sentence begin with this tag?"""
        return self.may_follow(OUTSIDE, tag)

    def may_end(self, tag: str) -> bool:
        """May a sentence end with this tag?"""
        return self.may_follow(tag, OUTSIDE)

    def may_follow(self, before: str, after: str) -> bool:
        """May `after` stand right behind `before`?"""
        if self.scheme == "io":
            return True
        place_before, label_before = parse_tag(before)
        place_after, label_after = parse_tag(after)
        is_open = place_before in "BI"
        continues = place_after in "IE"
        if is_open and continues:
            return label_before == label_after
        if continues:
            return False
        return not (is_open and self.scheme == "bioes")  # BIOES says where an entity ends
