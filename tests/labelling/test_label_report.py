"""The report: what matched, what never did, and what looks wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
import pytest

from lacuner import Sentence
from lacuner.labelling.compiling import compile_names
from lacuner.labelling.distant import label
from lacuner.labelling.label_report import LabelReport
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.names import Name

NAMES = [
    Name("Maren Holt", "PER", "people.txt", ("Holt",)),
    Name("May", "PER", "people.txt"),
    Name("Jordan", "PER", "people.txt"),
    Name("Jordan", "LOC", "places.csv"),
    Name("York", "LOC", "places.csv"),
    Name("New York", "LOC", "places.csv"),
    Name("X", "LOC", "places.csv"),
    Name("42", "LOC", "places.csv"),
    Name("Oz", "LOC", "places.csv"),
    Name("Atlantis", "LOC", "places.csv"),
]
TEXT = [
    "Maren Holt met Holt in New York , X , 42 , Oz and Jordan .",
    "May may come , she may not , they may , but May did .",
]


def _report(texts: Iterable[str] = TEXT, **options: Any) -> LabelReport:
    gazetteer = compile_names(NAMES, MatchOptions(units="words", **options))
    report = LabelReport(gazetteer)
    sentences = (Sentence(str(n), tuple(text.split())) for n, text in enumerate(texts))
    entities = [e for s in label(sentences, gazetteer, report=report) for e in s.entities]
    assert report.labelled == len(entities)
    return report


def test_report_counts_by_label_dictionary_and_entry() -> None:
    report = _report()
    assert (report.sentences, report.words) == (2, 31)
    assert report.by_label() == {"LOC": 4, "PER": 4}
    assert report.ambiguous == 1
    assert report.by_dictionary() == {
        "people.txt": {"entries": 3, "entries_labelled": 3, "labelled": 5},
        "places.csv": {"entries": 7, "entries_labelled": 5, "labelled": 5},
    }
    top = report.most_frequent(2)
    assert [(entry.name, entry.labelled) for entry in top] == [("Maren Holt", 2), ("May", 2)]


def test_name_that_only_stands_inside_a_longer_one_was_found_but_not_labelled() -> None:
    report = _report()
    assert report.never_found(5) == (1, ["places.csv:Atlantis"])
    assert "York" not in {entry.name for entry in report.most_frequent()}


@pytest.mark.parametrize("case", ["exact", "ignore", "smart"])
def test_common_word_is_seen_by_its_lower_case_in_every_case_mode(case: str) -> None:
    suspects = {suspect.entry.name: suspect.reasons for suspect in _report(case=case).suspects()}
    assert suspects["May"] == ("common word: lower case 3 of 5 times",)


def test_suspects_are_short_odd_and_ambiguous_names() -> None:
    suspects = {(s.entry.name, s.entry.label): s.reasons for s in _report().suspects()}
    assert suspects["X", "LOC"] == ("single character",)
    assert suspects["42", "LOC"] == ("no letter in it",)
    assert suspects["Oz", "LOC"] == ("two letters",)
    assert suspects["Jordan", "LOC"] == ("also PER",)
    assert suspects["Jordan", "PER"] == ("also LOC",)
    assert not {("Maren Holt", "PER"), ("New York", "LOC"), ("York", "LOC")} & set(suspects)


def test_very_frequent_entry_is_a_suspect() -> None:
    report = _report(["New York is New York"] * 20)
    assert report.suspects()[0].reasons == ("very frequent: 40.00% of all words",)


def test_skipped_ambiguities_are_counted_and_credited_to_nobody() -> None:
    report = _report(ambiguous="skip")
    assert report.ambiguous == 1
    assert "Jordan" not in {entry.name for entry in report.most_frequent()}


def test_first_dictionary_is_credited_when_it_wins() -> None:
    report = _report(ambiguous="first")
    labels = {entry.label for entry in report.most_frequent() if entry.name == "Jordan"}
    assert (labels, report.ambiguous) == ({"PER"}, 0)


def test_report_is_json_and_short_lists_say_how_long_they_are() -> None:
    value = orjson.loads(orjson.dumps(_report().as_dict(examples=1)))
    assert value["never_found"] == {"count": 1, "first": ["places.csv:Atlantis"]}
    assert value["suspicious"]["count"] == 6
    assert len(value["suspicious"]["first"]) == 1
    assert value["by_entry"] == [
        {
            "name": "Maren Holt",
            "label": "PER",
            "dictionary": "people.txt",
            "labelled": 2,
            "found": 3,
        }
    ]


def test_report_of_nothing_found_is_empty() -> None:
    report = _report(["nothing here"])
    assert (report.most_frequent(), report.suspects(), report.labelled) == ([], [], 0)
    assert report.never_found(0)[0] == len(NAMES)


def test_report_does_not_grow_with_the_corpus() -> None:
    report = _report(f"word{number} {number}" for number in range(2000))
    sizes = {name: value.size for name, value in vars(report).items() if hasattr(value, "size")}
    forms = len(set(NAMES)) + 1
    assert all(
        size <= 2 * (forms + len(report.gazetteer.codes.vocabulary)) for size in sizes.values()
    )
