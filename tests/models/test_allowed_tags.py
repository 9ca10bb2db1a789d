"""Sets of allowed tags against all rows of tags that do not contradict the labels."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lacuner import Ambiguity, Entity, Sentence
from lacuner.corpus.sentence import Span
from lacuner.corpus.tag_set import TagSet
from lacuner.corpus.tagging import decode_tags
from lacuner.models.allowed_tags import allowed_if_entity, allowed_tags
from tests.neural import batch_of

LABELS = ("A", "B")
WORDS = ("u", "v", "w", "x")


def _rows_that_the_sets_allow(sentence: Sentence, scheme: str) -> set[tuple[str, ...]]:
    tag_set = TagSet(LABELS, scheme)
    longer = Sentence("longer", (*WORDS, "y"))
    allowed = allowed_tags(batch_of([sentence, longer], LABELS), tag_set)[0]
    assert allowed[len(sentence) :].all()  # places without a word
    return {
        row
        for row in product(tag_set.tags, repeat=len(sentence))
        if all(allowed[i, tag_set.tags.index(tag)] for i, tag in enumerate(row))
        and not decode_tags(row, scheme).broken
    }


def _rows_that_the_labels_allow(sentence: Sentence, scheme: str) -> set[tuple[str, ...]]:
    """Every valid row whose entities are the labelled ones and, where nothing is known, any."""
    rows = set()
    for row in product(TagSet(LABELS, scheme).tags, repeat=len(sentence)):
        decoded = decode_tags(row, scheme)
        found = {(start, end): label for start, end, label in decoded.spans}
        told: dict[Span, tuple[str, ...]] = {e.span: (e.label,) for e in sentence.entities}
        told |= {each.span: each.labels or LABELS for each in sentence.ambiguous}
        unsaid = {word for span in found if span not in told for word in range(*span)}
        closed = {word for start, end in sentence.outside for word in range(start, end)}
        if (
            not decoded.broken
            and all(found.get(span) in labels for span, labels in told.items())
            and not (unsaid if sentence.complete else unsaid & closed)
        ):
            rows.add(row)
    return rows


def _sentence(**knowledge: object) -> Sentence:
    return Sentence("1", WORDS, **knowledge)  # type: ignore[arg-type]


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
@pytest.mark.parametrize(
    "sentence",
    [
        _sentence(),
        _sentence(complete=True),
        _sentence(entities=(Entity(0, 2, "A"),)),
        _sentence(entities=(Entity(1, 2, "B"), Entity(2, 4, "B")), complete=True),
        _sentence(entities=(Entity(1, 2, "B"),), outside=((2, 4),)),
        _sentence(ambiguous=(Ambiguity(1, 3, ("A", "B")),)),
        _sentence(ambiguous=(Ambiguity(1, 3, ("B",)), Ambiguity(3, 4))),
        _sentence(ambiguous=(Ambiguity(0, 1),), entities=(Entity(1, 2, "A"),), outside=((3, 4),)),
        _sentence(ambiguous=(Ambiguity(2, 4),), complete=True),
    ],
    ids=str,
)
def test_sets_allow_exactly_the_rows_that_labels_do_not_contradict(
    sentence: Sentence, scheme: str
) -> None:
    right = _rows_that_the_labels_allow(sentence, scheme)
    assert right and _rows_that_the_sets_allow(sentence, scheme) == right


@st.composite
def _known_sentences(draw: st.DrawFn) -> Sentence:
    cuts = sorted(draw(st.sets(st.integers(0, 3), min_size=2)))
    entities, ambiguous, outside = list[Entity](), list[Ambiguity](), list[tuple[int, int]]()
    for start, end in pairwise(cuts):
        kind = draw(st.sampled_from(["entity", "ambiguous", "outside", "unknown"]))
        if kind == "entity":
            entities.append(Entity(start, end, draw(st.sampled_from(LABELS))))
        elif kind == "ambiguous":
            labels = tuple(sorted(draw(st.sets(st.sampled_from(LABELS)))))
            ambiguous.append(Ambiguity(start, end, labels))
        elif kind == "outside":
            outside.append((start, end))
    return Sentence(
        "1",
        WORDS[:3],
        entities=tuple(entities), ambiguous=tuple(ambiguous), outside=tuple(outside),
        complete=draw(st.booleans()),
    )  # fmt: skip


@settings(deadline=None)
@given(_known_sentences(), st.sampled_from(["bio", "bioes"]))
def test_sets_are_exact_for_any_knowledge(sentence: Sentence, scheme: str) -> None:
    assert _rows_that_the_sets_allow(sentence, scheme) == _rows_that_the_labels_allow(
        sentence, scheme
    )


@settings(deadline=None)
@given(_known_sentences())
def test_sets_of_io_never_exclude_a_row_that_labels_allow(sentence: Sentence) -> None:
    allowed = _rows_that_the_sets_allow(sentence, "io")
    assert _rows_that_the_labels_allow(sentence, "io") <= allowed


def test_overlaps_keep_the_longest_and_rejected_spans_close_no_word() -> None:
    tag_set = TagSet(LABELS, "bioes")
    nested = _sentence(
        entities=(Entity(0, 3, "A"), Entity(2, 4, "B")),
        ambiguous=(Ambiguity(1, 2), Ambiguity(3, 4, ("B",))),
    )
    apart = _sentence(ambiguous=(Ambiguity(0, 1), Ambiguity(0, 3, ("A",))))
    rejected = _sentence(rejected=((0, 2), (3, 4)))
    allowed = allowed_tags(batch_of([nested, apart, rejected], LABELS), tag_set)
    names = [
        [{tag_set.tags[i] for i in word.nonzero()[:, 0].tolist()} for word in row]
        for row in allowed
    ]
    assert names[0] == [{"B-A"}, {"I-A"}, {"E-A"}, {"S-B"}]
    assert names[1][:3] == [{"B-A"}, {"I-A"}, {"E-A"}]
    assert allowed[2].all()


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_sets_of_a_supposed_entity_hold_exactly_the_rows_that_have_it(scheme: str) -> None:
    tag_set = TagSet(LABELS, scheme)
    sentence = _sentence(entities=(Entity(0, 1, "A"),))
    spans = torch.tensor([[0, 1, 3], [0, 3, 4], [0, 0, 2]])
    allowed = allowed_tags(batch_of([sentence], LABELS), tag_set)
    then = allowed_if_entity(allowed, spans, tag_set)
    right = _rows_that_the_labels_allow(sentence, scheme)
    for sets, (_, start, end) in zip(then, spans.tolist(), strict=True):
        with_entity = {
            row
            for row in right
            if (start, end) in {span[:2] for span in decode_tags(row, scheme).spans}
        }
        assert with_entity == {
            row
            for row in product(tag_set.tags, repeat=4)
            if all(sets[i, tag_set.tags.index(tag)] for i, tag in enumerate(row))
            and not decode_tags(row, scheme).broken
        }
        assert bool(with_entity) == ((start, end) != (0, 2))  # the labelled entity forbids that


def test_labels_that_the_model_does_not_know_leave_every_label_open() -> None:
    batch = batch_of([_sentence(ambiguous=(Ambiguity(0, 1, ("C",)), Ambiguity(1, 2, ("B", "C"))))],
                     LABELS)  # fmt: skip
    assert batch.ambiguous_labels.tolist() == [[True, True], [False, True]]
