"""The risks of PU learning: what labelled words and all words together say about the unlabelled.

An unlabelled word may be anything. But all words are a mixture of entities, a share pi (the class
prior), and of others; and labelled words show what entities look like. So the cost of calling words
"no entity" is that over all words, less pi times that over entities, and needs no negatives.

Peng et al. 2019, "Distantly Supervised Named Entity Recognition using Positive-Unlabeled Learning",
one classifier a label; Zhou et al. 2022, "Distantly Supervised Named Entity Recognition via
Confidence-Based Multi-Class Positive and Unlabeled Learning", one for all. Both after Kiryo et al.
2017.

Means over entities are taken with a fixed weight, pi over the share of words that is labelled in
the corpus, and not over the entities of the batch: a batch without any would otherwise speak for a
prior of 0. Words that somebody vouches for learn by cross-entropy beside all that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.targets import tag_targets
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.generalized_cross_entropy import vouched_words
from lacuner.objectives.loss import Loss

THRESHOLD = 0.5  # tau of Zhou et al.

Confidence = Callable[[Batch, Output], Tensor]
"""How probably each word belongs to an entity.  # [batch, words]"""


@dataclass(frozen=True)
class Prior:
    """How many words belong to entities of a label, among those that nobody vouches for.

    Attributes:
        share: All of them, labelled or not: the class prior, pi.
        labelled: The labelled ones.

    Raises:
        UsageError: Not both are shares, or more words are labelled than there are.
    """

    share: float
    labelled: float

    def __post_init__(self) -> None:
        if not 0 <= self.labelled <= 1 or not 0 <= self.share <= 1:
            raise UsageError(f"A share is between 0 and 1; {self.share:g} is not.")
        if self.share < self.labelled * (1 - 1e-6):
            raise UsageError(
                f"A class prior of {self.share:.4g} is less than the share of words that is "
                f"labelled already ({self.labelled:.4g})."
            )

    @property
    def weight(self) -> float:
        """For how many words a labelled one stands."""
        return self.share / self.labelled if self.labelled else 0.0


