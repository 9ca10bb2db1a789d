"""What the JSON of annotation tools has in common: a text, a name for it, labels on characters.

Beside the fields of the tool, a record may say `id` (the name of the text), `sentence: true` (the
text is one sentence, not to be cut) and `complete: true` (somebody vouches for its labels). Our
writers say so, and the tools hand such fields through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lacuner.corpus.character_spans import sentences_of
from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import ReadOptions, check_length, located
from lacuner.corpus.formats.losses import AMBIGUOUS, REJECTED
from lacuner.corpus.marked_text import MarkedText
from lacuner.corpus.sentence import Sentence
from lacuner.errors import InvalidSentence

OUTSIDE_UNKNOWN = "words outside of all entities, no longer known to be"


class Names:
    """Gives each text of a file a name of its own."""

    def __init__(self, findings: Findings) -> None:
        self._seen: set[str] = set()
        self._findings = findings

    def name(self, value: Any, number: int) -> str:
        """The name that a record gives itself, or else its number in the file.

        Args:
            value: What its field says; only a string or a whole number is taken.
            number: Its line or place in the file, from 1.
        """
        given = type(value) is int or (isinstance(value, str) and value)
        name = str(value) if given else str(number)
        if name in self._seen:
            self._findings.remark("Some texts have one id; the later ones are called <id>@<line>")
            name = f"{name}@{number}"
        while name in self._seen:
            name += "@"
        self._seen.add(name)
        return name


def says(record: dict[str, Any], name: str) -> bool:
    """Is that field there, and true?"""
    return record.get(name) is True


def own_fields(marked: MarkedText) -> dict[str, Any]:
    """The fields that say what the tool does not."""
    fields: dict[str, Any] = {"id": marked.name}
    if marked.one_sentence:
        fields["sentence"] = True
    if marked.complete:
        fields["complete"] = True
    return fields


def items(record: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """A field that must be a list of objects; missing or null is an empty list.

    Raises:
        InvalidSentence: It is something else.
    """
    value = record.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise InvalidSentence(f"the field '{name}' is no list of objects; right is [{{…}}, …]")
    return value


def checked_sentences(
    marked: MarkedText,
    path: Path,
    line: int | None,
    options: ReadOptions,
    findings: Findings,
    *,
    record: int | None = None,
) -> list[Sentence]:
    """The sentences of a marked text, of bearable length.

    Raises:
        DataError: Its labels do not fit, or a sentence is too long.
    """
    with located(path, line, record=record):
        sentences = sentences_of(
            marked, findings, split=options.split_sentences, complete=options.complete
        )
    for sentence in sentences:
        check_length(len(sentence), path, line, options)
    return sentences


def reported(
    sentences: Iterable[Sentence], format: str, findings: Findings, *, kept: frozenset[str]
) -> Iterator[Sentence]:
    """Passes sentences on, saying what of each the format does not keep.

    Args:
        sentences: The sentences that are about to be written.
        format: The name of the format, for remarks.
        findings: Collects the losses.
        kept: Those of rejected, ambiguous, outside, score and source that the format keeps.
    """
    for sentence in sentences:
        if "rejected" not in kept:
            for span in sentence.rejected:
                findings.lose(REJECTED, sentence.id, f"'{sentence.surface(*span)}'")
        if "ambiguous" not in kept:
            for found in sentence.ambiguous:
                labels = " or ".join(found.labels) or "of unknown label"
                detail = f"'{sentence.surface(*found.span)}' ({labels})"
                findings.lose(AMBIGUOUS, sentence.id, detail)
        if "outside" not in kept and not sentence.complete:
            for span in sentence.outside:
                findings.lose(OUTSIDE_UNKNOWN, sentence.id, f"'{sentence.surface(*span)}'")
        for name in ("score", "source"):
            if name not in kept and any(getattr(e, name) is not None for e in sentence.entities):
                findings.remark(f"{format} does not keep the {name} of entities")
        yield sentence
