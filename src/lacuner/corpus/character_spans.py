"""Labels on characters of a text become labels on words of sentences.

Readers of annotation tools make a `MarkedText` of each record and take `sentences_of` it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from lacuner.corpus.findings import Findings
from lacuner.corpus.marked_text import MarkedText
from lacuner.corpus.raw_text import split_sentences, split_words
from lacuner.corpus.sentence import Ambiguity, Entity, Sentence, Span
from lacuner.errors import InvalidSentence

WIDENED = "offsets that cut a word, widened to whole words"
NO_WORDS = "text without words left out"
NO_WORD = "label on no word, left out"
REPEATED = "one label twice on one span, kept once"
MET = "labels whose different characters fall on the same words, kept as undecided"
OVERRULED = "rejected span left out, since a label falls on the same words"
JOINED = "sentences joined, since a label crosses their boundary"


def sentences_of(
    marked: MarkedText, findings: Findings, *, split: bool = True, complete: bool = False
) -> list[Sentence]:
    """The sentences of a text, with its labels on their words.

    A span that cuts a word is widened to the whole word; where two labels fall on the same words
    thereby, they become an ambiguity. Sentences are joined where a label crosses their boundary.
    The findings say all of this. White space at the ends of a span is trimmed and
    not worth a word. The ids are `<name>.1`, `<name>.2`, …, or the name if it is one sentence.

    Args:
        marked: The text.
        findings: Collects what was widened, joined or left out.
        split: Cut it into sentences; otherwise it is one.
        complete: Somebody vouches for the labels, even if the text does not say so.

    Raises:
        InvalidSentence: A span outside the text, or empty; two labels on one span.
    """
    words = marked.words
    if words is None:
        words = tuple(place for _, place in split_words(marked.text))
    places = _Places(marked.text, words)
    labels = _Labels(marked, places)
    if not words:
        findings.lose(NO_WORDS, marked.name, f"{marked.text[:80]!r}")
        for _, kind, detail in places.notes:
            findings.lose(kind, marked.name, detail)
        return []
    cuts = [(0, 0)]
    if split and not marked.one_sentence:
        cuts += _cuts(marked, places, [*labels.entities, *labels.ambiguous, *labels.rejected])
    drafts = [_Draft() for _ in cuts]
    firsts = [word for word, _ in cuts]
    for entity in labels.entities.values():
        drafts[bisect_right(firsts, entity.start) - 1].entities.append(entity)
    for span in labels.rejected:
        drafts[bisect_right(firsts, span[0]) - 1].rejected.append(span)
    for found in labels.ambiguous.values():
        drafts[bisect_right(firsts, found.start) - 1].ambiguous.append(found)
    for start, end in marked.outside:
        first, last = bisect_left(places.starts, start), bisect_right(places.ends, end)
        for number in range(bisect_right(firsts, first) - 1, bisect_left(firsts, last)):
            drafts[number].outside.append((first, last))
    sentences = []
    ends = [*cuts[1:], (len(words), len(marked.text))]
    for number, draft in enumerate(drafts):
        sentence_id = marked.name if marked.one_sentence else f"{marked.name}.{number + 1}"
        sentences.append(draft.sentence(sentence_id, marked, words, cuts[number], ends[number]))
    for word, kind, detail in places.notes:
        findings.lose(kind, sentences[bisect_right(firsts, word) - 1].id, detail)
    if complete:
        return [replace(sentence, complete=True) for sentence in sentences]
    return sentences


class _Places:
    """Where words stand in a text; takes note of what does not fit as `(word, kind, detail)`."""

    def __init__(self, text: str, words: tuple[Span, ...]) -> None:
        self.text = text
        self.starts = [start for start, _ in words]
        self.ends = [end for _, end in words]
        self.notes: list[tuple[int, str, str]] = []

    def surface(self, span: Span) -> str:
        """The text of words."""
        return self.text[self.starts[span[0]] : self.ends[span[1] - 1]]

    def words_of(self, span: Span, label: str) -> Span | None:
        """The words that a span of characters touches, None if there is none."""
        start, end = span
        if not 0 <= start < end <= len(self.text):
            what = "is empty" if start == end else "does not fit"
            raise InvalidSentence(
                f"the span of characters {start} to {end} ({label}) {what}; right is a start "
                f"before its end, both from 0 to {len(self.text)}, the length of the text"
            )
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end)
        if first >= last:
            self.notes.append((first, NO_WORD, f"{self.text[start:end]!r} ({label})"))
            return None
        if self.starts[first] < start or self.ends[last - 1] > end:
            wide = self.surface((first, last))
            self.notes.append((first, WIDENED, f"{self.text[start:end]!r} to {wide!r} ({label})"))
        return first, last


class _Labels:
    """Labels on words; spans of characters that fall on the same words meet here."""

    def __init__(self, marked: MarkedText, places: _Places) -> None:
        self.entities: dict[Span, Entity] = {}
        self.ambiguous: dict[Span, Ambiguity] = {}
        self._places = places
        self._origin: dict[Span, Span] = {}  # the characters of the first label on these words
        for entity in marked.entities:
            if span := places.words_of(entity.span, entity.label):
                self._add_entity(entity, span)
        for found in marked.ambiguous:
            if span := places.words_of(found.span, " or ".join(found.labels)):
                self._add_ambiguity(found, span)
        rejected = {span: s for s in marked.rejected if (span := places.words_of(s, "rejected"))}
        for span in [*rejected]:
            if span in self.entities and self._origin[span] != rejected[span]:
                self._note(span, OVERRULED, self.entities[span].label)
                del rejected[span]
        self.rejected = sorted(rejected)

    def _add_entity(self, entity: Entity, span: Span) -> None:
        origin = self._origin.setdefault(span, entity.span)
        rival = self.entities.get(span)
        if rival is None and span not in self.ambiguous:
            self.entities[span] = replace(entity, start=span[0], end=span[1])
        elif rival is not None and rival.label == entity.label:
            self._note(span, REPEATED, entity.label)
        elif origin == entity.span and rival is not None:
            raise InvalidSentence(
                f"two labels on one span: '{self._places.surface(span)}' (characters "
                f"{entity.start} to {entity.end}) is {rival.label} and {entity.label}; keep one, "
                "or record both as 'ambiguous' in Lacuner's own JSONL"
            )
        else:
            self._meet(span, (entity.label,), entity.source)

    def _add_ambiguity(self, found: Ambiguity, span: Span) -> None:
        origin = self._origin.setdefault(span, found.span)
        if span in self.ambiguous or (span in self.entities and origin != found.span):
            self._meet(span, found.labels, found.source)
        else:
            self.ambiguous[span] = replace(found, start=span[0], end=span[1])

    def _meet(self, span: Span, labels: tuple[str, ...], source: str | None) -> None:
        entity = self.entities.pop(span, None)
        before = self.ambiguous.get(span, Ambiguity(*span, (), source))
        every = (*((entity.label,) if entity else ()), *before.labels, *labels)
        self.ambiguous[span] = replace(before, labels=tuple(dict.fromkeys(every)))
        self._note(span, MET, *self.ambiguous[span].labels)

    def _note(self, span: Span, kind: str, *labels: str) -> None:
        detail = f"'{self._places.surface(span)}' ({' and '.join(labels)})"
        self._places.notes.append((span[0], kind, detail))


def _cuts(marked: MarkedText, places: _Places, spans: Iterable[Span]) -> list[tuple[int, int]]:
    """`(word, character)` where the second and later sentences begin."""
    begins = marked.begins
    if begins is None:
        begins = tuple(begin for begin, _ in split_sentences(marked.text))
    cuts: dict[int, int] = {}
    for begin in begins:
        word = bisect_left(places.starts, begin)
        if 0 < word < len(places.starts):
            cuts.setdefault(word, max(begin, places.ends[word - 1]))
    words = sorted(cuts)
    for first, last in spans:
        for word in words[bisect_right(words, first) : bisect_left(words, last)]:
            if cuts.pop(word, None) is not None:
                places.notes.append((first, JOINED, f"'{places.surface((first, last))}'"))
    return sorted(cuts.items())


@dataclass(slots=True)
class _Draft:
    """What is known of the words of a sentence, which are still counted through the text."""

    entities: list[Entity] = field(default_factory=list)
    rejected: list[Span] = field(default_factory=list)
    ambiguous: list[Ambiguity] = field(default_factory=list)
    outside: list[Span] = field(default_factory=list)

    def sentence(
        self,
        sentence_id: str,
        marked: MarkedText,
        words: tuple[Span, ...],
        begin: tuple[int, int],
        end: tuple[int, int],
    ) -> Sentence:
        """The sentence between two cuts, `(word, character)` each."""
        first, character = begin
        text = marked.text[character : end[1]]
        offsets = tuple((a - character, b - character) for a, b in words[first : end[0]])
        return Sentence(
            sentence_id,
            tuple(text[a:b] for a, b in offsets),
            entities=tuple(
                replace(e, start=e.start - first, end=e.end - first) for e in self.entities
            ),
            rejected=tuple((a - first, b - first) for a, b in self.rejected),
            outside=tuple((max(a, first) - first, min(b, end[0]) - first) for a, b in self.outside),
            ambiguous=tuple(
                replace(a, start=a.start - first, end=a.end - first) for a in self.ambiguous
            ),
            complete=marked.complete,
            text=text,
            offsets=offsets,
            document=None if marked.one_sentence else marked.name,
            begin=character,
        )
