"""Sentences become texts with labels on their characters, as annotation tools keep them.

Offsets of a `MarkedText` are half-open and count characters (code points). Writers of annotation
tools take `marked_texts` of their sentences; `character_spans` is the way back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Ambiguity, Entity, Sentence, Span
from lacuner.errors import InvalidSentence

ALONE = "sentence without what stands before it in its document, a text of its own"
PARTLY_COMPLETE = "complete sentence in a document that is not, no longer vouched for"


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text and what is known of it, all offsets in characters.

    Attributes:
        name: The document's name, or the sentence's id if it is one sentence.
        text: The text.
        entities: Labelled spans.
        rejected: Spans that a person said are no entity.
        outside: Stretches that are known to belong to no entity.
        ambiguous: Spans known to be an entity, whose label is not settled.
        complete: Somebody vouches that everything unlabelled is no entity.
        one_sentence: The text is one sentence and no document.
        joined: The text was put together from the words, for want of one.
        words: Where the words stand, if a tool says so; None cuts them anew.
        begins: Where its sentences begin, if a tool says so; None finds out.

    Raises:
        InvalidSentence: Words or sentences out of order or outside of the text.
    """

    name: str
    text: str
    entities: tuple[Entity, ...] = ()
    rejected: tuple[Span, ...] = ()
    outside: tuple[Span, ...] = ()
    ambiguous: tuple[Ambiguity, ...] = ()
    complete: bool = False
    one_sentence: bool = False
    joined: bool = False
    words: tuple[Span, ...] | None = None
    begins: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        before = 0
        for start, end in self.words or ():
            if not before <= start < end <= len(self.text):
                raise InvalidSentence(
                    f"the word at characters {start} to {end} overlaps its neighbour, is empty, "
                    f"or lies outside the text of {len(self.text)} characters"
                )
            before = end


def marked_texts(sentences: Iterable[Sentence], findings: Findings) -> Iterator[MarkedText]:
    """The texts that sentences stand in, with their labels on characters.

    Sentences that follow each other in one document, from its beginning, become that document
    again, to the letter. Any other sentence is a text of its own; without a text it gets one from
    its words, with spaces between them, or without where every word is a single character.

    Args:
        sentences: The sentences, in order.
        findings: Collects which sentences leave their document or are no longer vouched for.
    """
    group: list[Sentence] = []
    reach = 0
    for sentence in sentences:
        text = sentence.text
        follows = (
            text is not None
            and sentence.document is not None
            and sentence.begin == (reach if group else 0)
            and (not group or group[0].document == sentence.document)
        )
        if group and not follows:
            yield _document(group, findings)
            group = []
            follows = text is not None and sentence.document is not None and sentence.begin == 0
        if follows and text is not None:
            group.append(sentence)
            reach = sentence.begin + len(text)
        else:
            if sentence.document is not None:
                findings.lose(ALONE, sentence.id, f"of document '{sentence.document}'")
            alone = _marked([(0, _with_text(sentence))], sentence.id, one_sentence=True)
            yield replace(alone, joined=sentence.text is None)
    if group:
        yield _document(group, findings)


def _document(group: list[Sentence], findings: Findings) -> MarkedText:
    marked = _marked([(s.begin, s) for s in group], str(group[0].document), one_sentence=False)
    if not marked.complete:
        for sentence in group:
            if sentence.complete:
                findings.lose(PARTLY_COMPLETE, sentence.id, f"of document '{sentence.document}'")
    return marked


def _with_text(sentence: Sentence) -> Sentence:
    if sentence.text is not None:
        return sentence
    text = sentence.surface(0, len(sentence))
    space = len(text) > sum(len(token) for token in sentence.tokens)
    ends = accumulate(len(token) + space for token in sentence.tokens)
    offsets = tuple(
        (end - space - len(token), end - space)
        for token, end in zip(sentence.tokens, ends, strict=True)
    )
    return replace(sentence, text=text, offsets=offsets)


def _marked(parts: list[tuple[int, Sentence]], name: str, *, one_sentence: bool) -> MarkedText:
    words: list[Span] = []
    entities: list[Entity] = []
    rejected: list[Span] = []
    outside: list[Span] = []
    ambiguous: list[Ambiguity] = []
    for begin, sentence in parts:
        places = [(begin + a, begin + b) for a, b in sentence.offsets or ()]
        words += places
        for e in sentence.entities:
            entities.append(replace(e, start=places[e.start][0], end=places[e.end - 1][1]))
        for a in sentence.ambiguous:
            ambiguous.append(replace(a, start=places[a.start][0], end=places[a.end - 1][1]))
        rejected += [(places[a][0], places[b - 1][1]) for a, b in sentence.rejected]
        outside += [(places[a][0], places[b - 1][1]) for a, b in sentence.outside]
    return MarkedText(
        name=name,
        text="".join(sentence.text or "" for _, sentence in parts),
        entities=tuple(entities),
        rejected=tuple(rejected),
        outside=tuple(outside),
        ambiguous=tuple(ambiguous),
        complete=all(sentence.complete for _, sentence in parts),
        one_sentence=one_sentence,
        words=tuple(words),
        begins=tuple(begin for begin, _ in parts),
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """A word of a text, or what stands between words, in tools that cut a text without a rest.

    Attributes:
        start: Its first character.
        end: The character after its last.
        is_word: It is a word; otherwise white space or the like.
        space: A single space follows that belongs to no piece.
    """

    start: int
    end: int
    is_word: bool
    space: bool


def pieces(text: str, words: Iterable[Span]) -> Iterator[Piece]:
    """Cuts a text so that its pieces, and the single spaces after them, are all of it.

    Example:
        >>> ["one\\n\\ntwo"[p.start : p.end] for p in pieces("one\\n\\ntwo", [(0, 3), (5, 8)])]
        ['one', '\\n\\n', 'two']
    """
    before: Piece | None = None
    for start, end in (*words, (len(text), len(text))):
        reach = before.end if before else 0
        space = before is not None and text[reach : reach + 1] == " " and reach < start
        if before:
            yield replace(before, space=space)
        if reach + space < start:
            yield Piece(reach + space, start, is_word=False, space=False)
        before = Piece(start, end, is_word=True, space=False)
