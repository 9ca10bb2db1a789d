"""Scores to entities: what a model says of a batch, as labels with a probability.

Scores are compared by tensor operations over the whole batch; only spans that a model takes for
entities are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from lacuner.corpus.sentence import Entity
from lacuner.corpus.tag_set import TagSet
from lacuner.corpus.tagging import decode_tags as entities_of_tags
from lacuner.inference.decode_chunks import decode_chunks
from lacuner.models import Model
from lacuner.models.batch import Output
from lacuner.models.crf import LinearChainCrf
from lacuner.models.distribution import shifted, silent_classes
from lacuner.models.question_pointers import QuestionPointers
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.tie_or_break import TieOrBreak

RANKINGS = ("probability", "score")
_Span = tuple[int, int, str]


def decode(
    model: Model,
    output: Output,
    *,
    thresholds: Mapping[str, float] | None = None,
    temperature: float = 1.0,
    nested: bool = False,
    source: str | None = None,
    offset: float = 0.0,
    ranking: str = RANKINGS[0],
) -> list[list[Entity]]:
    """The entities that a model finds, whichever kind it is.

    Args:
        model: The model that `output` comes from.
        output: What it says of a batch.
        thresholds: The least score of an entity, by label.
        temperature: What scores are divided by first.
        nested: Keep entities inside others; tags and chunks cannot express them.
        source: What the entities shall name as their source.
        offset: Taken off the scores of "no entity" before anything else: more finds more.
        ranking: By what spans compete that overlap.

    Returns:
        The entities of each sentence; see `decode_spans`, `decode_tags` and `decode_chunks`.
    """
    if offset:
        output = shifted(output, offset, silent=silent_classes(model))
    if isinstance(model, TieOrBreak):
        return decode_chunks(
            output, model.labels, thresholds=thresholds, temperature=temperature, source=source
        )
    if isinstance(model, SpanClassifier | QuestionPointers):
        return decode_spans(
            output,
            model.labels,
            nested=nested,
            thresholds=thresholds,
            temperature=temperature,
            source=source,
            ranking=ranking,
        )
    found = decode_tags(
        output,
        model.tag_set,
        crf=model.crf,
        thresholds=thresholds,
        temperature=temperature,
        source=source,
    )
    if not model.silent:
        return found
    return [[entity for entity in one if entity.label in model.label_numbers] for one in found]


def decode_spans(
    output: Output,
    labels: Sequence[str],
    *,
    nested: bool = False,
    thresholds: Mapping[str, float] | None = None,
    temperature: float = 1.0,
    source: str | None = None,
    ranking: str = RANKINGS[0],
) -> list[list[Entity]]:
    """The entities that a span classifier finds.

    Each span takes its most probable label. Those that are entities compete, the most probable
    first (of equals the earlier, then the shorter), and a span that overlaps one already taken is
    dropped. The score of an entity is the probability of its label.

    Args:
        output: What the model says of a batch.
        labels: The labels, in the order of their numbers from 1.
        nested: Keep spans that lie within one another, and drop only those that cross, that is
            overlap without one holding the other.
        thresholds: The least probability of an entity, by label. A span below it is no entity,
            and keeps nothing else from being one.
        temperature: What scores are divided by first (see `calibration.fit_temperature`).
        source: What the entities shall name as their source.
        ranking: Spans compete by the `probability` of their label, or by its raw `score`.

    Returns:
        The entities of each sentence, in the order of their places.
    """
    # In double precision sure spans keep their order instead of all having probability 1.
    scores = output.scores.detach().cpu().double() / temperature
    best, number = torch.softmax(scores, -1).max(-1)  # [batch, words, widths]
    least = _least(labels, thresholds)[number]
    found = output.mask.cpu() & (number > 0) & (best >= least)
    rows = found.nonzero()  # [candidates, 3]
    best, number = best[found], number[found]
    raw = scores[found].gather(1, number[:, None])[:, 0]  # [candidates]
    rank = raw if ranking == "score" else best
    order = rank.sort(descending=True, stable=True).indices
    words = output.mask.shape[1]
    chosen: list[list[Entity]] = [[] for _ in range(len(scores))]
    taken = [bytearray(words) for _ in chosen]
    for (sentence, start, width), label, score in zip(
        rows[order].tolist(), number[order].tolist(), best[order].tolist(), strict=True
    ):
        end = start + width + 1
        if nested:
            if any(_cross(start, end, other) for other in chosen[sentence]):
                continue
        elif any(taken[sentence][start:end]):
            continue
        taken[sentence][start:end] = b"\x01" * (end - start)
        chosen[sentence].append(Entity(start, end, labels[label - 1], source, min(score, 1.0)))
    for entities in chosen:
        entities.sort(key=lambda entity: (entity.start, -entity.end))
    return chosen


def decode_tags(
    output: Output,
    tag_set: TagSet,
    *,
    crf: LinearChainCrf | None = None,
    thresholds: Mapping[str, float] | None = None,
    temperature: float = 1.0,
    source: str | None = None,
) -> list[list[Entity]]:
    """The entities that a tagger finds.

    Without a CRF each word takes its most probable tag, and rows that break the scheme are
    repaired: a stray inside or end tag begins an entity. The score of an entity is then the
    smallest probability of its words' tags, which no estimate that all of them are right can
    exceed; a product would call long entities unsure, since words of one entity are right or wrong
    together. With a CRF the best row is taken, and the score is the exact probability that the
    entity's words have their tags.

    Args:
        output: What the model says of a batch.
        tag_set: The tags of the model.
        crf: The CRF of the model, if it has one.
        thresholds: The least score of an entity, by label; entities below it are dropped.
        temperature: What scores are divided by first (see `calibration.fit_temperature`).
        source: What the entities shall name as their source.

    Returns:
        The entities of each sentence, in the order of their places.
    """
    scores = output.scores.detach()
    with torch.no_grad():
        if crf is None:
            sure, tags = torch.softmax(scores.cpu().double() / temperature, -1).max(-1)
            found = _tagged_spans(tags, output.mask.cpu(), tag_set)
            word_scores = sure.tolist()
            entity_scores = [
                min(word_scores[row][start:end])
                for row, spans in enumerate(found)
                for start, end, _ in spans
            ]
        else:
            tags, _ = crf.viterbi(scores, output.mask)
            found = _tagged_spans(tags, output.mask, tag_set)
            runs = torch.tensor(
                [(row, start, end) for row, spans in enumerate(found) for start, end, _ in spans],
                dtype=torch.long,
                device=scores.device,
            ).reshape(-1, 3)
            entity_scores = crf.run_probabilities(
                scores, tags, output.mask, runs, temperature=temperature
            ).tolist()
    least = thresholds or {}
    each = iter(entity_scores)
    scored = [[(span, min(next(each), 1.0)) for span in spans] for spans in found]
    return [
        [Entity(*span, source, score) for span, score in spans if score >= least.get(span[2], 0.0)]
        for spans in scored
    ]


def _least(labels: Sequence[str], thresholds: Mapping[str, float] | None) -> Tensor:
    """The least probability of each class; 0 where none is asked for.  # [1 + labels]"""
    least = thresholds or {}
    return torch.tensor([0.0, *(least.get(label, 0.0) for label in labels)], dtype=torch.double)


def _cross(start: int, end: int, other: Entity) -> bool:
    return start < other.start < end < other.end or other.start < start < other.end < end


def _tagged_spans(tags: Tensor, mask: Tensor, tag_set: TagSet) -> list[list[_Span]]:
    names = tag_set.tags
    lengths = mask.sum(1).tolist()
    some = ((tags > 0) & mask).any(1).tolist()
    return [
        entities_of_tags([names[tag] for tag in row[:length]], tag_set.scheme, repair=True).spans
        if has_entity
        else []
        for row, length, has_entity in zip(tags.tolist(), lengths, some, strict=True)
    ]
