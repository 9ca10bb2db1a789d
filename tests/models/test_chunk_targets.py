"""What labels say about gaps and chunks, word by word."""

from __future__ import annotations

from lacuner import Ambiguity, Entity, Sentence
from lacuner.models.chunk_targets import chunk_targets
from tests.neural import batch_of

LABELS = ("A", "B")
WORDS = tuple("abcdefgh")


def _gaps(sentence: Sentence) -> str:
    """A letter a gap: tie, break, or ? for unknown."""
    told = chunk_targets(batch_of([sentence, Sentence("longer", (*WORDS, "i"))], LABELS), 2)
    known, breaks = told.known[0].tolist(), told.breaks[0].tolist()
    assert not any(known[len(sentence) - 1 :])  # gaps at and behind the sentence's end
    return "".join(
        ("b" if cut else "t") if sure else "?" for sure, cut in zip(known, breaks, strict=True)
    )[: len(sentence) - 1]


def _types(sentence: Sentence) -> dict[tuple[int, int], set[str]]:
    told = chunk_targets(batch_of([sentence], LABELS), 2)
    names = ("none", *LABELS)
    return {
        (start, end): {name for name, may in zip(names, row, strict=True) if may}
        for (_, start, end), row in zip(told.chunks.tolist(), told.types.tolist(), strict=True)
    }


def test_complete_sentence_is_known_everywhere() -> None:
    sentence = Sentence("1", WORDS[:6], (Entity(1, 3, "A"), Entity(3, 4, "B")), complete=True)
    assert _gaps(sentence) == "btbbb"
    assert _types(sentence) == {
        (1, 3): {"A"}, (3, 4): {"B"}, (0, 1): {"none"}, (4, 5): {"none"}, (5, 6): {"none"},
    }  # fmt: skip


def test_gaps_beside_unknown_words_are_unknown() -> None:
    sentence = Sentence("1", WORDS, (Entity(1, 4, "A"),), outside=((4, 6),))
    assert _gaps(sentence) == "?ttbb??"
    assert _types(sentence) == {(1, 4): {"A"}, (4, 5): {"none"}, (5, 6): {"none"}}


def test_ambiguous_spans_are_tied_and_keep_their_types_open() -> None:
    sentence = Sentence(
        "1",
        WORDS,
        (Entity(0, 2, "A"),),
        ambiguous=(Ambiguity(2, 5, ("A", "B")), Ambiguity(1, 3), Ambiguity(6, 8)),
    )
    # The second touches an entity, so that it says nothing.
    assert _gaps(sentence) == "tbtt??t"
    assert _types(sentence) == {(0, 2): {"A"}, (2, 5): {"A", "B"}, (6, 8): {"A", "B"}}


def test_rejected_span_is_no_entity_and_says_nothing_of_its_gaps() -> None:
    sentence = Sentence("1", WORDS[:4], rejected=((1, 3),))
    assert _gaps(sentence) == "???"
    assert _types(sentence) == {(1, 3): {"none"}}


def test_longest_of_overlapping_entities_counts() -> None:
    sentence = Sentence("1", WORDS[:5], (Entity(0, 3, "A"), Entity(2, 4, "B")), complete=True)
    assert _gaps(sentence) == "ttbb"
    assert _types(sentence) == {(0, 3): {"A"}, (3, 4): {"none"}, (4, 5): {"none"}}
