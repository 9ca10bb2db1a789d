"""What labels a model can neither learn nor find, so that a run can say so at its beginning."""

from __future__ import annotations

from collections.abc import Iterator

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Corpus, Entity, Sentence
from lacuner.corpus.tagging import without_overlap
from lacuner.models import Model
from lacuner.models.span_classifier import SpanClassifier


def out_of_reach(model: Model, corpus: Corpus, dev: Corpus | None) -> Findings:
    """Labels that are too wide for a span classifier, that overlap in a tagger, or are unknown."""
    findings = Findings()
    for where, sentences in (("train", corpus), ("dev", dev or ())):
        for sentence in sentences:
            for entity, why in _out_of_reach(model, sentence):
                detail = f"'{sentence.surface(*entity.span)}' ({entity.label})"
                kind = f"labels of {where} that the model cannot find, {why}"
                findings.lose(kind, sentence.id, detail)
    return findings


def _out_of_reach(model: Model, sentence: Sentence) -> Iterator[tuple[Entity, str]]:
    known = []
    for entity in sentence.entities:
        if entity.label in model.label_numbers:
            known.append(entity)
        else:
            yield entity, "as training has no such label"
    if isinstance(model, SpanClassifier):
        for entity in known:
            if entity.end - entity.start > model.max_width:
                yield entity, f"wider than {model.max_width} words (model.max_width)"
    else:
        for entity, _ in without_overlap(known)[1]:
            yield entity, "as they overlap longer ones"
