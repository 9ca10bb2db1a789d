"""Ties and breaks to entities: chunks first, then their labels (AutoNER)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.corpus.sentence import Entity
from lacuner.errors import LacunerError
from lacuner.models.batch import Output
from lacuner.models.chunk_targets import scores_of_chunks


def decode_chunks(
    output: Output,
    labels: Sequence[str],
    *,
    thresholds: Mapping[str, float] | None = None,
    temperature: float = 1.0,
    source: str | None = None,
) -> list[list[Entity]]:
    """The entities that a model of ties and breaks finds.

    Gaps that are more probably breaks cut the sentence into chunks; each takes its most probable
    type. The score of an entity is the probability of all its gaps, outer and inner, times that of
    its label.

    Args:
        output: What the model says of a batch.
        labels: The labels, in the order of their numbers from 1.
        thresholds: The least score of an entity, by label.
        temperature: What scores are divided by first.
        source: What the entities shall name as their source.

    Returns:
        The entities of each sentence, in the order of their places.
    """
    chunks, chances = _chunks(output, temperature)
    fits, types = scores_of_chunks(output, chunks.to(output.scores.device))
    chunks, chances = chunks[fits.cpu()], chances[fits.cpu()]
    best, number = torch.softmax(types.detach().cpu().double() / temperature, -1).max(-1)
    least = thresholds or {}
    found: list[list[Entity]] = [[] for _ in range(len(output.scores))]
    for (sentence, start, end), label, score in zip(
        chunks.tolist(), number.tolist(), (chances * best).tolist(), strict=True
    ):
        if label and score >= least.get(labels[label - 1], 0.0):
            found[sentence].append(Entity(start, end, labels[label - 1], source, min(score, 1.0)))
    return found


def _chunks(output: Output, temperature: float) -> tuple[Tensor, Tensor]:
    """Sentence, start and end of all chunks [chunks, 3], and how probable they are [chunks]."""
    if output.gaps is None:
        raise LacunerError("Chunks can be found only by a model that scores gaps.")
    words = output.mask[:, :, 0].cpu()  # [batch, words]
    gaps = output.gaps.detach().cpu().double() / temperature  # [batch, words - 1]
    inner = words[:, 1:]  # gaps between two words
    # A break before the first word and behind the last is certain.
    before = functional.pad((gaps > 0) | ~inner, (1, 0), value=True)  # [batch, words]
    behind = functional.pad((gaps > 0) | ~inner, (0, 1), value=True)
    starts, ends = (before & words).nonzero(), (behind & words).nonzero()  # in the same order
    chunks = torch.cat([starts, ends[:, 1:] + 1], 1)

    tie = functional.pad(functional.logsigmoid(-gaps).masked_fill(~inner, 0.0).cumsum(1), (1, 0))
    log_break = functional.pad(functional.logsigmoid(gaps).masked_fill(~inner, 0.0), (1, 1))
    sentence, start, end = chunks.unbind(1)
    tied = tie[sentence, end - 1] - tie[sentence, start]
    return chunks, (tied + log_break[sentence, start] + log_break[sentence, end]).exp()
