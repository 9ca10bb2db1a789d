"""Hypothesis strategies: sentences with all that a sentence can know, and corpora of them."""

from __future__ import annotations

from hypothesis import strategies as st

from lacuner import Ambiguity, Corpus, Entity, Sentence

Span = tuple[int, int]

LABELS = ("PER", "LOC", "ORG", "B-I", "名", "Work of Art")
_TAME = ("Ada", "left", "東", "京", ".", "O", "B-PER", "UNK", "#", "naïve", "3.5", "'", '"')
_WILD = (" ", "\u3000", "a b", "a\tb", "\n", "\r", "\x85", "\ufeff", "\0", "-DOCSTART-", "\\", "# ")


def words(*, wild: bool = True) -> st.SearchStrategy[str]:
    """Words of a corpus; wild ones hold what files use for themselves."""
    tame = st.sampled_from(_TAME) | st.text("abc東é", min_size=1, max_size=4)
    if not wild:
        return tame
    any_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
    return tame | st.sampled_from(_WILD) | any_text


def _spans(length: int) -> st.SearchStrategy[Span]:
    return st.integers(0, length - 1).flatmap(
        lambda start: st.tuples(st.just(start), st.integers(start + 1, min(length, start + 4)))
    )


@st.composite
def sentences(
    draw: st.DrawFn, sentence_id: str = "1", *, wild: bool = True, min_words: int = 0
) -> Sentence:
    """A sentence that may know everything a sentence can know."""
    tokens = draw(st.lists(words(wild=wild), min_size=min_words, max_size=8))
    text, offsets = draw(_texts(tokens)) if draw(st.booleans()) else (None, None)
    spans: list[Span] = []
    if tokens:
        spans = draw(st.lists(_spans(len(tokens)), unique=True, max_size=5))
    kinds = draw(st.lists(st.sampled_from("eeera"), min_size=len(spans), max_size=len(spans)))
    entities = tuple(
        draw(_entities(span)) for span, kind in zip(spans, kinds, strict=True) if kind == "e"
    )
    covered = {index for entity in entities for index in range(entity.start, entity.end)}
    outside = [index for index in range(len(tokens)) if index not in covered]
    return Sentence(
        id=sentence_id,
        tokens=tuple(tokens),
        entities=entities,
        rejected=tuple(span for span, kind in zip(spans, kinds, strict=True) if kind == "r"),
        outside=tuple((i, i + 1) for i in outside if draw(st.integers(0, 3)) == 0),
        ambiguous=tuple(
            Ambiguity(*span, draw(st.sampled_from([(), ("LOC", "PER")])))
            for span, kind in zip(spans, kinds, strict=True)
            if kind == "a"
        ),
        complete=draw(st.booleans()),
        text=text,
        offsets=offsets,
        document=draw(st.sampled_from([None, "d1", "d2"])),
        begin=draw(st.integers(0, 99)),
    )


@st.composite
def _texts(draw: st.DrawFn, tokens: list[str]) -> tuple[str, tuple[Span, ...]]:
    text, offsets = draw(st.sampled_from(["", " "])), []
    for token in tokens:
        offsets.append((len(text), len(text) + len(token)))
        text += token + draw(st.sampled_from([" ", "", "  ", "\n"]))
    return text, tuple(offsets)


@st.composite
def _entities(draw: st.DrawFn, span: Span) -> Entity:
    return Entity(
        *span,
        draw(st.sampled_from(LABELS)),
        draw(st.sampled_from([None, "names.txt:Ada"])),
        draw(st.sampled_from([None, 0.0, 0.5, 1.0])),
    )


@st.composite
def corpora(draw: st.DrawFn, *, wild: bool = True, min_words: int = 0) -> Corpus:
    """A few sentences with ids of their own, and perhaps a label that none of them has."""
    count = draw(st.integers(1, 4))
    prefix = draw(st.sampled_from(["", "s"]))
    found = tuple(
        draw(sentences(f"{prefix}{number}", wild=wild, min_words=min_words))
        for number in range(1, count + 1)
    )
    return Corpus(found, draw(st.sampled_from([(), ("EXTRA",)])))
