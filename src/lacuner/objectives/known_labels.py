"""What somebody vouches for, in the shape of a model's output: no prediction overrules it."""

from __future__ import annotations

from torch import Tensor

from lacuner.models import Model
from lacuner.models.batch import Batch, Output
from lacuner.models.span_roles import span_roles
from lacuner.models.targets import tag_targets
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.generalized_cross_entropy import vouched_words


def known_classes(model: Model, output: Output, batch: Batch) -> tuple[Tensor, Tensor]:
    """The classes of places, and which of them are known for sure.

    Sure are all labels of complete sentences, and what is known to be no entity: words that lie
    outside, spans that hold such a word or were rejected.

    Returns:
        Numbers and "known", of words [batch, words] or spans [batch, words, widths].
    """
    if isinstance(model, TokenTagger):
        targets, settled = tag_targets(batch, model.tag_set)
        return targets, settled & vouched_words(batch, targets)
    roles = span_roles(output, batch)
    return roles.targets, roles.trusted | (roles.annotated & batch.complete[:, None, None])
