"""The HTML report."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lacuner import Corpus, Entity, Sentence
from lacuner.corpus.alignment import aligned
from lacuner.errors import OutputExists
from lacuner.evaluation.curves import Curve
from lacuner.evaluation.report_examples import instructive, marked
from lacuner.evaluation.report_page import SystemResult, report_page, write_report
from lacuner.evaluation.scores import score_entities


class _Page(HTMLParser):
    """Checks that tags nest, and keeps what a reader would see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def _system(name: str, predicted: Corpus, gold: Corpus, curve: Curve | None = None) -> SystemResult:
    return SystemResult(name, score_entities(aligned(predicted, gold)), predicted, curve, "a note")


def _without(corpus: Corpus, label: str) -> Corpus:
    return corpus.with_sentences(
        s.with_entities(e for e in s.entities if e.label != label) for s in corpus
    )


@pytest.fixture
def systems(small_corpus: Corpus) -> list[SystemResult]:
    curve = Curve(((1, 2.0), (2, 1.0)), ((2, 0.4), (4, 0.6)))
    return [
        _system("dictionary", _without(small_corpus, "PER"), small_corpus),
        _system("span_ce", _without(small_corpus, "ORG"), small_corpus, curve),
        _system("supervised", small_corpus, small_corpus, curve),
    ]


def test_report_page_shows_every_figure(systems: list[SystemResult], small_corpus: Corpus) -> None:
    page = _Page(report_page("A title", systems, small_corpus, introduction="Some words."))
    assert page.tags.count("svg") == 2
    for system in systems:
        for score in (system.scores.total, *system.scores.by_label.values()):
            for value in (score.precision, score.recall, score.f1):
                assert f"{value:.3f}" in page.text
    for text in ("A title", "Some words.", "a note", "20 sentences with 29 entities", "PRODUCT"):
        assert text in page.text
    classes = {value for name, value in page.attributes if name == "class"}
    assert {"found", "missed", "wrong", "line-2", "line-3"} <= classes
    assert "line-1" not in classes  # a dictionary learns nothing


def test_report_page_needs_nothing_from_outside(
    systems: list[SystemResult], small_corpus: Corpus
) -> None:
    text = report_page("A title", systems, small_corpus)
    page = _Page(text)
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert not {"src", "href", "onclick", "onload"} & {name for name, _ in page.attributes}
    assert not re.search(r"url\(|@import|https?:", text)
    assert "prefers-color-scheme: dark" in text and 'name="viewport"' in text


def test_report_page_escapes_what_comes_from_data() -> None:
    evil = "<script>alert('x')</script>"
    gold = Corpus((Sentence("1", (evil, "&amp;", "b"), (Entity(0, 1, "<i>"), Entity(2, 3, "B"))),))
    given = gold.with_sentences([Sentence("1", (evil, "&amp;", "b"), (Entity(0, 2, '"><img>'),))])
    curve = Curve(((1, 1.0),))
    text = report_page(evil, [_system(evil, given, gold, curve), _system("b", gold, gold)], gold,
                       introduction=evil)  # fmt: skip
    page = _Page(text)
    assert "script" not in page.tags and "img" not in page.tags
    assert "<script" not in text
    # Heading, title, introduction, the system's name in tables, chart and examples, the word.
    assert page.text.count(evil) >= 8
    assert "&amp;" in page.text and '"><img>' in page.text


def test_report_page_of_a_single_untrained_system(small_corpus: Corpus) -> None:
    page = _Page(report_page("t", [_system("one", small_corpus, small_corpus)], small_corpus))
    assert "Learning curves" not in page.text
    assert "Example sentences" not in page.text  # nothing is missed or wrong


def test_report_page_of_nothing() -> None:
    nothing = Corpus(())
    page = _Page(report_page("t", [_system("one", nothing, nothing)], nothing))
    assert "0 sentences with 0 entities" in page.text


def test_marked_says_what_is_true_instead() -> None:
    words = ("Maren", "Holt", "left", "Bergen", "at", "Noon")
    gold = Sentence("1", words, (Entity(0, 2, "PER"), Entity(3, 4, "LOC")))
    given = Sentence("1", words, (Entity(1, 2, "PER"), Entity(3, 4, "ORG"), Entity(5, 6, "LOC")))
    text = _Page(f"<p>{marked(given, gold)}</p>").text.replace("\u00a0", " ")
    assert text == (
        "Maren ! PER Holt is ‘Maren Holt’ PER left ! ORG Bergen is LOC at ! LOC Noon is no entity"
    )


def test_instructive_sentences_are_those_that_differ(small_corpus: Corpus) -> None:
    worse = _without(small_corpus, "PRODUCT")
    chosen = instructive([worse, small_corpus], small_corpus, 10)
    assert [gold.id for gold, _ in chosen] == ["8", "11", "17"]
    assert all(given[0] != given[1] for _, given in chosen)
    assert len(instructive([worse, small_corpus], small_corpus, 2)) == 2
    assert instructive([worse, worse], small_corpus, 10) == []
    single = instructive([worse], small_corpus, 10)
    assert [gold.id for gold, _ in single] == ["8", "11"]  # 17 has nothing that was found


def test_write_report_writes_once(
    systems: list[SystemResult], small_corpus: Corpus, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    write_report(path, "t", systems, small_corpus)
    assert path.read_text("utf-8") == report_page("t", systems, small_corpus)
    with pytest.raises(OutputExists):
        write_report(path, "t", systems, small_corpus)
    write_report(path, "u", systems, small_corpus, overwrite=True)
