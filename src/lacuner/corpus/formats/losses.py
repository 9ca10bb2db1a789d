"""What a format cannot keep, reported the same way by all writers of words and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Entity, Sentence

REJECTED = "rejected span left out"
AMBIGUOUS = "ambiguous span left out"
RESPELT = "characters that the file cannot hold replaced"
LABEL_RESPELT = "white space in a label replaced"
ENTITY = "entity left out"


def report_unkept(sentence: Sentence, format: str, findings: Findings) -> None:
    """Reports what files of words and labels never keep.

    Spans that a person decided on are losses, one by one. Ids, documents, texts, sources and the
    word that labels are complete concern the whole file: a remark each.
    """
    for span in sentence.rejected:
        findings.lose(REJECTED, sentence.id, f"'{sentence.surface(*span)}'")
    for found in sentence.ambiguous:
        labels = " or ".join(found.labels) or "of unknown label"
        findings.lose(AMBIGUOUS, sentence.id, f"'{sentence.surface(*found.span)}' ({labels})")
    if sentence.text is not None:
        findings.remark(f"{format} keeps words, not the text and their place in it")
    if any(e.source is not None or e.score is not None for e in sentence.entities):
        findings.remark(f"{format} does not keep source and score of entities")
    if sentence.complete:
        findings.remark(
            f"{format} cannot say that labels are complete; say --complete when it is read"
        )


def remark_renaming(sentence: Sentence, number: int, format: str, findings: Findings) -> None:
    """Remarks that ids are not kept, where they are not the number of the sentence anyway."""
    if sentence.id != str(number):
        findings.remark(f"{format} does not keep ids of sentences; they are numbered when read")


def remark_documents(sentence: Sentence, format: str, findings: Findings) -> None:
    """Remarks that documents are not kept."""
    if sentence.document is not None:
        findings.remark(f"{format} does not keep which document a sentence belongs to")


def report_entities(sentence: Sentence, findings: Findings) -> None:
    """Reports every entity as left out."""
    for entity in sentence.entities:
        findings.lose(ENTITY, sentence.id, described(sentence, entity))


def described(sentence: Sentence, entity: Entity) -> str:
    """An entity in a message: `'New York' (LOC)`."""
    return f"'{sentence.surface(*entity.span)}' ({entity.label})"


def respelt(
    words: Iterable[str],
    sentence_id: str,
    unwritable: re.Pattern[str],
    substitute: str,
    findings: Findings,
) -> list[str]:
    """The words, with characters that the file cannot hold replaced and reported."""
    written = []
    for word in words:
        if unwritable.search(word):
            spelling = unwritable.sub(substitute, word)
            findings.lose(RESPELT, sentence_id, f"{word!r} written as {spelling!r}")
            word = spelling
        written.append(word)
    return written
