"""Labels on characters to labels on words and back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lacuner.corpus.character_spans import (
    JOINED,
    MET,
    NO_WORD,
    NO_WORDS,
    OVERRULED,
    REPEATED,
    WIDENED,
    sentences_of,
)
from lacuner.corpus.findings import Findings
from lacuner.corpus.marked_text import (
    ALONE,
    PARTLY_COMPLETE,
    MarkedText,
    marked_texts,
    pieces,
)
from lacuner.corpus.raw_text import sentences_of_text, split_words
from lacuner.corpus.sentence import Ambiguity, Corpus, Entity, Sentence
from lacuner.errors import InvalidSentence
from tests.strategies import corpora

TEXTS = st.lists(
    st.sampled_from(
        ["Ada", "Bo", "left", ".", "!", " ", " ", "\n", "東", "京。", "👍🏽", "3.5", "\u200b"]
    ),
    max_size=20,
).map("".join)


@st.composite
def marked(draw: st.DrawFn) -> MarkedText:
    """A text with labels that begin and end where words do."""
    text = draw(TEXTS)
    words = [place for _, place in split_words(text)]
    spans = set()
    if words:
        number = st.integers(0, len(words) - 1)
        for a, b in draw(st.lists(st.tuples(number, number), max_size=4)):
            spans.add((words[min(a, b)][0], words[max(a, b)][1]))
    ordered = sorted(spans, key=lambda span: (span[0], -span[1]))
    kinds = [draw(st.sampled_from("eera")) for _ in ordered]
    chosen = list(zip(ordered, kinds, strict=True))
    return MarkedText(
        "d",
        text,
        entities=tuple(
            Entity(*span, draw(st.sampled_from(["PER", "LOC"]))) for span, k in chosen if k == "e"
        ),
        rejected=tuple(sorted(span for span, kind in chosen if kind == "r")),
        ambiguous=tuple(Ambiguity(*span, ("A", "B")) for span, k in chosen if k == "a"),
        complete=draw(st.booleans()),
        one_sentence=draw(st.booleans()),
    )


def read(
    text: str, *labels: tuple[int, int, str], **known: object
) -> tuple[list[Sentence], Findings]:
    findings = Findings(keep_all=True)
    entities = tuple(Entity(*label) for label in labels)
    return sentences_of(MarkedText("d", text, entities, **known), findings), findings  # type: ignore[arg-type]


@given(marked())
def test_labels_on_whole_words_come_back_to_the_letter(text: MarkedText) -> None:
    findings = Findings()
    sentences = sentences_of(text, findings)
    assert set(findings.counts) <= {JOINED, NO_WORDS}
    again = list(marked_texts(sentences, findings))
    if not split_words(text.text):
        assert again == []
        return
    assert [replace(found, words=None, begins=None) for found in again] == [text]


@given(TEXTS, st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=4))
def test_any_span_is_kept_on_the_words_it_touches(text: str, places: list[tuple[int, int]]) -> None:
    spans = [(a, a + n) for a, n in places if a + n <= len(text)]
    findings = Findings(keep_all=True)
    sentences = sentences_of(
        MarkedText("d", text, tuple(Entity(*span, "X") for span in spans)), findings
    )
    found = {
        (s.begin + s.offsets[e.start][0], s.begin + s.offsets[e.end - 1][1])
        for s in sentences
        for e in s.entities
        if s.offsets
    }
    words = [place for _, place in split_words(text)]
    touched = [[w for w in words if w[0] < end and start < w[1]] for start, end in spans]
    assert found == {(ws[0][0], ws[-1][1]) for ws in touched if ws}
    cut = sum(
        1
        for ws, (a, b) in zip(touched, spans, strict=True)
        if ws and (ws[0][0] < a or ws[-1][1] > b)
    )
    assert findings.counts[WIDENED] == cut
    assert findings.counts[NO_WORD] == sum(not ws for ws in touched)
    assert findings.counts[NO_WORDS] == (not words)


@given(st.lists(TEXTS.filter(lambda text: bool(split_words(text))), min_size=1, max_size=4))
def test_written_documents_are_the_original_texts(texts: list[str]) -> None:
    findings = Findings()
    sentences = [s for n, text in enumerate(texts) for s in sentences_of_text(text, f"d{n}")]
    written = list(marked_texts(sentences, findings))
    assert [found.text for found in written] == texts
    assert [found.name for found in written] == [f"d{n}" for n in range(len(texts))]
    assert not findings.counts


@settings(max_examples=50)
@given(corpora(min_words=1))
def test_marked_texts_keep_every_word_and_span(corpus: Corpus) -> None:
    found = list(marked_texts(corpus, Findings()))
    words = [m.text[a:b] for m in found for a, b in m.words or ()]
    assert words == [token for sentence in corpus for token in sentence.tokens]
    for kind in ("entities", "rejected", "outside", "ambiguous"):
        assert sum(len(getattr(m, kind)) for m in found) == sum(
            len(getattr(s, kind)) for s in corpus
        )


@given(TEXTS)
def test_pieces_and_their_spaces_are_the_whole_text(text: str) -> None:
    words = [place for _, place in split_words(text)]
    cut = list(pieces(text, words))
    assert "".join(text[p.start : p.end] + " " * p.space for p in cut) == text
    assert [(p.start, p.end) for p in cut if p.is_word] == words


def test_span_that_cuts_a_word_is_widened_and_said() -> None:
    (sentence,), findings = read("Ada Lovelace left", (1, 9, "PER"))
    assert sentence.entities == (Entity(0, 2, "PER"),)
    (loss,) = findings.losses
    assert loss.kind == WIDENED
    assert loss.sentence_id == "d.1"
    assert loss.detail == "'da Lovel' to 'Ada Lovelace' (PER)"


def test_white_space_at_the_ends_is_trimmed_without_a_word() -> None:
    (sentence,), findings = read("So Ada left", (2, 7, "PER"))
    assert sentence.entities == (Entity(1, 2, "PER"),)
    assert not findings.counts


def test_span_over_a_boundary_joins_the_sentences() -> None:
    sentences, findings = read("He saw Dr. Ivo. Then he left. It rained.", (7, 20, "FILM"))
    assert [s.text for s in sentences] == ["He saw Dr. Ivo. Then he left. ", "It rained."]
    assert sentences[0].surface(*sentences[0].entities[0].span) == "Dr. Ivo. Then"
    assert findings.counts == {JOINED: 1}
    assert [s.id for s in sentences] == ["d.1", "d.2"]


def test_outside_is_cut_at_sentences() -> None:
    sentences, _ = read("Ada left. Bo won.", outside=((4, 12),))
    assert [s.outside for s in sentences] == [((1, 3),), ((0, 1),)]


def test_words_and_sentences_of_a_tool_are_taken() -> None:
    known = {"words": ((0, 7), (8, 11)), "begins": (0, 8)}
    sentences, findings = read("Ada-Bo. Cy.", (8, 11, "PER"), **known)
    assert [s.tokens for s in sentences] == [("Ada-Bo.",), ("Cy.",)]
    assert sentences[1].entities == (Entity(0, 1, "PER"),)
    assert not findings.counts


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (0, 12, "the span of characters 0 to 12 (PER) does not fit; right is a start before its"),
        (-1, 2, "characters -1 to 2 (PER) does not fit"),
        (3, 1, "characters 3 to 1 (PER) does not fit"),
        (2, 2, "characters 2 to 2 (PER) is empty"),
    ],
)
def test_span_outside_the_text_is_refused(start: int, end: int, message: str) -> None:
    with pytest.raises(InvalidSentence) as caught:
        read("Ada left .", (start, end, "PER"))
    assert message in str(caught.value)
    assert "from 0 to 10" in str(caught.value)


def test_two_labels_on_one_span_are_refused() -> None:
    with pytest.raises(
        InvalidSentence, match=r"two labels on one span: 'Ada' .* PER and LOC; .*'amb"
    ):
        read("Ada left", (0, 3, "PER"), (0, 3, "LOC"))


def test_two_labels_that_meet_by_widening_are_undecided() -> None:
    (sentence,), findings = read("Ada left", (0, 3, "PER"), (0, 2, "LOC"))
    assert sentence.entities == ()
    assert sentence.ambiguous == (Ambiguity(0, 1, ("PER", "LOC")),)
    assert findings.counts == {WIDENED: 1, MET: 1}


def test_rejected_span_gives_way_to_a_label_that_it_meets() -> None:
    (sentence,), findings = read("Ada left", (0, 3, "PER"), rejected=((0, 2),))
    assert sentence.rejected == ()
    assert findings.counts == {WIDENED: 1, OVERRULED: 1}


def test_one_label_twice_is_kept_once() -> None:
    (sentence,), findings = read("Ada left", (0, 3, "PER"), (0, 3, "PER"))
    assert len(sentence.entities) == 1
    assert findings.counts == {REPEATED: 1}


def test_label_on_no_word_is_said() -> None:
    (sentence,), findings = read("Ada  left", (3, 5, "PER"))
    assert sentence.entities == ()
    assert findings.counts == {NO_WORD: 1}


@pytest.mark.parametrize("words", [((0, 3), (2, 4)), ((3, 3),), ((0, 99),), ((-1, 2),)])
def test_words_that_do_not_fit_are_refused(words: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(InvalidSentence, match="overlaps its neighbour, is empty, or lies outside"):
        MarkedText("d", "Ada left", words=words)


def test_sentence_without_text_gets_one() -> None:
    spaced, unspaced = marked_texts(
        [
            Sentence("a", ("Ada", "left", "."), (Entity(1, 3, "X"),)),
            Sentence("b", ("東", "京"), (Entity(0, 2, "LOC"),), complete=True),
        ],
        Findings(),
    )
    assert (spaced.text, spaced.entities[0].span, spaced.joined) == ("Ada left .", (4, 10), True)
    assert (unspaced.text, unspaced.entities[0].span) == ("東京", (0, 2))
    assert unspaced.name == "b" and unspaced.one_sentence and unspaced.complete


def test_sentence_torn_from_its_document_stands_alone() -> None:
    first, second, third = sentences_of_text("Ada left. Bo won. Cy hid.", "d")
    findings = Findings(keep_all=True)
    found = list(marked_texts([first, third, second], findings))
    assert [(m.name, m.text) for m in found] == [
        ("d", "Ada left. "),
        ("d.3", "Cy hid."),
        ("d.2", "Bo won. "),
    ]
    assert [loss.sentence_id for loss in findings.losses] == ["d.3", "d.2"]
    assert findings.counts == {ALONE: 2}


def test_document_is_complete_only_as_a_whole() -> None:
    first, second = sentences_of_text("Ada left. Bo won.", "d")
    findings = Findings(keep_all=True)
    (found,) = marked_texts([replace(first, complete=True), second], findings)
    assert not found.complete
    assert findings.losses[0].kind == PARTLY_COMPLETE
