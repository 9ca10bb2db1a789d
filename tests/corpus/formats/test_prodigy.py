"""Prodigy: answers, its own words, decisions about one text put together, wrong files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lacuner import Entity, Sentence, read, write
from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.prodigy import PRODIGY
from lacuner.corpus.raw_text import sentences_of_text
from lacuner.corpus.reading import detect
from lacuner.errors import DataError

TEXT = "Ada's trip to New York"
TOKENS = [
    {"text": "Ada", "start": 0, "end": 3, "id": 0, "ws": False},
    {"text": "'s", "start": 3, "end": 5, "id": 1, "ws": True},
    {"text": "trip", "start": 6, "end": 10, "id": 2, "ws": True},
    {"text": "to", "start": 11, "end": 13, "id": 3, "ws": True},
    {"text": "New", "start": 14, "end": 17, "id": 4, "ws": True},
    {"text": "York", "start": 18, "end": 22, "id": 5, "ws": False},
]
ADA = {"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PER"}
NEW_YORK = {"start": 14, "end": 22, "token_start": 4, "token_end": 5, "label": "LOC"}


def record(*spans: Any, answer: str = "accept", **more: Any) -> dict[str, Any]:
    return {
        "text": TEXT,
        "_input_hash": -977724056,
        "_task_hash": -665543633,
        "tokens": TOKENS,
        "spans": list(spans),
        "answer": answer,
        "_timestamp": 1700000000,
        **more,
    }


def file_with(folder: Path, *records: Any) -> Path:
    path = folder / "annotations.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in records), encoding="utf-8")
    return path


def test_accepted_spans_are_entities_on_its_own_words(tmp_path: Path) -> None:
    path = file_with(tmp_path, record(ADA, NEW_YORK, _view_id="ner_manual"))
    assert detect(path).name == "prodigy"
    (sentence,) = read(path)
    assert sentence.tokens == ("Ada", "'s", "trip", "to", "New", "York")
    assert sentence.entities == (Entity(0, 1, "PER"), Entity(4, 6, "LOC"))
    assert sentence.rejected == () and not sentence.complete
    assert read(path, complete=True).sentences[0].complete


def test_spans_of_tokens_alone_are_read_with_the_last_one_included(tmp_path: Path) -> None:
    path = file_with(tmp_path, record({"token_start": 4, "token_end": 5, "label": "LOC"}))
    (sentence,) = read(path)
    assert sentence.entities == (Entity(4, 6, "LOC"),)


def test_text_without_tokens_is_cut_into_words(tmp_path: Path) -> None:
    path = file_with(tmp_path, {"text": TEXT, "spans": [{"start": 0, "end": 3, "label": "PER"}]})
    assert detect(path).name == "prodigy"
    (sentence,) = read(path)
    assert sentence.tokens[:3] == ("Ada", "'", "s")
    assert sentence.entities == (Entity(0, 1, "PER"),)


def test_rejected_span_is_rejected_and_its_label_said(tmp_path: Path) -> None:
    path = file_with(tmp_path, record(NEW_YORK, answer="reject", _view_id="ner"))
    findings = Findings(keep_all=True)
    (sentence,) = read(path, findings=findings)
    assert (sentence.entities, sentence.rejected) == ((), ((4, 6),))
    assert findings.losses[0].kind == "span rejected for a label, kept as no entity at all"
    assert findings.losses[0].detail == "characters 14 to 22 (LOC)"


def test_rejected_text_of_a_manual_interface_says_nothing(tmp_path: Path) -> None:
    path = file_with(tmp_path, record(ADA, answer="reject", _view_id="ner_manual"))
    findings = Findings()
    (sentence,) = read(path, findings=findings)
    assert (sentence.entities, sentence.rejected) == ((), ())
    assert findings.counts == {"rejected text of a manual interface, nothing known of it": 1}


def test_ignored_text_says_nothing(tmp_path: Path) -> None:
    findings = Findings()
    (sentence,) = read(file_with(tmp_path, record(ADA, answer="ignore")), findings=findings)
    assert (sentence.entities, sentence.rejected) == ((), ())
    assert findings.counts == {"ignored text, nothing known of it": 1}


def test_answer_of_a_span_goes_first(tmp_path: Path) -> None:
    path = file_with(tmp_path, record(ADA, {**NEW_YORK, "answer": "reject"}))
    (sentence,) = read(path)
    assert (sentence.entities, sentence.rejected) == ((Entity(0, 1, "PER"),), ((4, 6),))


def test_decisions_about_one_text_are_put_together(tmp_path: Path) -> None:
    path = file_with(
        tmp_path,
        record(ADA, _view_id="ner"),
        record({**NEW_YORK, "label": "ORG"}, answer="reject", _view_id="ner"),
        record(NEW_YORK, _view_id="ner"),
        {**record(), "text": "Bo left", "tokens": []},
    )
    first, second = read(path)
    assert first.entities == (Entity(0, 1, "PER"), Entity(4, 6, "LOC"))
    assert first.rejected == ()  # it is LOC, hence not ORG
    assert (first.id, second.id) == ("1.1", "4.1")


def test_further_annotator_is_left_out_and_said(tmp_path: Path) -> None:
    path = file_with(
        tmp_path,
        record(ADA, _annotator_id="db-ines"),
        record(NEW_YORK, _annotator_id="db-matt"),
    )
    findings = Findings(keep_all=True)
    (sentence,) = read(path, findings=findings)
    assert sentence.entities == (Entity(0, 1, "PER"),)
    assert findings.losses[0].detail == "db-matt, line 2"


def test_same_text_with_other_ids_stays_apart(tmp_path: Path) -> None:
    before = [Sentence("a", ("Yes", "."), (Entity(0, 1, "X"),)), Sentence("b", ("Yes", "."))]
    path = tmp_path / "out.prodigy.jsonl"
    write(before, path)
    assert [(s.id, s.entities) for s in read(path)] == [(s.id, s.entities) for s in before]


def test_words_text_and_rejected_spans_come_back(tmp_path: Path) -> None:
    text = "Ada  left.\n\nBo\u200b won."
    first, second = sentences_of_text(text, "d")
    before = (
        first.with_entities([Entity(0, 1, "PER")]),
        replace(second, rejected=((0, 1),)),
    )
    path = tmp_path / "out.jsonl"
    write(before, path, format="prodigy", labels=("LOC", "PER"))
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [line["answer"] for line in lines] == ["accept", "reject"]
    assert "".join(t["text"] + " " * t["ws"] for t in lines[0]["tokens"]) == text
    assert [(s["token_start"], s["token_end"], s["label"]) for s in lines[1]["spans"]] == [
        (5, 5, "LOC"),
        (5, 5, "PER"),
    ]
    assert read(path).sentences == before


def test_words_that_our_splitter_would_cut_come_back(tmp_path: Path) -> None:
    before = Sentence("a", ("don't", "U.S.", "left", "."), (Entity(1, 2, "LOC"),))
    path = tmp_path / "out.prodigy.jsonl"
    write([before], path)
    (after,) = read(path)
    assert (after.tokens, after.entities) == (before.tokens, before.entities)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"spans": []}, "the field 'text' is missing"),
        (record(answer="maybe"), "the answer is 'maybe'; right is accept, reject, ignore"),
        (record({"start": 0, "end": 3}), "the field 'label' is missing"),
        (record({"label": "PER"}), "the field 'start' is missing"),
        (record({**ADA, "end": 300}), "characters 0 to 300 (PER) does not fit"),
        (
            record({"token_start": 4, "token_end": 6, "label": "LOC"}),
            "the span of tokens 4 to 6 (the last one included) does not fit 6 tokens",
        ),
        (record(ADA, {**ADA, "label": "LOC"}), "two labels on one span: 'Ada'"),
        (record(ADA, {**ADA, "answer": "reject"}), "is both an entity and rejected"),
        (
            record(tokens=[{**TOKENS[0], "end": 4}]),
            "token 'Ada' is not what stands at characters 0",
        ),
        (record(tokens=3), "the field 'tokens' is no list of objects"),
        ({**record(), "spans": [3]}, "the field 'spans' is no list of objects"),
    ],
)
def test_wrong_line_is_refused_with_its_place(tmp_path: Path, second: Any, message: str) -> None:
    path = file_with(tmp_path, {"text": "Bo left", "answer": "accept"}, second)
    with pytest.raises(DataError) as caught:
        read(path, format="prodigy")
    assert caught.value.line == 2
    assert message in str(caught.value)


@pytest.mark.parametrize("line", ['{"text": "a"}', '{"spans": []}', '{"text": "a", "spans": [1]}'])
def test_other_lines_are_not_prodigy(line: str) -> None:
    assert not PRODIGY.recognise(Path("a.jsonl"), line.encode())
