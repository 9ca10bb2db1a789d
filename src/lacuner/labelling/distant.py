"""Labels from dictionaries: a stream of sentences in, the same with entities out.

Sentences are taken in chunks, so that matching is vectorised and memory does not grow with the
corpus. Labels that a sentence has already are kept, unless the caller wants them dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Ambiguity, Entity, Sentence, Span
from lacuner.errors import UsageError
from lacuner.labelling import gazetteer_cache
from lacuner.labelling.compiling import compile_names
from lacuner.labelling.gazetteer import Finds, Gazetteer
from lacuner.labelling.label_report import LabelReport
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.meanings import Flags
from lacuner.labelling.names import NameFile, read_names
from lacuner.labelling.overlaps import resolve
from lacuner.labelling.phrases import PhraseFinder
from lacuner.matching.trie import Longs

_WORDS_IN_CHUNK = 1 << 16


@dataclass(frozen=True)
class Loaded:
    """A gazetteer that is ready, and whether the cache had it."""

    gazetteer: Gazetteer
    from_cache: bool


def load_gazetteer(
    files: list[NameFile],
    options: MatchOptions,
    *,
    cache: Path | None = None,
    findings: Findings | None = None,
) -> Loaded:
    """Compiles dictionaries, or takes them from a cache.

    Args:
        files: As of `name_files`.
        options: How to compare; its units must be `words` or `characters`.
        cache: A folder for compiled dictionaries; None keeps none.
        findings: Collects remarks on the dictionaries.

    Raises:
        DataError: A dictionary is not as it should be.
    """
    if options.units == "auto":
        raise UsageError("Units are 'words' or 'characters' here; see detect_units.")
    findings = findings if findings is not None else Findings()
    place = cache / gazetteer_cache.cache_key(files, options) if cache is not None else None
    if place is not None:
        known = gazetteer_cache.load(place, options)
        if known is not None:
            return Loaded(known, from_cache=True)
    gazetteer = compile_names(read_names(files, findings), options)
    if place is not None:
        reason = gazetteer_cache.remembered(place, gazetteer)
        if reason:
            findings.remark(f"the compiled dictionaries are not kept: {reason}")
    return Loaded(gazetteer, from_cache=False)


def label(
    sentences: Iterable[Sentence],
    gazetteer: Gazetteer,
    *,
    keep_labels: bool = True,
    phrases: PhraseFinder | None = None,
    report: LabelReport | None = None,
) -> Iterator[Sentence]:
    """Yields the sentences with the names of a gazetteer labelled.

    Every entity has as source its dictionary and entry, such as `people.txt:Ada Lovelace`.

    Args:
        sentences: Any sentences.
        gazetteer: The names.
        keep_labels: Labels that are there are kept: no name is labelled on their words, on words
            known to be outside, on a rejected span, or in a complete sentence. Otherwise the
            sentences start without labels.
        phrases: Finds candidate phrases; a name is labelled only where it is one, as a whole.
        report: Counts what was found.
    """
    for chunk in _chunks(sentences):
        if not keep_labels:
            chunk = [sentence.unlabelled() for sentence in chunk]
        yield from _label_chunk(chunk, gazetteer, phrases, report)


def _chunks(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    chunk: list[Sentence] = []
    words = 0
    for sentence in sentences:
        chunk.append(sentence)
        words += len(sentence.tokens)
        if words >= _WORDS_IN_CHUNK:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk


def _has_labels(sentence: Sentence) -> bool:
    return bool(
        sentence.entities
        or sentence.complete
        or sentence.outside
        or sentence.ambiguous
        or sentence.rejected
    )


def _label_chunk(
    chunk: list[Sentence],
    gazetteer: Gazetteer,
    phrases: PhraseFinder | None,
    report: LabelReport | None,
) -> list[Sentence]:
    tokens: list[str] = []
    for sentence in chunk:
        tokens.extend(sentence.tokens)
        tokens.append("")
    lengths = np.fromiter((len(sentence.tokens) + 1 for sentence in chunk), np.int64, len(chunk))
    begins = np.cumsum(lengths) - lengths
    codes = gazetteer.codes.of(tokens)
    finds = everything = gazetteer.find_codes(codes)
    if phrases is not None:
        finds = everything.take(_candidates(phrases(chunk), begins, everything))
    free = _free(chunk, begins, finds)
    candidates = finds.take(free)
    chosen = resolve(
        candidates.start,
        candidates.end,
        gazetteer.priority(candidates),
        gazetteer.options.overlap,
    )
    kept = candidates.take(chosen)
    if report is not None:
        report.add(
            codes,
            len(chunk),
            finds,
            kept,
            blocked=len(finds.start) - int(free.sum()),
            no_phrase=len(everything.start) - len(finds.start),
        )
    return _with_finds(chunk, begins, kept, gazetteer)


def _candidates(phrases: list[set[Span]], begins: Longs, finds: Finds) -> Flags:
    """Which finds are a candidate phrase from its first word to its last."""
    numbers = np.searchsorted(begins, finds.start, side="right") - 1
    starts, ends = finds.start - begins[numbers], finds.end - begins[numbers]
    places = zip(numbers.tolist(), starts.tolist(), ends.tolist(), strict=True)
    return np.array([(start, end) in phrases[number] for number, start, end in places], np.bool_)


def _free(chunk: list[Sentence], begins: Longs, finds: Finds) -> Flags:
    """Which finds do not touch what is known already."""
    free = np.ones(len(finds.start), np.bool_)
    known = [number for number, sentence in enumerate(chunk) if _has_labels(sentence)]
    if not known:
        return free
    taken = np.zeros(int(begins[-1]) + len(chunk[-1]) + 1, np.int32)
    rejected: set[tuple[int, int]] = set()
    for number in known:
        sentence, begin = chunk[number], int(begins[number])
        if sentence.complete:
            taken[begin : begin + len(sentence)] = 1
        spans = (
            *(entity.span for entity in sentence.entities),
            *(ambiguity.span for ambiguity in sentence.ambiguous),
            *sentence.outside,
        )
        for start, end in spans:
            taken[begin + start : begin + end] = 1
        rejected.update((begin + start, begin + end) for start, end in sentence.rejected)
    before = np.append(0, np.cumsum(taken))
    free &= before[finds.start] == before[finds.end]
    if rejected:
        spans_found = zip(finds.start.tolist(), finds.end.tolist(), strict=True)
        free &= np.array([span not in rejected for span in spans_found], np.bool_)
    return free


def _with_finds(
    chunk: list[Sentence], begins: Longs, kept: Finds, gazetteer: Gazetteer
) -> list[Sentence]:
    numbers = np.searchsorted(begins, kept.start, side="right") - 1
    starts = kept.start - begins[numbers]
    ends = kept.end - begins[numbers]
    entities: dict[int, list[Entity]] = {}
    ambiguous: dict[int, list[Ambiguity]] = {}
    skip = gazetteer.options.ambiguous == "skip"
    for number, start, end, sense in zip(
        numbers.tolist(), starts.tolist(), ends.tolist(), gazetteer.senses(kept), strict=True
    ):
        if not sense.labels:
            found = Entity(start, end, sense.label, sense.source)
            entities.setdefault(number, []).append(found)
        elif not skip:
            unsettled = Ambiguity(start, end, sense.labels, sense.source)
            ambiguous.setdefault(number, []).append(unsettled)
    labelled = list(chunk)
    for number in entities.keys() | ambiguous.keys():
        sentence = chunk[number]
        labelled[number] = sentence.with_labels(
            (*sentence.entities, *entities.get(number, ())),
            (*sentence.ambiguous, *ambiguous.get(number, ())),
        )
    return labelled
