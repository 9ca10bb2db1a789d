"""Which classes of Wikidata stand for which label: the shipped table, and types of one's own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lacuner.errors import UsageError

_CLASS = re.compile(r"Q[1-9][0-9]*")
_LABEL = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True)
class NameType:
    """A label, and where its names come from.

    Attributes:
        label: Such as `PER`.
        classes: Items of Wikidata, such as `Q5`; their instances, and those of the classes below
            them, have the label.
        demonyms_of: Classes whose instances have people and things called after them: the words
            for these (property P1549: "German" of Germany) have the label too.

    Raises:
        UsageError: A label that cannot name a file, or a class that is none.
    """

    label: str
    classes: tuple[str, ...]
    demonyms_of: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checked_label(self.label)
        for name in (*self.classes, *self.demonyms_of):
            if not _CLASS.fullmatch(name):
                raise UsageError(f"A class of Wikidata is written as Q5 is; '{name}' is not.")


def checked_label(label: str) -> str:
    """A label that can also be the name of its dictionary.

    Raises:
        UsageError: It cannot.
    """
    if not _LABEL.fullmatch(label):
        raise UsageError(
            f"A label has letters, digits, '.', '-' and '_', for its dictionary is called after "
            f"it; '{label}' is not such."
        )
    return label


def parse_types(descriptions: Iterable[str]) -> list[NameType]:
    """Types from `LABEL=Q1,Q2`; a label that is given twice has all its classes.

    Example:
        >>> parse_types(["DISEASE=Q12136,Q929833"])
        [NameType(label='DISEASE', classes=('Q12136', 'Q929833'), demonyms_of=())]

    Raises:
        UsageError: A description of another form.
    """
    classes: dict[str, list[str]] = {}
    for description in descriptions:
        label, _, names = description.partition("=")
        found = [name.strip() for name in names.split(",") if name.strip()]
        if not label.strip() or not found:
            raise UsageError(f"--class takes LABEL=Q1,Q2; '{description}' is not that.")
        classes.setdefault(label.strip(), []).extend(found)
    return [NameType(label, tuple(dict.fromkeys(found))) for label, found in classes.items()]


_TYPES = (
    NameType(
        "PER",
        (
            "Q5",  # human
            "Q15632617",  # fictional human
        ),
    ),
    # Narrow classes, not "geographic location" or "organization": these lie so high in the tree
    # that the classes below them cross each other.
    NameType(
        "LOC",
        (
            "Q6256",  # country
            "Q3624078",  # sovereign state
            "Q56061",  # administrative territorial entity
            "Q486972",  # human settlement
            "Q515",  # city
            "Q82794",  # geographic region
            "Q5107",  # continent
            "Q23442",  # island
            "Q8502",  # mountain
            "Q46831",  # mountain range
            "Q4022",  # river
            "Q23397",  # lake
            "Q165",  # sea
            "Q9430",  # ocean
            "Q1248784",  # airport
            "Q79007",  # street
            "Q12280",  # bridge
            "Q483110",  # stadium
        ),
    ),
    NameType(
        "ORG",
        (
            "Q4830453",  # business
            "Q783794",  # company
            "Q22687",  # bank
            "Q46970",  # airline
            "Q7278",  # political party
            "Q327333",  # government agency
            "Q484652",  # international organization
            "Q163740",  # nonprofit organization
            "Q3918",  # university
            "Q12973014",  # sports team
            "Q847017",  # sports club
            "Q476028",  # association football club
            "Q215380",  # musical group
            "Q11032",  # newspaper
            "Q1616075",  # television station
            "Q14350",  # radio station
            "Q176799",  # military unit
        ),
    ),
    NameType(
        "MISC",
        (
            "Q34770",  # language
            "Q41710",  # ethnic group
            "Q9174",  # religion
            "Q198",  # war
            "Q178561",  # battle
            "Q18608583",  # recurring sporting event
            "Q132241",  # festival
            "Q618779",  # award
            "Q11424",  # film
            "Q5398426",  # television series
            "Q7725634",  # literary work
            "Q482994",  # album
            "Q7889",  # video game
            "Q7397",  # software
            "Q3231690",  # automobile model
        ),
        demonyms_of=(
            "Q6256",  # country
            "Q5107",  # continent
            "Q515",  # city
        ),
    ),
)

WIKIDATA_TYPES: dict[str, NameType] = {found.label: found for found in _TYPES}
