"""Which spans are entities, surely none, or unknown."""

from __future__ import annotations

import itertools
from dataclasses import replace

import torch
from hypothesis import given
from hypothesis import strategies as st

from lacuner.models.span_features import band_mask
from lacuner.models.span_roles import hidden_spans, span_roles, words_within
from tests.neural import batch_of, output_of, sentence


@given(
    length=st.integers(1, 7),
    widths=st.integers(1, 4),
    outside=st.sets(st.integers(0, 6)),
    complete=st.booleans(),
)
def test_every_span_has_the_role_that_a_person_would_give_it(
    length: int, widths: int, outside: set[int], complete: bool
) -> None:
    outside = {word for word in outside if 0 < word < length}
    made = replace(
        sentence(length, [(0, 1, "PER")]),
        outside=tuple((word, word + 1) for word in sorted(outside)),
        rejected=((length - 1, length),) if length > 1 else (),
        complete=complete,
    )
    batch = batch_of([made, replace(sentence(9), id="2")], ("PER",))
    mask = band_mask(batch.lengths, 9, widths)
    roles = span_roles(output_of(torch.zeros(2, 9, widths, 2), mask), batch)
    for start, width in itertools.product(range(9), range(widths)):
        end = start + width + 1
        place = 0, start, width
        is_span = end <= length
        is_entity = is_span and (start, end) == (0, 1)
        surely_none = (
            complete
            or (length > 1 and (start, end) == (length - 1, length))
            or any(start <= word < end for word in outside)
        )
        assert bool(roles.annotated[place]) == is_entity
        assert bool(roles.trusted[place]) == (is_span and not is_entity and surely_none)
        assert bool(roles.unknown[place]) == (is_span and not is_entity and not surely_none)


def test_hidden_spans_are_those_of_the_band_or_unknown() -> None:
    batch = batch_of([sentence(4)], ("PER",))
    output = output_of(torch.zeros(1, 4, 2, 2), band_mask(batch.lengths, 4, 2))
    assert hidden_spans(output, batch) is None
    known = replace(batch, hidden=torch.tensor([[0, 1, 3], [0, 0, 4]]))
    found = hidden_spans(output, known)
    assert found is not None
    assert found.nonzero().tolist() == [[0, 1, 1]]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(1, 4)), max_size=6))
def test_words_within_spans_are_those_of_a_loop(drawn: list[tuple[int, int, int]]) -> None:
    spans = [(row, start, min(start + width, 6), 1) for row, start, width in drawn]
    expected = torch.zeros(3, 6, dtype=torch.bool)
    for row, start, end, _ in spans:
        expected[row, start:end] = True
    rows = torch.tensor(spans, dtype=torch.long).reshape(-1, 4)
    assert words_within(rows, expected).equal(expected)
