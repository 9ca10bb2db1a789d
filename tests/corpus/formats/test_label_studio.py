"""Label Studio: tasks with annotations or predictions, JSON-MIN, its odd offsets, wrong files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lacuner import Ambiguity, Entity, Sentence, read, write
from lacuner.corpus.findings import Findings
from lacuner.corpus.reading import detect
from lacuner.errors import DataError

TEXT = "Ada Lovelace left Paris."


def region(start: int, end: int, *labels: str, text: str | None = None, **more: Any) -> Any:
    return {
        "value": {"start": start, "end": end, "text": text or TEXT[start:end], "labels": labels},
        "id": "6jiKXITGB_",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "origin": "manual",
        **more,
    }


def annotation(*result: Any, cancelled: bool = False) -> Any:
    return {
        "id": 96,
        "completed_by": 1,
        "result": result,
        "was_cancelled": cancelled,
        "ground_truth": False,
        "lead_time": 4.2,
    }


def task(number: int = 619, text: str = TEXT, **more: Any) -> Any:
    return {
        "id": number,
        "annotations": [],
        "file_upload": "a.json",
        "drafts": [],
        "predictions": [],
        "data": {"text": text},
        "meta": {},
        **more,
    }


def file_with(folder: Path, *tasks: Any) -> Path:
    path = folder / "project-1-at-2024-05-01.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def test_annotation_is_read(tmp_path: Path) -> None:
    path = file_with(
        tmp_path,
        task(annotations=[annotation(region(0, 12, "PER"), region(18, 23, "LOC"))]),
        task(620, "Nobody came. It rained."),
    )
    assert detect(path).name == "label-studio"
    first, second, third = read(path)
    assert first.id == "619.1"
    assert first.entities == (Entity(0, 2, "PER"), Entity(3, 4, "LOC"))
    assert (second.id, third.id, third.begin) == ("620.1", "620.2", 13)
    assert not (first.complete or second.complete)


def test_first_annotation_that_was_not_cancelled_counts(tmp_path: Path) -> None:
    path = file_with(
        tmp_path,
        task(
            annotations=[
                annotation(region(0, 3, "X"), cancelled=True),
                annotation(region(0, 12, "PER")),
                annotation(region(0, 3, "ORG")),
                annotation(),
            ],
            predictions=[{"result": [region(18, 23, "LOC")]}],
        ),
    )
    findings = Findings(keep_all=True)
    (sentence,) = read(path, findings=findings)
    assert sentence.entities == (Entity(0, 2, "PER"),)
    assert [(loss.kind, loss.detail) for loss in findings.losses] == [
        ("cancelled annotation left out", "was_cancelled is true"),
        ("further annotation of a task left out", "2 of them"),
    ]
    assert "predictions are left out of tasks that people annotated" in findings.remarks


def test_empty_annotation_vouches_only_on_request(tmp_path: Path) -> None:
    path = file_with(tmp_path, task(annotations=[annotation()]))
    assert not read(path).sentences[0].complete
    assert read(path, complete=True).sentences[0].complete


def test_prediction_brings_source_and_score(tmp_path: Path) -> None:
    path = file_with(
        tmp_path,
        task(
            predictions=[
                {
                    "model_version": "m1",
                    "score": 0.5,
                    "result": [region(0, 12, "PER", score=0.9), region(18, 23, "LOC")],
                },
                {"result": []},
            ]
        ),
        task(620, predictions=[{"score": 17, "result": [region(0, 12, "PER")]}]),
    )
    findings = Findings(keep_all=True)
    first, second = read(path, findings=findings)
    source = "label-studio:prediction"
    assert first.entities == (Entity(0, 2, "PER", source, 0.9), Entity(3, 4, "LOC", source, 0.5))
    assert second.entities == (Entity(0, 2, "PER", source, None),)
    assert findings.counts == {
        "further prediction of a task left out": 1,
        "score that is no number from 0 to 1 left out": 1,
    }


def test_region_with_two_labels_is_an_ambiguity(tmp_path: Path) -> None:
    path = file_with(tmp_path, task(annotations=[annotation(region(18, 23, "LOC", "ORG"))]))
    (sentence,) = read(path)
    assert sentence.entities == ()
    assert sentence.ambiguous == (Ambiguity(3, 4, ("LOC", "ORG")),)


def test_short_form_is_read(tmp_path: Path) -> None:
    path = file_with(
        tmp_path,
        {
            "text": TEXT,
            "id": 5,
            "ner": [{"start": 0, "end": 12, "text": "Ada Lovelace", "labels": ["PER"]}],
            "annotator": 1,
            "annotation_id": 3,
            "created_at": "2024-05-01T10:00:00Z",
            "lead_time": 3.1,
        },
        {"text": "Nobody came.", "id": 6, "annotator": 1},
    )
    assert detect(path).name == "label-studio"
    first, second = read(path)
    assert (first.id, first.entities) == ("5.1", (Entity(0, 2, "PER"),))
    assert (second.id, second.entities) == ("6.1", ())


def test_offsets_after_an_emoji_are_mended(tmp_path: Path) -> None:
    text = "💩This is an annotation."
    path = file_with(
        tmp_path,
        task(text=text, annotations=[annotation(region(13, 23, "X", text="annotation"))]),
        task(2, text=text, annotations=[annotation(region(12, 22, "X", text="annotation"))]),
    )
    findings = Findings()
    for sentence in read(path, findings=findings):
        assert [sentence.surface(*e.span) for e in sentence.entities] == ["annotation"]
    assert not findings.counts
    assert "offsets that count UTF-16 units were mended (emoji in the text)" in findings.remarks


def test_quote_that_differs_is_said(tmp_path: Path) -> None:
    path = file_with(tmp_path, task(annotations=[annotation(region(4, 12, "PER", text="velace"))]))
    findings = Findings(keep_all=True)
    (sentence,) = read(path, findings=findings)
    assert sentence.entities == (Entity(1, 2, "PER"),)
    assert findings.losses[0].detail == "'velace', at 4 to 12 stands 'Lovelace'"


def test_other_results_are_left_out_and_said(tmp_path: Path) -> None:
    path = file_with(
        tmp_path,
        task(
            annotations=[
                annotation(
                    region(0, 12, "PER"),
                    {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right"},
                    {"type": "choices", "value": {"choices": ["good"]}, "to_name": "text"},
                    region(0, 3, "X", to_name="title"),
                )
            ]
        ),
    )
    findings = Findings()
    (sentence,) = read(path, findings=findings)
    assert sentence.entities == (Entity(0, 2, "PER"),)
    assert findings.counts == {
        "result that labels no text left out": 2,
        "label on another text of the task left out": 1,
    }


def test_text_of_another_name_is_found(tmp_path: Path) -> None:
    one = task(data={"body": TEXT})
    two = task(data={"title": "Ada", "body": TEXT})
    findings = Findings()
    assert read(file_with(tmp_path, one), findings=findings).sentences[0].text == TEXT
    assert "the text of tasks is taken from the field 'body'" in findings.remarks
    with pytest.raises(
        DataError, match="no text field 'text'; there are title, body; --text-field"
    ):
        read(file_with(tmp_path, two))
    assert read(file_with(tmp_path, two), text_field="body").sentences[0].text == TEXT


def test_people_are_written_as_annotations_and_others_as_predictions(tmp_path: Path) -> None:
    before = (
        Sentence("a", ("Ada", "left"), (Entity(0, 1, "PER"),)),
        Sentence("b", ("Bo", "left"), (Entity(0, 1, "PER", "names.txt:Bo", 0.5),)),
        Sentence("c", ("Nobody", "left")),
        Sentence("d", ("No", "one"), complete=True),
        Sentence("e", ("Paris",), ambiguous=(Ambiguity(0, 1, ("LOC", "PER")),)),
    )
    path = tmp_path / "tasks.label-studio.json"
    findings = Findings()
    write(before, path, findings=findings)
    tasks = json.loads(path.read_text("utf-8"))
    assert tasks[0]["data"] == {"id": "a", "sentence": True, "text": "Ada left"}
    assert [set(t) - {"data"} for t in tasks] == [
        {"annotations"}, {"predictions"}, {"annotations"}, {"annotations"}, {"annotations"}
    ]  # fmt: skip
    assert tasks[2]["annotations"] == []
    assert tasks[3]["annotations"] == [{"result": []}]
    assert "label-studio does not keep the source of entities" in findings.remarks
    after = read(path).sentences
    assert [(s.id, s.tokens, s.complete, s.ambiguous) for s in after] == [
        (s.id, s.tokens, s.complete, s.ambiguous) for s in before
    ]
    assert after[0].entities == before[0].entities
    assert after[1].entities == (Entity(0, 1, "PER", "label-studio:prediction", 0.5),)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("text", "record 2: 'text' is no task; right is an object with data"),
        (task(data="x"), "record 2: the field 'data' is 'x', not an object with the text"),
        (task(data={"text": 3}), "record 2: the field 'text' is 3, not a string"),
        (task(annotations=3), "record 2: the field 'annotations' is no list of objects"),
        (task(annotations=[{"result": [3]}]), "record 2: the field 'result' is no list of objects"),
        (
            task(annotations=[annotation({"type": "labels"})]),
            "record 2: a result has the value None",
        ),
        (task(annotations=[annotation(region(0, 99, "P"))]), "characters 0 to 99 (P) does not fit"),
        (task(annotations=[annotation(region(0, 3))]), "record 2: a region has the labels []"),
        (
            task(annotations=[annotation(region(0, 3, "A"), region(0, 3, "B"))]),
            "record 2: two labels on one span: 'Ada' (characters 0 to 3) is A and B",
        ),
    ],
)
def test_wrong_task_is_refused_with_its_place(tmp_path: Path, second: Any, message: str) -> None:
    path = file_with(tmp_path, task(), second)
    with pytest.raises(DataError) as caught:
        read(path, format="label-studio")
    assert message in str(caught.value)


@pytest.mark.parametrize(("text", "message"), [("3", "no list of tasks"), ("[{]", "no JSON")])
def test_other_json_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read(path, format="label-studio")


def test_task_longer_than_the_head_is_recognised(tmp_path: Path) -> None:
    text = "Ada left. " * 10_000
    path = file_with(tmp_path, task(text=text, annotations=[annotation(region(0, 3, "PER"))]))
    assert detect(path).name == "label-studio"
    assert len(read(path)) == 10_000
