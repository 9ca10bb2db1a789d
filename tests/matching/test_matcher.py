"""The matcher by itself: what the tests of gazetteers do not ask it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lacuner.matching.matcher import Matcher
from lacuner.matching.unit_rows import UnitRows
from lacuner.matching.units import cutter, folder


def _matcher(
    names: list[str], units: str, *, ignore_case: bool = False
) -> tuple[Matcher, list[int]]:
    rows = UnitRows(folder("NFC", ignore_case=ignore_case))
    for name in names:
        rows.add(cutter(units)(name))
    edges, form_of_state, form, vocabulary = rows.compiled()
    matcher = Matcher(
        edges, form_of_state, vocabulary, units=units, normal_form="NFC", ignore_case=ignore_case
    )
    return matcher, form.tolist()


@given(
    names=st.lists(st.text("abC", min_size=1, max_size=3), min_size=1, max_size=6, unique=True),
    text=st.text("abcC", max_size=15),
)
def test_every_name_is_found_at_every_place(names: list[str], text: str) -> None:
    matcher, form = _matcher(names, "characters")
    found = matcher.find(list(text))
    assert found.lower is None
    assert sorted(
        zip(found.start.tolist(), found.end.tolist(), found.form.tolist(), strict=True)
    ) == sorted(
        (start, start + len(name), number)
        for name, number in zip(names, form, strict=True)
        for start in range(len(text))
        if text.startswith(name, start)
    )


def test_names_begin_and_end_where_tokens_do() -> None:
    matcher, _ = _matcher(["New York", "York"], "words", ignore_case=True)
    found = matcher.find(["new", "york", "", "New-York", "York-based"])
    spans = sorted(zip(found.start.tolist(), found.end.tolist(), strict=True))
    assert spans == [(0, 2), (1, 2)]


def test_text_without_capitals_is_noted_on_request() -> None:
    matcher, _ = _matcher(["new york"], "words", ignore_case=True)
    codes = matcher.codes.of(["New", "York", "", "new", "york"])
    found = matcher.find_codes(codes, note_case=True)
    assert found.lower is not None
    order = np.argsort(found.start)
    assert found.lower[order].tolist() == [False, True]
