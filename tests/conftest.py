"""Fixtures for all tests: where the shared corpora are, and a small corpus of our own."""

from __future__ import annotations

import os
from pathlib import Path

# Tiny networks are slower on two threads than on one, and much slower when the machine is busy.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from lacuner import Corpus, Entity, Sentence


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora; tests that ask for it are skipped where it is absent."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("LACUNER_SHARED_DATA", default))
    if not folder.is_dir():
        pytest.skip("the shared corpora are not here; LACUNER_SHARED_DATA can name their folder")
    return folder


def _sentence(number: int, text: str, *entities: tuple[int, int, str]) -> Sentence:
    return Sentence(str(number), tuple(text.split()), tuple(Entity(*entity) for entity in entities))


@pytest.fixture(scope="session")
def small_corpus() -> Corpus:
    """Twenty short sentences with gold labels."""
    rows: list[tuple[str, list[tuple[int, int, str]]]] = [
        ("Maren Holt moved to Bergen in May .", [(0, 2, "PER"), (4, 5, "LOC")]),
        ("Halden Freight hired Holt last week .", [(0, 2, "ORG"), (3, 4, "PER")]),
        ("Nobody expected rain in the harbour .", []),
        ("Bergen won the cup again .", [(0, 1, "ORG")]),
        ("The ferry from Gdynia was late .", [(3, 4, "LOC")]),
        ("Ines Okafor teaches at the University of Ghent .", [(0, 2, "PER"), (5, 8, "ORG")]),
        ("Ghent lies on two rivers .", [(0, 1, "LOC")]),
        ("Her Veltra broke down near Lisbon .", [(1, 2, "PRODUCT"), (5, 6, "LOC")]),
        ("Prices rose by 3.5 % .", []),
        ("Okafor and Holt met in Osaka .", [(0, 1, "PER"), (2, 3, "PER"), (5, 6, "LOC")]),
        ("Lumo sells the Lumo One in Japan .", [(0, 1, "ORG"), (3, 5, "PRODUCT"), (6, 7, "LOC")]),
        ("She missed the last tram .", []),
        ("Jordan Ashby flew to Jordan .", [(0, 2, "PER"), (4, 5, "LOC")]),
        ("Kestrel Air cancelled two flights .", [(0, 2, "ORG")]),
        ("What a night in Recife !", [(4, 5, "LOC")]),
        ("Paris Delacroix left Paris for good .", [(0, 2, "PER"), (3, 4, "LOC")]),
        ("The Wren is a very small car .", [(1, 2, "PRODUCT")]),
        ("Sana Mirza wrote about Norcap .", [(0, 2, "PER"), (4, 5, "ORG")]),
        ("It was the smell , not the scan .", []),
        ("Mirza drove from Ghent to Lake Orsa .", [(0, 1, "PER"), (3, 4, "LOC"), (5, 7, "LOC")]),
    ]
    return Corpus(tuple(_sentence(n, text, *found) for n, (text, found) in enumerate(rows, 1)))
