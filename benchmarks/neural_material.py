"""Sentences for the benchmarks of networks, and the facts of the machine that runs them.

The words are those of the embedded corpus, cut anew so that the lengths are like those of
CoNLL-2003: a gamma distribution of shape 1.5 and mean 14.5 (quartiles 6, 12, 20; those of CoNLL
are 6, 10, 22). An entity that a cut would split is no entity.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import torch

from benchmarks.machine import processor
from lacuner import demo
from lacuner.corpus.sentence import Entity, Sentence
from lacuner.training.provenance import versions

RESULTS = Path(__file__).parent / "results"
THREADS = 2
MEAN_WORDS = 14.5
_MOST_WORDS = 113  # the longest sentence of CoNLL-2003's train


def conll_lengths(count: int, seed: int) -> list[int]:
    """Numbers of words as they occur in news."""
    drawn = np.random.default_rng(seed).gamma(1.5, MEAN_WORDS / 1.5, count)
    lengths: list[int] = np.clip(np.rint(drawn), 1, _MOST_WORDS).astype(int).tolist()
    return lengths


def sentences_of(lengths: Iterable[int], seed: int) -> list[Sentence]:
    """Sentences of these lengths, with the entities of the embedded corpus."""
    words, places = list[str](), list[Entity | None]()
    stream = _stream(seed)
    made = []
    for number, length in enumerate(lengths):
        while len(words) < length:
            sentence = next(stream)
            words += sentence.tokens
            begins = {entity.start: entity for entity in sentence.entities}
            places += [begins.get(place) for place in range(len(sentence))]
        entities = tuple(
            replace(entity, start=place, end=place + entity.end - entity.start)
            for place, entity in enumerate(places[:length])
            if entity is not None and place + entity.end - entity.start <= length
        )
        made.append(Sentence(str(number), tuple(words[:length]), entities, complete=True))
        words, places = words[length:], places[length:]
    return made


def _stream(seed: int) -> Iterator[Sentence]:
    """The embedded sentences in ever new orders, without their full stops.

    Without them a text of several sentences stays one, whoever cuts it.
    """
    everything = [sentence for part in demo.PARTS for sentence in demo.gold(part)]
    rng = np.random.default_rng(seed)
    while True:
        for number in rng.permutation(len(everything)):
            sentence = everything[number]
            end = len(sentence) - (sentence.tokens[-1] in ".!?")
            kept = tuple(entity for entity in sentence.entities if entity.end <= end)
            yield Sentence(sentence.id, sentence.tokens[:end], kept)


def machine() -> dict[str, Any]:
    """Where and when this runs."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": processor(),
        "threads": torch.get_num_threads(),
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "versions": versions(),
    }


def machine_line(facts: dict[str, Any]) -> str:
    """The same as a line for people."""
    packages = ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
    return (
        f"{facts['date']}, {facts['processor']}, {facts['threads']} threads, {packages}. "
        f"Load of the machine before: {facts['load_before']}."
    )


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """The lines of a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


def write_results(name: str, results: dict[str, Any], text: str, folder: Path) -> None:
    """Writes and prints what was measured: NAME.json, and NAME.md for people."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_bytes(orjson.dumps(results, option=orjson.OPT_INDENT_2) + b"\n")
    path.with_suffix(".md").write_text(text, "utf-8")
    print(text)
