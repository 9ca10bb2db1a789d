"""Cross-entropy on all labels, where a missing label means "no entity".

On complete labels this is supervised learning. On labels with gaps it is the floor that every
robust method has to beat: it teaches that unlabelled entities are none.

All objectives here are sums over spans, words or sentences, divided by the number of sentences of
the batch: a long sentence weighs more than a short one, a batch no more than its sentences.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.crf import LinearChainCrf
from lacuner.models.targets import span_targets, tag_targets
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.loss import Loss


class SpanCrossEntropy:
    """Cross-entropy over all spans of a span classifier's band.

    Spans whose label is ambiguous, and entities wider than the band, are left out.
    """

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss; its parts are those of entities and of everything else."""
        targets, settled = span_targets(output, batch)
        return cross_entropy(output.scores, targets, settled)


class TagCrossEntropy:
    """Cross-entropy over all words of a tagger without CRF.

    Words of ambiguous spans are left out.

    Args:
        model: The tagger, for its tags.
    """

    def __init__(self, model: TokenTagger) -> None:
        self.tag_set = model.tag_set

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss; its parts are those of words of entities and of all other words."""
        targets, settled = tag_targets(batch, self.tag_set)
        return cross_entropy(output.scores, targets, settled)


class CrfLikelihood:
    """Negative log-likelihood of the rows of tags under a CRF.

    Words of ambiguous spans may have any tag: the likelihood is that of all rows which agree
    with the other words.

    Args:
        model: The tagger, for its tags and its CRF.

    Raises:
        UsageError: It has no CRF.
    """

    def __init__(self, model: TokenTagger) -> None:
        if model.crf is None:
            raise UsageError("The likelihood of a CRF needs a tagger with the head crf.")
        self.crf = model.crf
        self.tag_set = model.tag_set

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss, in one piece."""
        targets, settled = tag_targets(batch, self.tag_set)
        return crf_likelihood(self.crf, output, targets, settled if len(batch.ambiguous) else None)


def crf_likelihood(
    crf: LinearChainCrf,
    output: Output,
    targets: Tensor,
    settled: Tensor | None = None,
    removed: Tensor | None = None,
) -> Loss:
    """Negative log-likelihood of rows of tags, by sentence.

    Args:
        crf: The CRF.
        output: What the tagger says.
        targets: Tags.  # [batch, words]
        settled: Words that have their tag for sure, all others may have any; None settles all, and
            is faster.  # [batch, words]
        removed: Words that are left out of all scores; None removes none.  # [batch, words]
    """
    scores, mask = output.scores, output.mask
    if settled is None:
        agreeing = crf.score(scores, targets, mask, removed=removed)
    else:
        told = functional.one_hot(targets, scores.shape[-1]).bool()
        agreeing = crf.log_partition(scores, mask, told | ~settled[:, :, None], removed=removed)
    every = crf.log_partition(scores, mask, removed=removed)
    return Loss((every - agreeing).sum() / max(1, len(targets)))


def cross_entropy(scores: Tensor, targets: Tensor, settled: Tensor) -> Loss:
    """Cross-entropy of what is settled, by sentence.

    Args:
        scores: Logits.  # [batch, …, classes]
        targets: Classes.  # [batch, …]
        settled: What counts.  # [batch, …]
    """
    losses = functional.cross_entropy(
        scores.flatten(0, -2), targets.flatten(), reduction="none"
    )  # [places]
    losses = losses * settled.flatten()
    sentences = max(1, len(targets))
    total = losses.sum() / sentences
    entities = float((losses.detach() * (targets.flatten() > 0)).sum()) / sentences
    return Loss(total, {"entities": entities, "rest": float(total.detach()) - entities})
