"""A tag for every word: by itself, by a CRF over the sentence, or in two parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from lacuner.corpus.tag_set import TagSet
from lacuner.encoders.contract import Encoder
from lacuner.errors import UsageError
from lacuner.models.angle import AngleHead
from lacuner.models.batch import Batch, Output
from lacuner.models.crf import LinearChainCrf
from lacuner.models.label_numbers import number_labels
from lacuner.models.precision import encoded
from lacuner.models.word_dropout import DROPOUT, word_dropout
from lacuner.suggestions import unknown_name


class TwoPartHead(nn.Module):
    """Entity or not, and which type: the head of RoSTER, for IO tags.

    P(O) = 1 - P(entity) and P(I-type) = P(entity) · P(type | entity). The scores are logarithms
    of these, so that softmax leaves them as they are. Both parts can be had back from them:
    see `two_parts`.

    Args:
        width: Length of a word's vector.
        tags: How many tags there are: O and one a label.
    """

    def __init__(self, width: int, tags: int) -> None:
        super().__init__()
        self.entity = nn.Linear(width, 1)
        self.label = nn.Linear(width, tags - 1)

    def forward(self, words: Tensor) -> Tensor:
        """Log-probabilities of the tags.  # [batch, words, tags]"""
        entity = self.entity(words)  # [batch, words, 1]
        labels = functional.log_softmax(self.label(words), -1)  # [batch, words, labels]
        return torch.cat(
            [functional.logsigmoid(-entity), functional.logsigmoid(entity) + labels], -1
        )


def two_parts(scores: Tensor) -> tuple[Tensor, Tensor]:
    """The parts that scores of IO tags are made of.

    Args:
        scores: Scores of O and of one tag a label.  # [..., 1 + labels]

    Returns:
        The logit of "is in an entity" [...], and log-probabilities of labels if it is
        [..., labels].
    """
    return (
        torch.logsumexp(scores[..., 1:], -1) - scores[..., 0],
        functional.log_softmax(scores[..., 1:], -1),
    )


HEADS = ("softmax", "crf", "two_part")
NON = "NON"  # the type of spans that are none, with more letters where a label has that name


class TokenTagger(nn.Module):
    """Scores the tags of every word.

    Args:
        encoder: Words to vectors.
        labels: The labels, in the order of their numbers from 1.
        scheme: `bio`, `bioes` or `io`.
        head: `softmax` scores each word by itself, `crf` adds scores of neighbouring tags,
            `two_part` is RoSTER's head and needs the scheme `io`.
        dropout: Share of the words' vectors that is set to zero in training.
        angle: Scores of words sum to zero and can be compared between words; see `models.angle`.
        non_entities: Besides O there are tags for spans that are no entity: those of a last type,
            which is not among the labels.

    Attributes:
        encoder: As given.
        labels: As given.
        label_numbers: The number of each label.
        tag_set: The tags, their numbers and their order.
        crf: The scores of neighbouring tags; None for other heads.
        silent: How many tags, the last ones, say "no entity" as O does.

    Raises:
        UsageError: No label, a label given twice, an unknown scheme or head, or a scheme or an
            angle that does not fit the head, dropout outside of [0, 1).
    """

    def __init__(
        self,
        encoder: Encoder,
        labels: Sequence[str],
        *,
        scheme: str = "bio",
        head: str = "softmax",
        dropout: float = DROPOUT,
        angle: bool = False,
        non_entities: bool = False,
    ) -> None:
        super().__init__()
        if head not in HEADS:
            raise UsageError(unknown_name("head of a tagger", head, HEADS))
        if head == "two_part" and scheme != "io":
            raise UsageError(f"The head two_part needs the scheme io, not {scheme}.")
        if head == "two_part" and (angle or non_entities):
            raise UsageError("The head two_part has neither angles nor a type of non-entities.")
        self.encoder: Encoder = encoder
        self.labels = tuple(labels)
        self.label_numbers = number_labels(self.labels)
        types = (*self.labels, _unlike(self.labels)) if non_entities else self.labels
        self.tag_set = TagSet(types, scheme)
        self.silent = self.tag_set.places if non_entities else 0
        self.head_kind, self.angle = head, angle
        self.dropout = word_dropout(dropout)
        kind = TwoPartHead if head == "two_part" else AngleHead if angle else nn.Linear
        self.head: nn.Module = kind(encoder.width, len(self.tag_set))
        self.crf = LinearChainCrf(self.tag_set) if head == "crf" else None

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags in the order of their scores."""
        return self.tag_set.tags

    def forward(self, batch: Batch) -> Output:
        """Scores of the tags of all words.  # [batch, words, tags]"""
        hidden = encoded(self.encoder, batch.inputs)  # [batch, words, width]
        return Output(hidden, self.head(self.dropout(hidden)), batch.words)

    def description(self) -> dict[str, Any]:
        """What `build_model` needs besides encoder and labels to build it again; fit for JSON."""
        special = {"angle": self.angle, "non_entities": self.silent > 0}
        return {
            "kind": "token_tagger",
            "scheme": self.tag_set.scheme,
            "head": self.head_kind,
            "dropout": self.dropout.p,
            **{name: True for name, has in special.items() if has},
        }


def _unlike(labels: Sequence[str]) -> str:
    name = NON
    while name in labels:
        name += "_"
    return name