class _Words:
    """The words of batches, sorted by what is known of them, and for how many others each stands.

    Args:
        model: A tagger, for its tags.
        priors: Of its labels, in their order.
    """

    def __init__(self, model: TokenTagger, priors: Sequence[Prior]) -> None:
        if model.tag_set.scheme != "io" or model.crf is not None:
            raise UsageError("PU learning decides on single words: it needs IO tags without a CRF.")
        if len(priors) != len(model.labels):
            raise UsageError(f"There are {len(priors)} priors for {len(model.labels)} labels.")
        self._tag_set = model.tag_set
        self._weights = torch.tensor([prior.weight for prior in priors])  # [labels]

    def sort(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """The tags of words, which are vouched for, and which are open; words of ambiguous spans
        are neither.  # [batch, words] each
        """
        targets, settled = tag_targets(batch, self._tag_set)
        vouched = settled & vouched_words(batch, targets)
        return targets, vouched, settled & ~vouched

    def labels(self, targets: Tensor) -> Tensor:
        """The labels of words, as zeros and ones.  # [batch, words, labels]"""
        return functional.one_hot(targets, len(self._tag_set))[..., 1:]

    def weights(self, targets: Tensor, words: Tensor) -> Tensor:
        """For how many words each labelled one stands, 0 elsewhere.  # [batch, words, labels]"""
        return self.labels(targets) * words[..., None] * self._weights.to(words.device)


class PositiveUnlabelledRisk:
    """The bounded, non-negative risk of a binary classifier a label (bnPU; Peng et al. 2019).

    The logit of a label's classifier is the tagger's score of the label less that of O, so that a
    word takes the label whose classifier is surest, if any says yes: the paper's inference.

    Args:
        model: A tagger with the scheme `io`, for its tags.
        priors: Of its labels, in their order.
        gamma: How much more labelled words count than their share: there are few of them.
        warmup: Epochs in which cross-entropy takes the place of the bounded loss within the risk.
            The gradient of the bounded one vanishes at words that a network is wrong about: one
            that knows nothing yet can end where all words are O, and stay there.

    Raises:
        UsageError: A value that none of these can have.
    """

    def __init__(
        self, model: TokenTagger, priors: Sequence[Prior], *, gamma: float, warmup: int = 0
    ) -> None:
        check_risk(gamma, warmup)
        self._words = _Words(model, priors)
        self.gamma, self.warmup = gamma, warmup

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The risk; its parts are those of entities, of all others, and of vouched words."""
        targets, vouched, words = self._words.sort(batch)
        logits = output.scores[..., 1:] - output.scores[..., :1]  # [batch, words, labels]
        # |y - f|, which is bounded (Peng, section 3), or cross-entropy
        loss = functional.softplus if batch.epoch < self.warmup else torch.sigmoid
        if_none, if_entity = loss(logits), loss(-logits)  # what "no entity" and "entity" cost
        weights = self._words.weights(targets, words)
        positive = (weights * if_entity).sum((0, 1))  # pi R+_p by label, times the words
        unlabelled = (words[..., None] * if_none).sum((0, 1))  # R-_u
        others = unlabelled - (weights * if_none).sum((0, 1))  # R-_u - pi R-_p
        negative = others.clamp(min=0)  # it is the cost of what is no entity, so never below 0
        known = functional.binary_cross_entropy_with_logits(
            logits[vouched],
            self._words.labels(targets)[vouched].to(logits),
            reduction="sum",
        )
        return _loss(self.gamma * positive.sum(), negative.sum(), known, batch)


class ConfidenceRisk:
    """The risk of one classifier of all labels, with confidences (Conf-MPU; Zhou et al. 2022).

    Words that hardly belong to an entity are negatives. Those that may are left out of the negative
    risk; labelled words like them stand in for the part of it that is missing, by one over their
    confidence.

    Args:
        model: A tagger with the scheme `io`, for its tags.
        priors: Of its labels, in their order.
        confidence: How probably each word belongs to an entity (lambda).
        gamma: How much more labelled words count than their share.
        warmup: Epochs in which cross-entropy takes the place of the bounded loss within the risk.
        threshold: Words with a higher confidence may belong to an entity (tau).

    Raises:
        UsageError: A value that none of these can have.
    """

    def __init__(
        self,
        model: TokenTagger,
        priors: Sequence[Prior],
        confidence: Confidence,
        *,
        gamma: float,
        warmup: int = 0,
        threshold: float = THRESHOLD,
    ) -> None:
        check_risk(gamma, warmup, threshold)
        self._words = _Words(model, priors)
        self.confidence, self.gamma = confidence, gamma
        self.warmup, self.threshold = warmup, threshold

    def __call__(self, output: Output, batch: Batch, rng: torch.Generator) -> Loss:
        """The risk; its parts are those of entities, of all others, and of vouched words."""
        targets, vouched, words = self._words.sort(batch)
        logs = functional.log_softmax(output.scores, -1)  # [batch, words, tags]
        # half of the sum of |y - f| over the tags, or cross-entropy
        losses = -logs if batch.epoch < self.warmup else 1 - logs.exp()
        if_none, if_entity = losses[..., 0], losses.gather(-1, targets[..., None])[..., 0]
        confidence = self.confidence(batch, output)  # [batch, words]
        likely = confidence > self.threshold
        weights = self._words.weights(targets, words).sum(-1)  # [batch, words]
        missing = torch.where(likely, if_none / confidence.clamp(min=self.threshold), 0.0)
        # sum of pi_i E_i[l(f, i) + 1(lambda > tau) l(f, 0) / lambda - l(f, 0)], never below 0
        positive = (weights * (if_entity + missing - if_none)).sum().clamp(min=0)
        negative = (if_none * (words & ~likely)).sum()  # E_u[1(lambda <= tau) l(f, 0)]
        known = functional.cross_entropy(output.scores[vouched], targets[vouched], reduction="sum")
        return _loss(self.gamma * positive, negative, known, batch)


def check_risk(gamma: float, warmup: int, threshold: float = THRESHOLD) -> None:
    """Refuses what no risk can be made with.

    Raises:
        UsageError: A value out of range.
    """
    if gamma <= 0 or warmup < 0:
        raise UsageError(
            f"gamma is {gamma:g} and warmup {warmup}; gamma must be above 0, warmup at least 0."
        )
    if not 0 < threshold < 1:
        raise UsageError(f"The threshold is {threshold:g}; it must lie between 0 and 1.")


def _loss(positive: Tensor, negative: Tensor, known: Tensor, batch: Batch) -> Loss:
    """The sum of the parts, by sentence."""
    parts = {"entities": positive, "rest": negative, "vouched": known}
    sentences = max(1, len(batch))
    return Loss(
        (positive + negative + known) / sentences,
        {name: float(part.detach()) / sentences for name, part in parts.items()},
    )
