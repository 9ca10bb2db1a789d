"""Label Studio's JSON: a list of tasks, or its short form "JSON-MIN".

What counts as what:

- A task's first annotation that was not cancelled is read; other annotators are left out, and the
  findings say how many. A task without annotation is read from its first prediction, whose labels
  get the source `label-studio:prediction`; a task with neither is a text of which nothing is known.
- A submitted annotation vouches for what it labels, not for what it leaves out: an empty result
  makes a sentence complete only with the option `complete`.
- One region with several labels is an `Ambiguity`.
- Offsets are checked against the text that Label Studio quotes: its browser part counts UTF-16
  units, so that they are too high after an emoji; where that explains the quote they are mended.

Written are annotations for texts whose labels all come from people (no source, no score), and
predictions for the others, so that a person looks at them. Both can be imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from lacuner.corpus.findings import Findings
from lacuner.corpus.formats.format import Format, ReadOptions, WriteOptions, located
from lacuner.corpus.formats.json_shapes import first_item, string, whole_number
from lacuner.corpus.formats.marked_records import (
    Names,
    checked_sentences,
    items,
    own_fields,
    reported,
    says,
)
from lacuner.corpus.marked_text import MarkedText, marked_texts
from lacuner.corpus.sentence import Ambiguity, Entity, Sentence, Span
from lacuner.errors import DataError, InvalidSentence
from lacuner.files import read_json

PREDICTION = "label-studio:prediction"
# Exports of versions before 1.0 called annotations completions.
_ANNOTATIONS = ("annotations", "completions")
_Found = tuple[list[Entity], list[Ambiguity]]


def recognise(path: Path, head: bytes) -> bool:
    """A list of tasks with data, or of texts with labelled regions."""
    task = first_item(head)
    if task is None:  # longer than the head, or no list of objects
        return head.lstrip().startswith(b"[") and b'"from_name"' in head and b'"to_name"' in head
    if isinstance(task.get("data"), dict):
        return any(name in task for name in (*_ANNOTATIONS, "predictions"))
    return any(_is_regions(value) for value in task.values())


def read(path: Path, options: ReadOptions, findings: Findings) -> Iterator[Sentence]:
    """Yields the sentences of each task's text."""
    tasks = read_json(path)
    if isinstance(tasks, dict):
        tasks = [tasks]
    if not isinstance(tasks, list):
        raise DataError(path, "this is no list of tasks", right='Right is [{"data": {…}, …}, …]')
    names = Names(findings)
    for number, task in enumerate(tasks, start=1):
        with located(path, None, record=number):
            if not isinstance(task, dict):
                raise InvalidSentence(f"{task!r:.80} is no task; right is an object with data")
            marked = _marked(task, number, names, options, findings)
        yield from checked_sentences(marked, path, None, options, findings, record=number)


def _marked(
    task: dict[str, Any], number: int, names: Names, options: ReadOptions, findings: Findings
) -> MarkedText:
    short = "data" not in task
    data = task if short else task["data"]
    if not isinstance(data, dict):
        raise InvalidSentence(f"the field 'data' is {data!r:.80}, not an object with the text")
    name = names.name(data.get("id", task.get("id")), number)
    text = _text(data, options.text_field, findings)
    chosen = _short_form if short else _full_form
    entities, ambiguous = chosen(task, text, name, findings)
    return MarkedText(
        name=name,
        text=text,
        entities=tuple(entities),
        ambiguous=tuple(ambiguous),
        complete=says(data, "complete"),
        one_sentence=says(data, "sentence"),
    )


def _text(data: dict[str, Any], field: str, findings: Findings) -> str:
    if field in data:
        return string(data, field)
    texts = [name for name, value in data.items() if isinstance(value, str) and name != "id"]
    if len(texts) != 1:
        found = f"; there are {', '.join(texts)}" if texts else ""
        raise InvalidSentence(
            f"the task has no text field '{field}'{found}; --text-field says which to take"
        )
    findings.remark(f"the text of tasks is taken from the field '{texts[0]}'")
    return string(data, texts[0])


def _full_form(task: dict[str, Any], text: str, name: str, findings: Findings) -> _Found:
    annotations = [found for field in _ANNOTATIONS for found in items(task, field)]
    valid = [found for found in annotations if not found.get("was_cancelled")]
    for _ in range(len(annotations) - len(valid)):
        findings.lose("cancelled annotation left out", name, "was_cancelled is true")
    predictions = items(task, "predictions")
    chosen, kind = (valid, "annotation") if valid else (predictions, "prediction")
    if len(chosen) > 1:
        findings.lose(f"further {kind} of a task left out", name, f"{len(chosen) - 1} of them")
    if valid and predictions:
        findings.remark("predictions are left out of tasks that people annotated")
    if not chosen:
        return [], []
    regions = _regions(chosen[0], name, findings)
    if kind == "annotation":
        return _labels(regions, text, name, findings, source=None, score=None)
    score = chosen[0].get("score")
    return _labels(regions, text, name, findings, source=PREDICTION, score=score)


