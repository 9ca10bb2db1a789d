"""The engines that names could be matched with, each measured alone in a process of its own.

Every part gets the same names and the same text, already cut into words, and returns figures. The
two Aho-Corasick automata see words joined by single blanks and their finds are checked for word
boundaries, so that all engines must find the same.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacuner.corpus.raw_text import words_of
from lacuner.labelling import MatchOptions, load_gazetteer, name_files, read_names
from lacuner.labelling.overlaps import resolve

OPTIONS = MatchOptions(units="words")
_CHUNK_WORDS = 1 << 16
Spans = tuple[NDArray[np.int64], NDArray[np.int64]]


class Clock:
    """Adds up the time between `with` entries, by the wall and by this process's core."""

    def __init__(self) -> None:
        self.wall = self.core = 0.0

    def __enter__(self) -> None:
        self._wall, self._core = perf_counter(), process_time()

    def __exit__(self, *_: object) -> None:
        self.wall += perf_counter() - self._wall
        self.core += process_time() - self._core


def peak_memory() -> int:
    """The highest memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def chunks_of_words(text: Path, limit: int) -> Iterator[tuple[list[str], int]]:
    """Yields words of about 65,000 at a time, "" after each line, and how many blanks cut."""
    tokens: list[str] = []
    words = total = 0
    with open(text, encoding="utf-8") as file:
        for line in file:
            tokens.extend(words_of(line))
            tokens.append("")
            words += line.count(" ") + 1
            if words >= _CHUNK_WORDS or total + words >= limit:
                yield tokens, words
                total += words
                tokens, words = [], 0
                if total >= limit:
                    return
    if tokens:
        yield tokens, words


def measure(
    text: Path, limit: int, find: Callable[[list[str], Clock], Spans], built: Clock
) -> dict[str, Any]:
    """Runs an engine over the text; what it does before starting its clock does not count."""
    ready = peak_memory()
    clock = Clock()
    words = finds = covered = checksum = 0
    for tokens, count in chunks_of_words(text, limit):
        start, end = find(tokens, clock)
        words += count
        finds += len(start)
        covered += int((end - start).sum())
        checksum = (checksum * 31 + int((start * 7 + end).sum())) % (1 << 61)
    return {
        "ready_seconds": round(built.wall, 2),
        "ready_core_seconds": round(built.core, 2),
        "ready_memory_mb": ready,
        "peak_memory_mb": peak_memory(),
        "words": words,
        "match_seconds": round(clock.wall, 3),
        "match_core_seconds": round(clock.core, 3),
        "words_per_second": round(words / clock.wall),
        "words_per_core_second": round(words / clock.core),
        "names_kept": finds,
        "words_in_names": covered,
        "checksum": checksum,
    }


def word_trie(names: Path, text: Path, limit: int, *, cache: Path | None = None) -> dict[str, Any]:
    """Lacuner's own: from words to finds that do not overlap."""
    built = Clock()
    with built:
        gazetteer = load_gazetteer(name_files([str(names)]), OPTIONS, cache=cache).gazetteer

    def find(tokens: list[str], clock: Clock) -> Spans:
        with clock:
            finds = gazetteer.find(tokens)
            kept = resolve(finds.start, finds.end, gazetteer.priority(finds), "leftmost")
            return finds.start[kept].astype(np.int64), finds.end[kept].astype(np.int64)

    return measure(text, limit, find, built)


def rust_automaton(names: Path, text: Path, limit: int) -> dict[str, Any]:
    """`ahocorasick_rs`, all overlapping finds, then boundaries and overlaps."""
    from ahocorasick_rs import AhoCorasick

    built = Clock()
    with built:
        automaton = AhoCorasick(joined_names(names))

    def raw(line: str) -> Spans:
        found = automaton.find_matches_as_indexes(line, overlapping=True)
        table = np.array(found, np.int64).reshape(-1, 3)
        return table[:, 1], table[:, 2]

    return measure(text, limit, _by_characters(raw), built)


