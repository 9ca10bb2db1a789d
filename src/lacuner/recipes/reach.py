"""What labels a model can neither learn nor find, so that a run can say so at its beginning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Corpus, Entity, Sentence
from lacuner.corpus.tagging import without_overlap
from lacuner.models import Model
from lacuner.models.tie_or_break import TieOrBreak
from lacuner.models.token_tagger import TokenTagger


def out_of_reach(model: Model, corpus: Corpus, dev: Corpus | None) -> Findings:
    """Labels that are too wide for scores of spans, that overlap where none may, or are unknown."""
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
    if not isinstance(model, TokenTagger):
        for entity in known:
            if entity.end - entity.start > model.max_width:
                yield entity, f"wider than {model.max_width} words (model.max_width)"
    if isinstance(model, TokenTagger | TieOrBreak):
        kept, overlapping = without_overlap(known)
        for entity, _ in overlapping:
            yield entity, "as they overlap longer ones"
        if isinstance(model, TokenTagger) and model.tag_set.scheme == "io":
            for entity in _merged(kept):
                yield entity, "as they touch one of the same label, and IO tags merge the two"


def _merged(entities: Sequence[Entity]) -> list[Entity]:
    """Entities that stand right beside one of the same label."""
    ends = {(entity.end, entity.label) for entity in entities}
    starts = {(entity.start, entity.label) for entity in entities}
    return [
        entity
        for entity in entities
        if (entity.start, entity.label) in ends or (entity.end, entity.label) in starts
    ]
