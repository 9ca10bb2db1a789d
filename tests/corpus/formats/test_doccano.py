"""doccano: both shapes that it exports, what it cannot keep, and wrong files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lacuner import Entity, Sentence, read, write
from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.doccano import DOCCANO
from lacuner.corpus.raw_text import sentences_of_text
from lacuner.corpus.reading import detect
from lacuner.errors import DataError

TUPLES = """\
{"id":1,"text":"EU rejects German call. Peter left.","label":[[0,2,"ORG"],[24,29,"PER"]],\
"Comments":[]}
{"id":2,"text":"Nobody came.","label":[],"Comments":["why?"]}
"""
OBJECTS = """\
{"id":7,"text":"Google hired Larry Page.","entities":[{"id":0,"label":"ORG","start_offset":0,\
"end_offset":6},{"id":2,"label":"PER","start_offset":13,"end_offset":23}],\
"relations":[{"id":0,"from_id":0,"to_id":2,"type":"hired"}],"Comments":[]}
"""


def file_with(folder: Path, text: str) -> Path:
    path = folder / "admin.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_as_lists_are_read(tmp_path: Path) -> None:
    path = file_with(tmp_path, TUPLES)
    assert detect(path).name == "doccano"
    findings = Findings(keep_all=True)
    first, second, third = read(path, findings=findings)
    assert (first.id, first.document, first.entities) == ("1.1", "1", (Entity(0, 1, "ORG"),))
    assert (second.id, second.begin, second.tokens) == ("1.2", 24, ("Peter", "left", "."))
    assert second.entities == (Entity(0, 1, "PER"),)
    assert third.entities == () and not third.complete
    assert [(loss.kind, loss.sentence_id) for loss in findings.losses] == [
        ("doccano comment left out", "2")
    ]


def test_labels_as_objects_are_read_and_relations_reported(tmp_path: Path) -> None:
    path = file_with(tmp_path, OBJECTS)
    assert detect(path).name == "doccano"
    findings = Findings(keep_all=True)
    (sentence,) = read(path, findings=findings)
    assert sentence.entities == (Entity(0, 1, "ORG"), Entity(2, 4, "PER"))
    assert findings.counts == {"doccano relation left out": 1}


@pytest.mark.parametrize("field", ["label", "labels", "entities"])
def test_every_name_of_the_labels_is_known(tmp_path: Path, field: str) -> None:
    path = file_with(tmp_path, json.dumps({"text": "Ada left", field: [[0, 3, "PER"]]}))
    assert detect(path).name == "doccano"
    (sentence,) = read(path, complete=True)
    assert sentence.id == "1.1"
    assert sentence.entities == (Entity(0, 1, "PER"),)
    assert sentence.complete


@pytest.mark.parametrize("label", ['"positive"', '["positive"]', "3"])
def test_texts_with_other_labels_are_not_doccano(tmp_path: Path, label: str) -> None:
    path = file_with(tmp_path, f'{{"text": "Ada left", "label": {label}}}\n')
    assert not DOCCANO.recognise(path, path.read_bytes())


def test_long_first_line_is_recognised(tmp_path: Path) -> None:
    record = {"text": "Ada left. " * 20_000, "label": [[0, 3, "PER"]]}
    path = file_with(tmp_path, json.dumps(record) + "\n")
    assert detect(path).name == "doccano"
    assert len(read(path)) == 20_000


def test_documents_are_written_to_the_letter(tmp_path: Path) -> None:
    text = "Ada  left.\n\nBo, too. "
    first, second = sentences_of_text(text, "d7")
    path = tmp_path / "out.jsonl"
    write(
        [first.with_entities([Entity(0, 1, "PER")]), second.with_entities([Entity(0, 1, "PER")])],
        path,
        format="doccano",
    )
    assert [json.loads(line) for line in path.read_text("utf-8").splitlines()] == [
        {"id": "d7", "text": text, "label": [[0, 3, "PER"], [12, 14, "PER"]]}
    ]
    assert read(path).sentences == (
        first.with_entities([Entity(0, 1, "PER")]),
        second.with_entities([Entity(0, 1, "PER")]),
    )


def test_sentences_without_text_keep_id_and_completeness(tmp_path: Path) -> None:
    before = (
        Sentence("a", ("Ada", "left", ".", "Bo", "won"), (Entity(0, 1, "PER"),), complete=True),
        Sentence("b", ("東", "京"), (Entity(0, 2, "LOC"), Entity(0, 1, "X"))),
    )
    path = tmp_path / "out.doccano.jsonl"
    write(before, path)
    after = read(path).sentences
    assert [(s.id, s.tokens, s.entities, s.complete, s.document) for s in after] == [
        (s.id, s.tokens, s.entities, s.complete, s.document) for s in before
    ]


def test_texts_with_one_id_get_names_of_their_own(tmp_path: Path) -> None:
    findings = Findings()
    path = file_with(tmp_path, '{"id": 1, "text": "Ada", "label": []}\n' * 2)
    assert [s.id for s in read(path, findings=findings)] == ["1.1", "1@2.1"]
    assert any("<id>@<line>" in remark for remark in findings.remarks)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "Ada left", "label": [[0, 3]]}', "[0, 3] is no label on characters; right is ["),
        ('{"text": "Ada left", "label": [["0", 3, "P"]]}', "is no label on characters"),
        ('{"text": "Ada left", "label": "PER"}', "the field 'label' is 'PER', not a list"),
        ('{"label": [[0, 3, "PER"]]}', "the field 'text' is missing"),
        ('{"text": 3, "label": []}', "the field 'text' is 3, not a string"),
        (
            '{"text": "Ada left", "label": [[0, 30, "PER"]]}',
            "characters 0 to 30 (PER) does not fit",
        ),
        ('{"text": "Ada left", "label": [[3, 3, "PER"]]}', "characters 3 to 3 (PER) is empty"),
        (
            '{"text": "Ada left", "label": [[0, 3, "PER"], [0, 3, "LOC"]]}',
            "two labels on one span: 'Ada' (characters 0 to 3) is PER and LOC",
        ),
        (
            '{"text": "Ada", "entities": [{"start_offset": "0", "end_offset": 3, "label": "P"}]}',
            "the field 'start_offset' is '0', not a whole number",
        ),
        ('["text"]', "the line holds no JSON object"),
        ('{"text": ', "this is no JSON"),
    ],
)
def test_wrong_line_is_refused_with_its_place(tmp_path: Path, line: str, message: str) -> None:
    path = file_with(tmp_path, TUPLES + line + "\n")
    with pytest.raises(DataError) as caught:
        read(path, format="doccano")
    assert caught.value.line == 3
    assert message in str(caught.value)


def test_text_field_can_be_named(tmp_path: Path) -> None:
    path = file_with(tmp_path, '{"body": "Ada left", "label": [[0, 3, "PER"]]}\n')
    (sentence,) = read(path, format="doccano", text_field="body")
    assert sentence.tokens == ("Ada", "left")


def test_long_sentence_is_refused(tmp_path: Path) -> None:
    path = file_with(tmp_path, json.dumps({"text": "word " * 200_000, "label": []}))
    with pytest.raises(DataError, match=r"line 1: a sentence of 200,000 words"):
        read(path)
