"""Sentences become rows of tags; what tags cannot say is reported."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import WriteOptions
from lacuner.corpus.formats.losses import LABEL_RESPELT, described, report_unkept
from lacuner.corpus.formats.tag_rows import checked_scheme
from lacuner.corpus.sentence import Entity, Sentence
from lacuner.corpus.tagging import OUTSIDE, encode_tags, without_overlap
from lacuner.errors import UsageError

NESTED = "nested entity left out"
OVERLAP = "overlapping entity left out"
UNKNOWN_AS_O = "sentence whose unknown words were written as O"
MERGED = "neighbouring entities of one label merged"
_SPACE = re.compile(r"[\s\0\ufeff]")


def check_options(options: WriteOptions) -> None:
    """Refuses a scheme that there is not, and a tag for unknown words that could not be read.

    Raises:
        UsageError: See above.
    """
    checked_scheme(options.scheme)
    unknown = options.unknown
    if unknown is not None and (not unknown or _SPACE.search(unknown) or unknown == OUTSIDE):
        raise UsageError(f"'{unknown}' cannot be the tag for unknown words. Right is UNK.")


def tags_to_write(
    sentence: Sentence, scheme: str, options: WriteOptions, findings: Findings, *, format: str
) -> list[str]:
    """The tags of a sentence, everything that they cannot say being reported.

    Args:
        sentence: The sentence.
        scheme: The scheme to write.
        options: `unknown` is heeded.
        findings: Collects the losses.
        format: The name of the format, for remarks.
    """
    report_unkept(sentence, format, findings)
    kept, dropped = without_overlap(sentence.entities)
    for entity, rival in dropped:
        nested = rival.start <= entity.start and entity.end <= rival.end
        verb = "inside" if nested else "overlaps"
        detail = f"{described(sentence, entity)} {verb} {described(sentence, rival)}"
        findings.lose(NESTED if nested else OVERLAP, sentence.id, detail)
    kept = [_with_writable_label(entity, sentence, findings) for entity in kept]
    if scheme == "io":
        _report_merged(sentence, kept, findings)
    tags = encode_tags(len(sentence), kept, scheme)
    unknown = _unknown_words(sentence, kept, [entity for entity, _ in dropped])
    if options.unknown is not None:
        for index in unknown:
            tags[index] = options.unknown
    elif unknown:
        findings.lose(UNKNOWN_AS_O, sentence.id, f"{len(unknown)} of {len(sentence)} words")
    return tags


def _with_writable_label(entity: Entity, sentence: Sentence, findings: Findings) -> Entity:
    label = _SPACE.sub("_", entity.label)
    if label == entity.label:
        return entity
    findings.lose(LABEL_RESPELT, sentence.id, f"{entity.label!r} written as {label!r}")
    return replace(entity, label=label)


def _report_merged(sentence: Sentence, kept: list[Entity], findings: Findings) -> None:
    for first, second in pairwise(kept):
        if first.end == second.start and first.label == second.label:
            detail = f"{described(sentence, first)} and {described(sentence, second)}"
            findings.lose(MERGED, sentence.id, detail)


def _unknown_words(sentence: Sentence, kept: list[Entity], dropped: list[Entity]) -> list[int]:
    """The words of which the tags will say nothing, and of which O would say too much."""
    known = [sentence.complete] * len(sentence)
    for start, end in sentence.outside:
        known[start:end] = [True] * (end - start)
    unsettled = [found.span for found in sentence.ambiguous] + [entity.span for entity in dropped]
    for start, end in unsettled:
        known[start:end] = [False] * (end - start)
    for entity in kept:
        known[entity.start : entity.end] = [True] * (entity.end - entity.start)
    return [index for index, is_known in enumerate(known) if not is_known]