def c_automaton(names: Path, text: Path, limit: int) -> dict[str, Any]:
    """`pyahocorasick`, likewise."""
    import ahocorasick

    built = Clock()
    with built:
        automaton = ahocorasick.Automaton(ahocorasick.STORE_LENGTH)
        for name in joined_names(names):
            automaton.add_word(name)
        automaton.make_automaton()

    def raw(line: str) -> Spans:
        table = np.array(list(automaton.iter(line)), np.int64).reshape(-1, 2)
        return table[:, 0] + 1 - table[:, 1], table[:, 0] + 1

    return measure(text, limit, _by_characters(raw), built)


def joined_names(names: Path) -> list[str]:
    """The names as words joined by blanks."""
    return [" ".join(words_of(name.name)) for name in read_names(name_files([str(names)]))]


def _by_characters(raw: Callable[[str], Spans]) -> Callable[[list[str], Clock], Spans]:
    def find(tokens: list[str], clock: Clock) -> Spans:
        line = " ".join(token or "\n" for token in tokens)
        lengths = np.fromiter((len(token) or 1 for token in tokens), np.int64, len(tokens))
        with clock:
            begin, end = raw(line)
            ends = np.cumsum(lengths + 1) - 1
            first = np.searchsorted(ends - lengths, begin)
            last = np.searchsorted(ends, end)
            whole = (ends - lengths)[first.clip(max=len(ends) - 1)] == begin
            whole &= ends[last] == end
            first, last = first[whole], last[whole] + 1
            order = np.lexsort((-last, first))
            first, last = first[order].astype(np.int32), last[order].astype(np.int32)
            kept = resolve(first, last, np.zeros(len(first), np.int32), "leftmost")
            return first[kept].astype(np.int64), last[kept].astype(np.int64)

    return find


def phrase_matcher(names: Path, text: Path, limit: int) -> dict[str, Any]:
    """spaCy's `PhraseMatcher` on its blank English tokeniser, all names, finds not resolved."""
    import spacy
    from spacy.matcher import PhraseMatcher

    built, cut, match = Clock(), Clock(), Clock()
    with built:
        blank = spacy.blank("en")
        matcher = PhraseMatcher(blank.vocab)
        pile: list[Any] = []
        for name in read_names(name_files([str(names)])):
            pile.append(blank.make_doc(name.name))
            if len(pile) == 20_000:
                matcher.add("NAME", pile)
                pile = []
        if pile:
            matcher.add("NAME", pile)
    ready = peak_memory()
    words = finds = 0
    with open(text, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            words += line.count(" ") + 1
            with cut:
                doc = blank.make_doc(line)
            with match:
                found = matcher(doc)
            finds += len(found)
            if words >= limit:
                break
    return {
        "ready_seconds": round(built.wall, 2),
        "ready_core_seconds": round(built.core, 2),
        "ready_memory_mb": ready,
        "words": words,
        "words_per_second_without_tokeniser": round(words / match.wall),
        "words_per_second_with_tokeniser": round(words / (match.wall + cut.wall)),
        "words_per_core_second_without_tokeniser": round(words / match.core),
        "words_per_core_second_with_tokeniser": round(words / (match.core + cut.core)),
        "finds": finds,
    }


def text_to_finds(names: Path, text: Path, limit: int, *, cache: Path) -> dict[str, Any]:
    """Lacuner from lines of text to finds, cutting words included: what spaCy does as a whole."""
    gazetteer = load_gazetteer(name_files([str(names)]), OPTIONS, cache=cache).gazetteer
    clock = Clock()
    words = finds = 0
    lines: list[str] = []
    with open(text, encoding="utf-8") as file:
        for line in file:
            lines.append(line)
            words += line.count(" ") + 1
            if len(lines) < 3000 and words < limit:
                continue
            with clock:
                tokens: list[str] = []
                for one in lines:
                    tokens.extend(words_of(one))
                    tokens.append("")
                found = gazetteer.find(tokens)
                kept = resolve(found.start, found.end, gazetteer.priority(found), "leftmost")
            finds += len(kept)
            lines = []
            if words >= limit:
                break
    return {
        "words": words,
        "words_per_second": round(words / clock.wall),
        "words_per_core_second": round(words / clock.core),
        "finds": finds,
    }
