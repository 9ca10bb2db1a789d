"""The likelihood of everything that the labels do not contradict (Tsuboi 2008, Yang 2018).

A word without a label may have any tag, one of an ambiguous span several, a known one its own: the
loss is the log-sum of the scores of all rows of tags minus that of the rows that agree with the
labels. Where nothing says O, no row has to have one, and a model that calls every word an entity
loses nothing: the objective needs negatives that somebody vouches for.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from lacuner.errors import UsageError
from lacuner.models.allowed_tags import allowed_if_entity, allowed_tags
from lacuner.models.batch import Batch, Output
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.loss import Loss

_SURE = 1e-4  # keeps the gradient finite when the model is sure of an entity that was rejected


class PartialCrfLikelihood:
    """Negative log-likelihood of all rows of tags that agree with the labels.

    A rejected span adds -log(1 - p), p being the probability, given everything else that is known,
    that the span is an entity. For one such span in a sentence that is exact; several count as
    independent of each other.

    Args:
        model: The tagger, for its tags and its CRF.
        beliefs: For what the model says of a batch, logarithms of how probable each tag of each
            word is to somebody else [batch, words, tags]; rows that agree then count by the product
            of their tags' probabilities, q in Jie 2019. None takes all rows for equally probable.

    Raises:
        UsageError: The tagger has no CRF, or a scheme that does not say where entities begin.
    """

    def __init__(
        self, model: TokenTagger, *, beliefs: Callable[[Output, Batch], Tensor] | None = None
    ) -> None:
        if model.crf is None:
            raise UsageError("The likelihood of partial labels needs a tagger with the head crf.")
        if model.tag_set.scheme == "io":
            raise UsageError(
                "The likelihood of partial labels needs the scheme bioes or bio: io does not say "
                "where an entity begins."
            )
        self.crf = model.crf
        self.tag_set = model.tag_set
        self.beliefs = beliefs

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss, by sentence; its parts are those of the sets of tags and of rejected spans."""
        allowed = allowed_tags(batch, self.tag_set)
        told = output.scores
        if self.beliefs is not None:
            told = told + self.beliefs(output, batch)
        rows = batch.rejected[:, 0]
        # All sums in one walk over the words, which costs little more than a single one.
        sums = self.crf.log_partition(
            torch.cat([output.scores, told, told[rows]]),
            torch.cat([output.mask, output.mask, output.mask[rows]]),
            torch.cat(
                [
                    torch.ones_like(allowed),
                    allowed,
                    allowed_if_entity(allowed, batch.rejected, self.tag_set),
                ]
            ),
        )
        sentences = len(batch)
        every, agreeing = sums[:sentences], sums[sentences : 2 * sentences]
        likelihood = (every - agreeing).sum() / sentences
        entity = (sums[2 * sentences :] - agreeing[rows]).exp()  # p, for each rejected span
        rejection = -torch.log1p(-entity.clamp(max=1.0) / (1 + _SURE)).sum() / sentences
        parts = {"likelihood": float(likelihood.detach())}
        if len(rows):
            parts["rejected"] = float(rejection.detach())
        return Loss(likelihood + rejection, parts)
