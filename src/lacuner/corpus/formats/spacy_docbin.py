"""spaCy's `.spacy` files (`DocBin`), which know the difference between "no entity" and "unknown".

What counts as what:

- A token tagged O is outside; a token whose entity is missing (`-`) is unknown. A sentence without
  a missing token is complete.
- Sentence boundaries are taken where the document has them. Otherwise its text is cut into
  sentences, unless it was made of words alone (unknown spaces): then it is one sentence.
- The span group `sc` is read where a document has no entities, or where it holds all of them and
  more: nested ones. Spans of `incorrect_spans`, spaCy's default for them, are rejected.
- Tokens of white space are no words.

The writer says the same in the same places; ids are kept in `Doc.user_data`. Never is a pipeline
loaded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lacuner.corpus.character_spans import NO_WORDS
from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.docbin import PackedDoc, unpack_docs
from lacuner.corpus.formats.format import Format, ReadOptions, WriteOptions, located
from lacuner.corpus.formats.marked_records import (
    Names,
    checked_sentences,
    own_fields,
    reported,
    says,
)
from lacuner.corpus.marked_text import MarkedText, Piece, marked_texts, pieces
from lacuner.corpus.sentence import Entity, Sentence, Span
from lacuner.corpus.tagging import runs, without_overlap
from lacuner.errors import InvalidSentence, MissingExtra

if TYPE_CHECKING:
    from spacy.tokens import Doc

NESTED, REJECTED = "sc", "incorrect_spans"
OVERLAP = "overlapping entity left out of doc.ents, kept in doc.spans['sc']"
_MISSING, _INSIDE, _OUTSIDE, _BEGIN = range(4)  # spaCy's ENT_IOB


def recognise(path: Path, head: bytes) -> bool:
    """By its name, and the first byte of zlib."""
    return path.name.endswith(".spacy") and head[:1] == b"\x78"


def read(path: Path, options: ReadOptions, findings: Findings) -> Iterator[Sentence]:
    """Yields the sentences of each document."""
    names = Names(findings)
    for number, doc in enumerate(unpack_docs(path), start=1):
        name = names.name(doc.user_data.get("id"), number)
        with located(path, None, record=number):
            marked = _marked(doc, name, findings)
        for sentence in checked_sentences(marked, path, None, options, findings, record=number):
            sentence = _settled(sentence)
            if marked.joined:
                sentence = replace(sentence, text=None, offsets=None, begin=0)
            yield sentence


def _marked(doc: PackedDoc, name: str, findings: Findings) -> MarkedText:
    spaces = doc.spaces or [True] * len(doc.words)
    ends = accumulate(len(word) + space for word, space in zip(doc.words, spaces, strict=True))
    places = [
        (end - space - len(word), end - space)
        for word, space, end in zip(doc.words, spaces, ends, strict=True)
    ]
    spans, outside = _entities(doc)
    nested = doc.groups.get(NESTED, [])
    if nested and set(spans) <= set(nested):
        findings.remark(f"entities are read from doc.spans['{NESTED}'] where it holds more")
        spans = nested
    for key in sorted(set(doc.groups) - {NESTED, REJECTED}):
        findings.remark(f"doc.spans['{key}'] is left out")

    def characters(start: int, end: int) -> Span:
        return places[start][0], places[end - 1][1]

    if any(not label for _, _, label in spans):
        raise InvalidSentence("an entity has no label")
    rejected = dict.fromkeys(span[:2] for span in doc.groups.get(REJECTED, []))
    taken = {span[:2] for span in spans}
    return MarkedText(
        name=name,
        text="".join(w + " " * s for w, s in zip(doc.words, spaces, strict=True)),
        entities=tuple(Entity(*characters(a, b), label) for a, b, label in dict.fromkeys(spans)),
        rejected=tuple(characters(a, b) for a, b in rejected if (a, b) not in taken),
        outside=tuple(characters(a, b) for a, b in outside),
        one_sentence=says(doc.user_data, "sentence"),
        joined=doc.spaces is None,
        words=tuple(place for place, word in zip(places, _is_word(doc), strict=True) if word),
        begins=_begins(doc, places),
    )


def _entities(doc: PackedDoc) -> tuple[list[tuple[int, int, str]], list[Span]]:
    tags = doc.columns.get("ENT_IOB", [_MISSING] * len(doc.words))
    spans: list[tuple[int, int, str]] = []
    start = -1
    for index, (tag, label) in enumerate(zip(tags, doc.labels, strict=True)):
        if tag not in (_MISSING, _INSIDE, _OUTSIDE, _BEGIN):
            raise InvalidSentence(f"a token has the number {tag} as ENT_IOB; right is 0 to 3")
        continues = tag == _INSIDE and start >= 0 and doc.labels[start] == label
        if start >= 0 and not continues:
            spans.append((start, index, doc.labels[start]))
            start = -1
        # An entity without label is how spaCy says that an entity is blocked there.
        if tag in (_BEGIN, _INSIDE) and label and not continues:
            start = index
    if start >= 0:
        spans.append((start, len(tags), doc.labels[start]))
    outside = runs(
        tag == _OUTSIDE or (tag in (_BEGIN, _INSIDE) and not label)
        for tag, label in zip(tags, doc.labels, strict=True)
    )
    return spans, outside


def _begins(doc: PackedDoc, places: list[Span]) -> tuple[int, ...] | None:
    starts = doc.columns.get("SENT_START", [])
    if not any(starts[1:]):
        return () if doc.spaces is None else None
    return tuple(place[0] for place, start in zip(places, starts, strict=True) if start == 1)


def _is_word(doc: PackedDoc) -> Iterator[bool]:
    from spacy.parts_of_speech import IDS

    kinds = doc.columns.get("POS", [0] * len(doc.words))
    for word, kind in zip(doc.words, kinds, strict=True):
        yield kind != IDS["SPACE"] and (not word.isspace() or kind != 0)


def _settled(sentence: Sentence) -> Sentence:
    known = [False] * len(sentence)
    for start, end in (*sentence.outside, *(entity.span for entity in sentence.entities)):
        known[start:end] = [True] * (end - start)
    if sentence.complete or all(known):
        return replace(sentence, complete=True, outside=())
    return sentence


def write(
    sentences: Iterable[Sentence], path: Path, options: WriteOptions, findings: Findings
) -> None:
    """Writes a document a text, or a sentence that belongs to none."""
    try:
        from spacy.tokens import DocBin
        from spacy.vocab import Vocab
    except ImportError:
        raise MissingExtra("Writing .spacy files", "spacy") from None
    told = reported(sentences, "spacy", findings, kept=frozenset({"rejected", "outside"}))
    vocab, packed = Vocab(), DocBin(store_user_data=True)
    for marked in marked_texts((_spelt_out(sentence) for sentence in told), findings):
        if not marked.words:
            findings.lose(NO_WORDS, marked.name, f"{marked.text!r}")
            continue
        packed.add(_doc(marked, vocab, options, findings))
    packed.to_disk(path)


def _spelt_out(sentence: Sentence) -> Sentence:
    """A complete sentence as one whose other words are outside: DocBin says it word by word."""
    if not sentence.complete:
        return sentence
    free = [True] * len(sentence)
    entities = [entity.span for entity in sentence.entities]
    for start, end in (*entities, *(found.span for found in sentence.ambiguous)):
        free[start:end] = [False] * (end - start)
    return replace(sentence, complete=False, outside=tuple(runs(free)))


def _doc(marked: MarkedText, vocab: Any, options: WriteOptions, findings: Findings) -> Doc:
    from spacy.tokens import Doc, Span

    cut = list(pieces(marked.text, marked.words or ()))
    if marked.joined:
        cut = [piece for piece in cut if piece.is_word]
    words = [marked.text[piece.start : piece.end] for piece in cut]
    kinds = [
        "SPACE" if not piece.is_word else "X" if word.isspace() else ""
        for piece, word in zip(cut, words, strict=True)
    ]
    doc = Doc(
        vocab,
        words=words,
        spaces=None if marked.joined else [piece.space for piece in cut],
        pos=kinds if any(kinds) else None,
        sent_starts=_sentence_starts(cut, marked.begins or ()),
        user_data=own_fields(marked),
    )
    first = {piece.start: number for number, piece in enumerate(cut)}
    last = {piece.end: number + 1 for number, piece in enumerate(cut)}

    def tokens(start: int, end: int, label: str = "") -> Any:
        return Span(doc, first[start], last[end], label)

    kept, dropped = without_overlap(marked.entities)
    free = [True] * len(cut)
    spans = [tokens(*entity.span, entity.label) for entity in kept]
    for span in spans:
        free[span.start : span.end] = [False] * len(span)
    said = [tokens(*span) for span in marked.outside]
    outside = [
        Span(doc, span.start + a, span.start + b)
        for span in said
        for a, b in runs(free[span.start : span.end])
    ]
    doc.set_ents(spans, outside=outside, default="missing")
    if dropped:
        doc.spans[NESTED] = [tokens(*entity.span, entity.label) for entity in marked.entities]
        for entity, rival in dropped:
            detail = f"{_quoted(marked, entity)} overlaps {_quoted(marked, rival)}"
            findings.lose(OVERLAP, marked.name, detail)
    if marked.rejected:
        # spaCy learns from a span that it does not bear a label: hence each label that there is.
        doc.spans[REJECTED] = [
            tokens(*span, label) for span in marked.rejected for label in options.labels or ("",)
        ]
    return doc


def _sentence_starts(cut: list[Piece], begins: tuple[int, ...]) -> list[bool | int | None]:
    """Is each piece the first one at or after the beginning of a sentence?"""
    starts = [piece.start for piece in cut]
    firsts = {bisect_left(starts, begin) for begin in begins}
    return [number == 0 or number in firsts for number in range(len(cut))]


def _quoted(marked: MarkedText, entity: Entity) -> str:
    return f"'{marked.text[entity.start : entity.end]}' ({entity.label})"


SPACY = Format(
    name="spacy",
    title="spaCy's DocBin",
    suffixes=(".spacy",),
    recognise=recognise,
    read=read,
    write=write,
    extra="spacy",
)
