"""The loss of two-step learning: removed words are left out, drawn spans are tagged NON.

IJSWIS 20(1), 2024, step 2, for taggers with and without CRF.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.targets import tag_targets
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.cross_entropy import crf_likelihood, cross_entropy
from lacuner.objectives.loss import Loss
from lacuner.objectives.non_entities import NonEntities

Removed = Callable[[Batch, Output], Tensor]
"""Which words of a batch are left out.  # [batch, words]"""


class TwoStepTagging:
    """Cross-entropy, or the likelihood of a CRF, of what is left of the labels.

    Spans are drawn whenever a sentence is seen, that is once an epoch. Words of ambiguous spans are
    left out, too; with a CRF they may have any tag.

    Args:
        model: The tagger. Unless the rate is 0 it must have tags of spans that are no entity.
        removed: Which words do not count.
        rate: γ: spans to draw, as a share of the words.
        max_width: Words of the widest span that is drawn; None draws any.

    Raises:
        UsageError: There are spans to draw, but no tags for them.
    """

    def __init__(
        self,
        model: TokenTagger,
        removed: Removed,
        *,
        rate: float,
        max_width: int | None = None,
    ) -> None:
        if rate and not model.silent:
            raise UsageError("A tagger without tags of non-entities cannot learn from drawn spans.")
        self.crf, self.tag_set, self.removed = model.crf, model.tag_set, removed
        self.non_entities = NonEntities(model.tag_set, rate=rate, max_width=max_width)

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The loss, by sentence; counts what was left out and drawn."""
        targets, settled = tag_targets(batch, self.tag_set)
        removed = self.removed(batch, output) & settled & (targets == 0)
        free = settled & ~removed & (targets == 0)
        targets, drawn = self.non_entities(targets, free, batch.lengths, rng)
        if self.crf is None:
            loss = cross_entropy(output.scores, targets, settled & ~removed)
        else:
            # Without anything removed it is the plain CRF, which is faster.
            loss = crf_likelihood(
                self.crf,
                output,
                targets,
                settled if len(batch.ambiguous) else None,
                removed if bool(removed.any()) else None,
            )
        return Loss(loss.total, loss.parts, {"removed": int(removed.sum()), "drawn": drawn})
