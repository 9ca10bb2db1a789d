"""The data type with gaps: `Entity`, `Sentence`, `Corpus`.

Everything in Lacuner takes and returns these. Offsets count words and are half-open. What is not
labelled is *unknown*, unless the sentence is `complete`, the word lies `outside`, or the span was
`rejected`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from lacuner.errors import InvalidSentence

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Entity:
    """A labelled span of words.

    Attributes:
        start: The first word.
        end: The word after the last.
        label: Its type, such as `PER`.
        source: Where the label came from, such as `people.txt:Ada Lovelace`; None when unknown.
        score: How sure that source is, between 0 and 1; None when it does not say.
    """

    start: int
    end: int
    label: str
    source: str | None = None
    score: float | None = None

    @property
    def span(self) -> Span:
        """Where it stands: `(start, end)`."""
        return self.start, self.end

    @property
    def key(self) -> tuple[int, int, str]:
        """What makes two labels the same, whoever gave them."""
        return self.start, self.end, self.label


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A span known to be an entity, of one of `labels`; with no labels, of some unknown type."""

    start: int
    end: int
    labels: tuple[str, ...] = ()
    source: str | None = None

    @property
    def span(self) -> Span:
        """Where it stands: `(start, end)`."""
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words, what is known of them, and where they came from.

    Attributes:
        id: Its name within the corpus.
        tokens: The words.
        entities: The known entities; they may overlap or nest. Kept sorted by place.
        rejected: Spans that a person said are no entity.
        outside: Runs of words that are known to belong to no entity.
        ambiguous: Spans known to be an entity, whose label is not settled.
        complete: Somebody vouches that everything unlabelled is no entity.
        text: The text that the words were cut from, up to where the next sentence begins.
        offsets: Where each word stands in `text`, in characters.
        document: The name of the document that the sentence belongs to.
        begin: Where `text` begins in that document, in characters.

    Raises:
        InvalidSentence: An empty word, a span outside the sentence, an empty label, two labels on
            one span, offsets that do not fit.
    """

    id: str
    tokens: tuple[str, ...]
    entities: tuple[Entity, ...] = ()
    rejected: tuple[Span, ...] = ()
    outside: tuple[Span, ...] = ()
    ambiguous: tuple[Ambiguity, ...] = ()
    complete: bool = False
    text: str | None = None
    offsets: tuple[Span, ...] | None = None
    document: str | None = None
    begin: int = 0

    def __post_init__(self) -> None:
        if not all(self.tokens):
            raise InvalidSentence(f"word {self.tokens.index('') + 1} is empty")
        self._check_knowledge()
        if (self.text is None) != (self.offsets is None):
            raise InvalidSentence("text and offsets of words go together; only one is given")
        if self.text is not None and self.offsets is not None:
            self._check_offsets(self.text, self.offsets)

    def _check_knowledge(self) -> None:
        if self.entities:
            self._check_spans("entity", [entity.span for entity in self.entities])
            self._check_labels()
            if len(self.entities) > 1:
                self._sort_and_check_entities()
        if self.rejected:
            self._check_spans("rejected span", self.rejected)
            self._refuse_both("rejected", self.rejected)
        if self.outside:
            self._check_spans("outside span", self.outside)
        if self.ambiguous:
            self._check_spans("ambiguous span", [found.span for found in self.ambiguous])
            self._refuse_both("ambiguous", [found.span for found in self.ambiguous])

    def _check_spans(self, what: str, spans: Iterable[Span]) -> None:
        count = len(self.tokens)
        for start, end in spans:
            if not 0 <= start < end <= count:
                raise InvalidSentence(
                    f"{what} from word {start} to {end} does not fit a sentence of {count} words"
                )

    def _check_labels(self) -> None:
        for entity in self.entities:
            if not entity.label:
                raise InvalidSentence(
                    f"the entity '{self.surface(*entity.span)}' "
                    f"(words {entity.start} to {entity.end}) has no label"
                )

    def _sort_and_check_entities(self) -> None:
        ordered = tuple(sorted(self.entities, key=lambda e: (e.start, -e.end, e.label)))
        for first, second in pairwise(ordered):
            if first.span == second.span:
                raise InvalidSentence(
                    f"two labels on one span: '{self.surface(*first.span)}' "
                    f"(words {first.start} to {first.end}) is {first.label} and {second.label}"
                )
        object.__setattr__(self, "entities", ordered)

    def _refuse_both(self, what: str, spans: Iterable[Span]) -> None:
        labelled = {entity.span for entity in self.entities}
        for span in spans:
            if span in labelled:
                raise InvalidSentence(
                    f"'{self.surface(*span)}' (words {span[0]} to {span[1]}) "
                    f"is both an entity and {what}"
                )

    def _check_offsets(self, text: str, offsets: tuple[Span, ...]) -> None:
        if len(offsets) != len(self.tokens):
            raise InvalidSentence(f"{len(offsets)} offsets for {len(self.tokens)} words")
        if offsets and offsets[-1][1] > len(text):
            raise InvalidSentence(
                f"a word ends at character {offsets[-1][1]}, after the text of {len(text)}"
            )
        before = 0
        for start, end in offsets:
            if not before <= start < end:
                raise InvalidSentence(
                    f"the word at characters {start} to {end} overlaps its neighbour or is empty"
                )
            before = end

    def __len__(self) -> int:
        return len(self.tokens)

    def surface(self, start: int, end: int) -> str:
        """The words from `start` to `end` as a person would write them."""
        if self.text is not None and self.offsets is not None:
            return self.text[self.offsets[start][0] : self.offsets[end - 1][1]]
        words = self.tokens[start:end]
        # Corpora of characters (Chinese, Japanese) are written without spaces.
        return ("" if all(len(word) == 1 for word in self.tokens) else " ").join(words)

    def with_entities(self, entities: Iterable[Entity]) -> Sentence:
        """The same sentence with these entities in place of its own."""
        return self.with_labels(entities, self.ambiguous)

    def with_labels(self, entities: Iterable[Entity], ambiguous: Iterable[Ambiguity]) -> Sentence:
        """The same sentence with these entities and ambiguities in place of its own.

        Its words were checked when it was made and are not checked again, which makes this fast.
        """
        twin = object.__new__(Sentence)
        for name in Sentence.__slots__:
            object.__setattr__(twin, name, getattr(self, name))
        object.__setattr__(twin, "entities", tuple(entities))
        object.__setattr__(twin, "ambiguous", tuple(ambiguous))
        twin._check_knowledge()
        return twin

    def unlabelled(self) -> Sentence:
        """The words alone: what a labeller or a recogniser may see."""
        if self.complete or self.entities or self.rejected or self.outside or self.ambiguous:
            return replace(self, entities=(), rejected=(), outside=(), ambiguous=(), complete=False)
        return self


@dataclass(frozen=True)
class Corpus:
    """Sentences and the labels that may occur in them.

    Attributes:
        sentences: The sentences, each with an id of its own.
        labels: All labels, sorted; those of the sentences are added to what is given.

    Raises:
        InvalidSentence: Two sentences with one id.
    """

    sentences: tuple[Sentence, ...]
    labels: tuple[str, ...] = ()
    _index: dict[str, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentences", tuple(self.sentences))
        labels = set(self.labels)
        for number, sentence in enumerate(self.sentences):
            labels.update(entity.label for entity in sentence.entities)
            for ambiguity in sentence.ambiguous:
                labels.update(ambiguity.labels)
            if self._index.setdefault(sentence.id, number) != number:
                raise InvalidSentence(f"two sentences have the id '{sentence.id}'")
        object.__setattr__(self, "labels", tuple(sorted(labels)))

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    def get(self, sentence_id: str) -> Sentence | None:
        """The sentence of that id, or None."""
        number = self._index.get(sentence_id)
        return None if number is None else self.sentences[number]

    @property
    def entity_count(self) -> int:
        """How many entities its sentences have."""
        return sum(len(sentence.entities) for sentence in self.sentences)

    def with_sentences(self, sentences: Iterable[Sentence]) -> Corpus:
        """A corpus of other sentences with the same labels."""
        return Corpus(tuple(sentences), self.labels)

    def vouched(self, complete: bool = True) -> Corpus:
        """The same corpus with somebody's word that its labels are complete (or are not)."""
        return self.with_sentences(replace(s, complete=complete) for s in self.sentences)

    def unlabelled(self) -> Corpus:
        """The words alone: what a labeller or a recogniser may see."""
        return self.with_sentences(sentence.unlabelled() for sentence in self.sentences)


def overlap(first: Span, second: Span) -> bool:
    """Do two spans share a word?"""
    return first[0] < second[1] and second[0] < first[1]
