"""Prodigy's JSONL: a decision a line, with labels on the characters of a text and its own words.

What counts as what:

- `accept`: the spans are entities. Only the option `complete` vouches for the rest: the file does
  not say whether a person looked for everything (`ner.manual`) or answered about one span.
- `reject`: the spans are rejected. Prodigy rejects a span *with its label*; Lacuner records that it
  is no entity, and the findings say for which label the person said so. From a manual interface
  (`_view_id` ends with `manual`), a rejected text says nothing about its spans.
- `ignore`: nothing is known. A span may have an `answer` of its own, which goes first.
- Lines that follow each other with one text and one annotator are decisions about one text and are
  put together; a further annotator of that text is left out, which the findings say.

Tokens are taken as words, except white space. Rejected spans are written as a line of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import Format, ReadOptions, WriteOptions, located
from lacuner.corpus.formats.json_shapes import first_object, string, whole_number
from lacuner.corpus.formats.marked_records import (
    Names,
    checked_sentences,
    items,
    own_fields,
    reported,
    says,
)
from lacuner.corpus.marked_text import MarkedText, marked_texts, pieces
from lacuner.corpus.sentence import Entity, Sentence, Span
from lacuner.errors import InvalidSentence
from lacuner.files import read_json_lines

_ANSWERS = ("accept", "reject", "ignore")


@dataclass(frozen=True, slots=True)
class _Decision:
    line: int
    record: dict[str, Any]
    text: str

    def subject(self) -> tuple[str, Any]:
        """What it is about: a text, and the id that it may have."""
        return self.text, self.record.get("id")

    @property
    def annotator(self) -> Any:
        return self.record.get("_annotator_id", self.record.get("_session_id"))


def recognise(path: Path, head: bytes) -> bool:
    """Lines with a text, and spans or an answer."""
    found = first_object(head, path)
    if found is None or not isinstance(found.get("text"), str):
        return False
    spans = found.get("spans")
    has_spans = isinstance(spans, list) and all(
        isinstance(span, dict) and ({"start", "end"} <= set(span) or "token_start" in span)
        for span in spans
    )
    return has_spans or found.get("answer") in _ANSWERS or "_input_hash" in found


def read(path: Path, options: ReadOptions, findings: Findings) -> Iterator[Sentence]:
    """Yields the sentences of each text, the decisions about it put together."""
    names = Names(findings)
    for (text, name_given), group in groupby(_decisions(path, options), key=_Decision.subject):
        first = next(group)
        line = first.line
        name = names.name(name_given, line)
        with located(path, line):
            words = _words(first.record, text)
        known = _Known(name, findings)
        for decision in (first, *group):
            if decision.annotator != first.annotator:
                detail = f"{decision.annotator}, line {decision.line}"
                findings.lose("further annotator of a text left out", name, detail)
                continue
            with located(path, decision.line):
                known.add(decision)
        with located(path, line):
            marked = MarkedText(
                name=name,
                text=text,
                entities=tuple(known.entities),
                rejected=known.rejected_spans(),
                complete=says(first.record, "complete"),
                one_sentence=says(first.record, "sentence"),
                words=words,
            )
        yield from checked_sentences(marked, path, line, options, findings)


def _decisions(path: Path, options: ReadOptions) -> Iterator[_Decision]:
    for line, record in read_json_lines(path):
        with located(path, line):
            text = string(record, options.text_field)
        yield _Decision(line, record, text)


class _Known:
    """What the decisions about one text say."""

    def __init__(self, name: str, findings: Findings) -> None:
        self.entities: list[Entity] = []
        self._rejected: dict[Span, list[str]] = {}
        self._name, self._findings = name, findings

    def add(self, decision: _Decision) -> None:
        """Takes one more decision."""
        answer = _answer(decision.record, "accept")
        manual = str(decision.record.get("_view_id", "")).endswith("manual")
        if answer == "ignore":
            self._findings.lose("ignored text, nothing known of it", self._name, "answer: ignore")
            return
        if answer == "reject" and manual:
            self._findings.lose(
                "rejected text of a manual interface, nothing known of it",
                self._name,
                f"_view_id: {decision.record['_view_id']}",
            )
            return
        for span in items(decision.record, "spans"):
            start, end = _place(span, decision.record)
            label = span.get("label")
            own_answer = _answer(span, answer)
            if own_answer == "reject":
                labels = self._rejected.setdefault((start, end), [])
                if label is not None:
                    labels.append(string(span, "label"))
            elif own_answer == "accept":
                self.entities.append(Entity(start, end, string(span, "label")))

    def rejected_spans(self) -> tuple[Span, ...]:
        """The rejected spans, without those that bear another label."""
        labelled = {entity.span: entity.label for entity in self.entities}
        kept = []
        for span, labels in self._rejected.items():
            if span in labelled and labels and labelled[span] not in labels:
                continue  # it is PER, hence the question whether it is LOC is answered too
            kept.append(span)
            if labels:
                self._findings.lose(
                    "span rejected for a label, kept as no entity at all",
                    self._name,
                    f"characters {span[0]} to {span[1]} ({', '.join(labels)})",
                )
        return tuple(kept)


def _answer(record: dict[str, Any], default: str) -> str:
    answer = record.get("answer", default)
    if answer not in _ANSWERS:
        raise InvalidSentence(f"the answer is {answer!r}; right is {', '.join(_ANSWERS)}")
    return str(answer)


def _words(record: dict[str, Any], text: str) -> tuple[Span, ...] | None:
    tokens = items(record, "tokens")
    words = []
    for token in tokens:
        start, end, written = (
            whole_number(token, "start"),
            whole_number(token, "end"),
            string(token, "text"),
        )
        if start < 0 or text[start:end] != written:
            raise InvalidSentence(
                f"token {written!r} is not what stands at characters {start} to {end} of the text"
            )
        if written and not written.isspace() and not says(token, "filler"):
            words.append((start, end))
    return tuple(words) if tokens else None


def _place(span: dict[str, Any], record: dict[str, Any]) -> Span:
    if "start" in span or "token_start" not in span:
        return whole_number(span, "start"), whole_number(span, "end")
    first, last = whole_number(span, "token_start"), whole_number(span, "token_end")
    tokens = items(record, "tokens")
    if not 0 <= first <= last < len(tokens):
        raise InvalidSentence(
            f"the span of tokens {first} to {last} (the last one included) does not fit "
            f"{len(tokens)} tokens"
        )
    return whole_number(tokens[first], "start"), whole_number(tokens[last], "end")


def write(
    sentences: Iterable[Sentence], path: Path, options: WriteOptions, findings: Findings
) -> None:
    """Writes a line a text, and one more for its rejected spans."""
    told = reported(sentences, "prodigy", findings, kept=frozenset({"rejected"}))
    with open(path, "wb") as file:
        for marked in marked_texts(told, findings):
            for record in _records(marked, options.labels):
                file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def _records(marked: MarkedText, labels: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    tokens: list[dict[str, Any]] = []
    begins, ends = {}, {}  # tokens by their place
    for number, piece in enumerate(pieces(marked.text, marked.words or ())):
        token = {
            "text": marked.text[piece.start : piece.end],
            "start": piece.start,
            "end": piece.end,
            "id": number,
            "ws": piece.space,
        }
        if not piece.is_word:
            token |= {"disabled": True, "filler": True}
        tokens.append(token)
        begins[piece.start], ends[piece.end] = number, number

    def span_record(start: int, end: int) -> dict[str, Any]:
        return {
            "start": start,
            "end": end,
            "token_start": begins[start],
            "token_end": ends[end],
        }

    common = {**own_fields(marked), "text": marked.text, "tokens": tokens}
    accepted = [{**span_record(*e.span), "label": e.label} for e in marked.entities]
    yield {**common, "spans": accepted, "answer": "accept"}
    if marked.rejected:
        # Prodigy rejects a span with its label: no entity at all is none of the labels.
        rejected = [span_record(*span) for span in marked.rejected]
        if labels:
            rejected = [{**span, "label": label} for span in rejected for label in labels]
        yield {**common, "spans": rejected, "answer": "reject"}


PRODIGY = Format(
    name="prodigy",
    title="Prodigy's JSONL of decisions",
    suffixes=(".prodigy.jsonl",),
    recognise=recognise,
    read=read,
    write=write,
)
