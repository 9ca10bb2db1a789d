"""Finding names: every option, against a search that tries all spans."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacuner.errors import LacunerError, UsageError
from lacuner.labelling.compiling import compile_names
from lacuner.labelling.gazetteer import Gazetteer
from lacuner.labelling.match_options import AMBIGUITIES, MatchOptions
from lacuner.labelling.names import Name
from lacuner.matching.units import cutter, folder, has_capital, spellings

Found = tuple[int, int, tuple[str, ...]]


def compiled(names: list[str] | list[Name], **options: object) -> Gazetteer:
    options.setdefault("units", "words")
    entries = [n if isinstance(n, Name) else Name(n, "X", "x.txt") for n in names]
    return compile_names(entries, MatchOptions(**options))  # type: ignore[arg-type]


def found(gazetteer: Gazetteer, tokens: list[str]) -> list[Found]:
    finds = gazetteer.find(tokens)
    return [
        (start, end, sense.labels or (sense.label,))
        for start, end, sense in zip(
            finds.start.tolist(), finds.end.tolist(), gazetteer.senses(finds), strict=True
        )
    ]


def spans(gazetteer: Gazetteer, text: str) -> list[tuple[int, int]]:
    return [(start, end) for start, end, _ in found(gazetteer, text.split())]


def searched_one_by_one(names: list[Name], tokens: list[str], options: MatchOptions) -> list[Found]:
    """What the gazetteer should find, by trying every name on every span of tokens."""
    cut = cutter(options.units)
    fold = folder(options.normal_form, ignore_case=options.ignores_case)

    def units(pieces: list[str]) -> list[str]:
        return [fold(unit) for piece in pieces for unit in cut(piece)]

    stops = [form for stop in options.stop for form in spellings(stop, options.units)]
    result = []
    for start in range(len(tokens)):
        for end in range(start + 1, len(tokens) + 1):
            span = tokens[start:end]
            if not cut(span[0]) or not cut(span[-1]):
                continue
            lower = not any(has_capital(unit) for token in span for unit in cut(token))
            fitting = [
                name
                for name in names
                for alias in (name.name, *name.aliases)
                for form in spellings(alias, options.units)
                if all(cut(token) for token in span)
                and units(span) == units([form])
                and not (options.case == "smart" and lower and has_capital(form))
                and len(form.replace(" ", "")) >= options.min_length
                and units([form]) not in [units([stop]) for stop in stops]
            ]
            if fitting:
                best = max(name.priority for name in fitting)
                rivals = [name for name in fitting if name.priority == best]
                labels = tuple(sorted({name.label for name in rivals}))
                if options.ambiguous == "first":
                    labels = (rivals[0].label,)
                result.append((start, end, labels))
    return sorted(result, key=lambda item: (item[0], -item[1]))


_PIECES = [
    "New",
    "new",
    "NEW",
    "York",
    "york",
    "a",
    "A",
    "U.S.",
    "U",
    "S",
    ".",
    "東",
    "京",
    "ﬁ",
    "fi",
]
_PIECES += ["Å", "A\u030a", "İ", "i", "ß", "SS", "3.5", "x-y", "'", " "]
pieces = st.sampled_from(_PIECES)
names = st.lists(
    st.builds(
        Name,
        st.lists(pieces, min_size=1, max_size=3).map(" ".join),
        st.sampled_from(["PER", "LOC"]),
        st.sampled_from(["a.txt", "b.txt"]),
        st.lists(pieces, max_size=1).map(tuple),
        st.integers(0, 1),
    ),
    min_size=1,
    max_size=6,
)


@given(
    names,
    st.lists(pieces, max_size=10),
    st.builds(
        MatchOptions,
        case=st.sampled_from(["exact", "ignore", "smart"]),
        normal_form=st.sampled_from(["NFC", "NFKC", "none"]),
        units=st.sampled_from(["words", "characters"]),
        min_length=st.integers(1, 3),
        stop=st.lists(pieces, max_size=1).map(tuple),
        ambiguous=st.sampled_from(AMBIGUITIES),
    ),
)
def test_gazetteer_finds_what_trying_all_spans_finds(
    names: list[Name], tokens: list[str], options: MatchOptions
) -> None:
    try:
        gazetteer = compile_names(names, options)
    except LacunerError:
        assert not searched_one_by_one(names, tokens, options)
        return
    assert found(gazetteer, tokens) == searched_one_by_one(names, tokens, options)


def test_names_do_not_cross_sentences() -> None:
    assert found(compiled(["New York"]), ["New", "", "York", "New", "York"]) == [(3, 5, ("X",))]


def test_names_match_whole_words_only() -> None:
    gazetteer = compiled(["New York", "York", "art"])
    assert spans(gazetteer, "New Yorker York starts part art") == [(2, 3), (5, 6)]


def test_longer_names_come_before_shorter_ones_at_one_place() -> None:
    gazetteer = compiled(["New", "New York", "New York City", "York"])
    assert spans(gazetteer, "New York City") == [(0, 3), (0, 2), (0, 1), (1, 2)]


def test_name_must_begin_and_end_with_a_token() -> None:
    gazetteer = compiled(["U.S.", "S.", "U.S. Army"])
    assert spans(gazetteer, "the U.S. Army of U . S .") == [(1, 3), (1, 2), (4, 8), (6, 8)]


def test_chinese_is_matched_by_characters() -> None:
    gazetteer = compiled(["東京", "note5"], units="characters")
    assert found(gazetteer, list("在東京買note5")) == [(1, 3, ("X",)), (4, 9, ("X",))]
    assert spans(gazetteer, "東京 note5 note52") == [(0, 1), (1, 2)]


def test_blank_in_a_name_may_be_a_token_or_missing_in_a_corpus_of_characters() -> None:
    gazetteer = compiled(["oral b", "蚊帐"], units="characters")
    assert found(gazetteer, list("买oral b")) == [(1, 7, ("X",))]
    assert found(gazetteer, list("买oralb")) == [(1, 6, ("X",))]
    assert found(gazetteer, list("蚊 帐")) == []


def test_chinese_in_raw_text_needs_no_option() -> None:
    assert spans(compiled(["東京", "note5"]), "在 東 京 買 note5") == [(1, 3), (4, 5)]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("exact", ["Apple", "May", "may day"]),
        ("ignore", ["Apple", "APPLE", "apple", "May", "may", "may day", "May day", "MAY DAY"]),
        ("smart", ["Apple", "APPLE", "May", "may day", "May day", "MAY DAY"]),
    ],
)
def test_case_modes(case: str, expected: list[str]) -> None:
    gazetteer = compiled(["Apple", "May", "may day"], case=case)
    texts = ["Apple", "APPLE", "apple", "May", "may", "may day", "May day", "MAY DAY"]
    whole = [text for text in texts if (0, len(text.split())) in spans(gazetteer, text)]
    assert whole == expected


def test_smart_case_chooses_the_meaning_that_the_text_allows() -> None:
    names = [Name("Apple", "ORG", "a.txt"), Name("apple", "FRUIT", "b.txt")]
    gazetteer = compiled(names, case="smart")
    assert found(gazetteer, ["apple", "Apple"]) == [
        (0, 1, ("FRUIT",)),
        (1, 2, ("FRUIT", "ORG")),
    ]


@pytest.mark.parametrize(
    ("name", "text", "forms"),
    [
        ("Ångström", unicodedata.normalize("NFD", "Ångström"), {"NFC", "NFKC"}),
        ("\u212bngström", "Ångström", {"NFC", "NFKC"}),
        ("ﬁnland", "finland", {"NFKC"}),
        ("\uff21\uff22\uff23", "ABC", {"NFKC"}),
        ("Zürich", "Zürich", {"NFC", "NFKC", "none"}),
    ],
)
def test_normal_forms(name: str, text: str, forms: set[str]) -> None:
    for form in ("NFC", "NFKC", "none"):
        assert bool(spans(compiled([name], normal_form=form), text)) == (form in forms), form


@pytest.mark.parametrize(
    ("name", "text"), [("İstanbul", "İSTANBUL"), ("Straße", "STRASSE"), ("ΣΊΣΥΦΟΣ", "σίσυφος")]
)
def test_folding_that_changes_length_does_not_move_what_follows(name: str, text: str) -> None:
    gazetteer = compiled([name, "Bergen"], case="ignore")
    assert spans(gazetteer, f"{text} {text} bergen") == [(0, 1), (1, 2), (2, 3)]


def test_alias_carries_the_entry_it_belongs_to() -> None:
    gazetteer = compiled([Name("Ada Lovelace", "PER", "people.txt", ("Countess",))])
    finds = gazetteer.find(["Countess"])
    assert gazetteer.senses(finds)[0].source == "people.txt:Ada Lovelace"


@pytest.mark.parametrize(("ambiguous", "labels"), [("both", ("LOC", "PER")), ("first", ("PER",))])
def test_name_of_two_labels_is_recorded_or_taken_from_the_first_dictionary(
    ambiguous: str, labels: tuple[str, ...]
) -> None:
    names = [Name("Jordan", "PER", "p.txt"), Name("Jordan", "LOC", "l.txt")]
    assert found(compiled(names, ambiguous=ambiguous), ["Jordan"]) == [(0, 1, labels)]


def test_higher_priority_settles_an_ambiguity() -> None:
    names = [Name("Jordan", "PER", "p.txt"), Name("Jordan", "LOC", "l.txt", (), 1)]
    assert found(compiled(names), ["Jordan"]) == [(0, 1, ("LOC",))]


def test_same_name_and_label_in_two_dictionaries_is_no_ambiguity() -> None:
    names = [Name("Jordan", "LOC", "b.txt"), Name("Jordan", "LOC", "a.txt")]
    gazetteer = compiled(names)
    finds = gazetteer.find(["Jordan"])
    assert gazetteer.senses(finds) == [("LOC", (), "b.txt:Jordan")]


def test_short_and_stopped_names_are_left_out_and_counted() -> None:
    gazetteer = compiled(["Al", "May", "Bergen"], min_length=3, stop=("may",), case="ignore")
    assert spans(gazetteer, "Al May Bergen") == [(2, 3)]
    assert (gazetteer.left_out.short, gazetteer.left_out.stopped) == (1, 1)
    assert len(gazetteer) == 1


def test_no_name_left_is_an_error() -> None:
    with pytest.raises(LacunerError, match="No name is left"):
        compiled(["Al"], min_length=3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"case": "lower"},
        {"normal_form": "NFX"},
        {"units": "bytes"},
        {"overlap": "nested"},
        {"ambiguous": "drop"},
        {"min_length": 0},
    ],
)
def test_unknown_option_is_wrong_use(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        MatchOptions(**wrong)  # type: ignore[arg-type]


def test_memory_of_tokens_starts_anew_when_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lacuner.matching.units._REMEMBERED_TOKENS", 10)
    gazetteer = compiled(["Bergen", "U.S."])
    for number in range(100):
        assert spans(gazetteer, f"w{number} Bergen U.S. x-{number}") == [(1, 2), (2, 3)]
        assert len(gazetteer.codes) < 20