def _regions(annotation: dict[str, Any], name: str, findings: Findings) -> list[dict[str, Any]]:
    regions = []
    target = None
    for result in items(annotation, "result"):
        if result.get("type", "labels") != "labels":
            findings.lose("result that labels no text left out", name, f"type {result['type']!r}")
            continue
        target = target or result.get("to_name")
        if result.get("to_name") != target:
            detail = f"{result.get('to_name')!r}, not {target!r}"
            findings.lose("label on another text of the task left out", name, detail)
            continue
        value = result.get("value")
        if not isinstance(value, dict):
            raise InvalidSentence(f"a result has the value {value!r:.80}, not start, end, labels")
        regions.append(value if "score" not in result else {**value, "score": result["score"]})
    return regions


def _is_regions(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(item, dict) and {"start", "end", "labels"} <= set(item) for item in value
        )
    )


def _short_form(task: dict[str, Any], text: str, name: str, findings: Findings) -> _Found:
    fields = [field for field, value in task.items() if _is_regions(value)]
    for field in fields[1:]:
        findings.lose("label on another text of the task left out", name, f"field {field!r}")
    regions = task[fields[0]] if fields else []
    return _labels(regions, text, name, findings, source=None, score=None)


def _labels(
    regions: list[dict[str, Any]],
    text: str,
    name: str,
    findings: Findings,
    *,
    source: str | None,
    score: Any,
) -> _Found:
    entities, ambiguous = [], []
    for region in regions:
        labels = region.get("labels")
        if (
            not isinstance(labels, list)
            or not labels
            or not all(isinstance(label, str) and label for label in labels)
        ):
            raise InvalidSentence(f'a region has the labels {labels!r:.80}; right is ["PER"]')
        start, end = _offsets(region, text, name, findings)
        if len(set(labels)) > 1:
            ambiguous.append(Ambiguity(start, end, tuple(dict.fromkeys(labels)), source))
            continue
        sure = _score(region.get("score", score), name, findings)
        entities.append(Entity(start, end, labels[0], source, sure))
    return entities, ambiguous


def _score(score: Any, name: str, findings: Findings) -> float | None:
    if score is None:
        return None
    if isinstance(score, int | float) and 0 <= score <= 1:
        return float(score)
    findings.lose("score that is no number from 0 to 1 left out", name, f"{score!r}")
    return None


def _offsets(region: dict[str, Any], text: str, name: str, findings: Findings) -> Span:
    start, end = whole_number(region, "start"), whole_number(region, "end")
    quote = region.get("text")
    if not isinstance(quote, str) or text[max(start, 0) : max(end, 0)].strip() == quote.strip():
        return start, end
    units = text.encode("utf-16-le", "surrogatepass")
    if 0 <= start < end and 2 * end <= len(units):
        before, inside = units[: 2 * start], units[2 * start : 2 * end]
        if inside.decode("utf-16-le", "replace").strip() == quote.strip():
            first = len(before.decode("utf-16-le", "replace"))
            findings.remark("offsets that count UTF-16 units were mended (emoji in the text)")
            return first, first + len(inside.decode("utf-16-le", "replace"))
    findings.lose(
        "label whose quoted text is not the text at its offsets; the offsets count",
        name,
        f"{quote!r}, at {start} to {end} stands {text[max(start, 0) : max(end, 0)]!r}",
    )
    return start, end


def write(
    sentences: Iterable[Sentence], path: Path, options: WriteOptions, findings: Findings
) -> None:
    """Writes a task a document, or a task a sentence that belongs to none."""
    told = reported(sentences, "label-studio", findings, kept=frozenset({"ambiguous", "score"}))
    with open(path, "wb") as file:
        file.write(b"[")
        for number, marked in enumerate(marked_texts(told, findings)):
            file.write(b",\n" if number else b"\n")
            file.write(orjson.dumps(_task(marked, findings)))
        file.write(b"\n]\n")


def _task(marked: MarkedText, findings: Findings) -> dict[str, Any]:
    task: dict[str, Any] = {"data": {**own_fields(marked), "text": marked.text}}
    results = []
    known: list[Entity | Ambiguity] = [*marked.entities, *marked.ambiguous]
    for number, label in enumerate(known, start=1):
        labels = (label.label,) if isinstance(label, Entity) else label.labels
        if not labels:
            quote = marked.text[label.start : label.end]
            findings.lose("ambiguity without labels left out", marked.name, f"'{quote}'")
            continue
        results.append(_result(number, label, labels, marked.text))
    by_people = all(
        label.source is None and (isinstance(label, Ambiguity) or label.score is None)
        for label in known
    )
    if by_people and (results or marked.complete):
        task["annotations"] = [{"result": results}]
    elif not by_people:
        findings.remark("texts with labels that come from no person are written as predictions")
        task["predictions"] = [{"model_version": "lacuner", "result": results}]
    else:
        task["annotations"] = []
    return task


def _result(
    number: int, label: Entity | Ambiguity, labels: tuple[str, ...], text: str
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "id": str(number),
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": {
            "start": label.start,
            "end": label.end,
            "text": text[label.start : label.end],
            "labels": labels,
        },
    }
    if isinstance(label, Entity) and label.score is not None:
        result["score"] = label.score
    return result


LABEL_STUDIO = Format(
    name="label-studio",
    title="Label Studio's JSON of tasks, or JSON-MIN",
    suffixes=(".label-studio.json",),
    recognise=recognise,
    read=read,
    write=write,
)
