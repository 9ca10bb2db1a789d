"""Scores of all spans up to some width, from the vectors of the words.

Spans lie in a band [batch, start, width]: linear in the length of a sentence. The first layer of
every head is factored: a word is projected once as a start and once as an end, and the two
projections are added along the band. That is the same function as a layer over concatenated
vectors of start and end, for a fraction of the work.

Dropout falls on the vectors of the words, not on spans: a mask over the band would cost more than
the rest of the head.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

Scored = tuple[Tensor, Tensor | None]


def ends_along_band(words: Tensor, widths: int) -> list[Tensor]:
    """What stands `k` words to the right of each word, for every width `k` from 0.

    Args:
        words: Vectors of words.  # [batch, words, features]
        widths: How many widths the band has.

    Returns:
        A view a width, zero where the sentence is over.  # widths × [batch, words, features]
    """
    count = words.shape[1]
    padded = functional.pad(words, (0, 0, 0, max(0, widths - 1)))
    return [padded[:, width : width + count] for width in range(widths)]


def sum_along_band(starts: Tensor, ends: Tensor, widths: int) -> Tensor:
    """Adds what a span's first word says and what its last word says.

    Args:
        starts: What words say as first words.  # [batch, words, features]
        ends: What words say as last words.  # [batch, words, features]
        widths: How many widths the band has.

    Returns:
        The sums; meaningless where a span leaves its sentence.  # [batch, words, widths, features]
    """
    return torch.stack([starts + end for end in ends_along_band(ends, widths)], 2)


def band_mask(lengths: Tensor, words: int, widths: int) -> Tensor:
    """Which places of the band hold a span of the sentence.  # [batch, words, widths]"""
    starts = torch.arange(words, device=lengths.device)
    steps = torch.arange(widths, device=lengths.device)
    return starts[None, :, None] + steps < lengths[:, None, None]


class EndpointHead(nn.Module):
    """Start, end and an embedding of the width through two layers, as in PURE and NRCES.

    The features that it returns are those of the hidden layer.

    Args:
        width: Length of a word's vector.
        classes: How many scores a span has.
        max_width: How many words a span has at most.
        hidden: Size of the hidden layer.
    """

    def __init__(self, width: int, classes: int, max_width: int, hidden: int) -> None:
        super().__init__()
        self.start = nn.Linear(width, hidden)
        self.end = nn.Linear(width, hidden, bias=False)
        # An embedding followed by its part of the first layer is an embedding of that size.
        self.span_width = nn.Parameter(torch.zeros(max_width, hidden))
        self.classify = nn.Linear(hidden, classes)
        nn.init.normal_(self.span_width, std=0.02)

    def forward(self, words: Tensor, widths: int) -> Scored:
        """Scores and features of all spans.

        Args:
            words: Vectors of words.  # [batch, words, width]
            widths: How many widths the band has, at most `max_width`.

        Returns:
            [batch, words, widths, classes] and [batch, words, widths, hidden].
        """
        summed = sum_along_band(self.start(words), self.end(words), widths)
        # In place: a band is large enough that every copy of it shows.
        features = summed.add_(self.span_width[:widths]).relu_()
        return self.classify(features), features


class InteractionHead(nn.Module):
    """V tanh(W [hᵢ; hⱼ; hᵢ - hⱼ; hᵢ ⊙ hⱼ]), as in negative sampling and SCL-RAI.

    With W in four blocks, W s = (W₁ + W₃) hᵢ + (W₂ - W₃) hⱼ + W₄ (hᵢ ⊙ hⱼ): the block of the
    difference adds nothing to the other two, so it is not kept. Only the product needs work for
    every span. The features that it returns are tanh(W s).

    Args:
        width: Length of a word's vector.
        classes: How many scores a span has.
        max_width: How many words a span has at most; this head does not depend on it.
        hidden: Size of tanh(W s).
    """

    def __init__(self, width: int, classes: int, max_width: int, hidden: int) -> None:
        super().__init__()
        self.start = nn.Linear(width, hidden)
        self.end = nn.Linear(width, hidden, bias=False)
        self.product = nn.Linear(width, hidden, bias=False)
        self.classify = nn.Linear(hidden, classes)

    def forward(self, words: Tensor, widths: int) -> Scored:
        """Scores and features of all spans; shapes as in `EndpointHead.forward`."""
        summed = sum_along_band(self.start(words), self.end(words), widths)
        products = torch.stack([words * end for end in ends_along_band(words, widths)], 2)
        features = summed.add_(self.product(products)).tanh_()
        return self.classify(features), features


class BiaffineHead(nn.Module):
    """sᵢᵀ U eⱼ + linear terms, on projections of start and end (Yu 2020).

    It has no hidden layer of spans, so it returns no features.

    Args:
        width: Length of a word's vector.
        classes: How many scores a span has.
        max_width: How many words a span has at most; this head does not depend on it.
        hidden: Size of the two projections.
    """

    def __init__(self, width: int, classes: int, max_width: int, hidden: int) -> None:
        super().__init__()
        self.classes = classes
        self.start = nn.Linear(width, hidden)
        self.end = nn.Linear(width, hidden)
        self.form = nn.Linear(hidden, classes * hidden, bias=False)
        self.start_term = nn.Linear(hidden, classes)
        self.end_term = nn.Linear(hidden, classes, bias=False)

    def forward(self, words: Tensor, widths: int) -> Scored:
        """Scores of all spans, [batch, words, widths, classes], and no features."""
        starts = functional.relu(self.start(words))  # [batch, words, hidden]
        ends = functional.relu(self.end(words))  # [batch, words, hidden]
        forms = self.form(starts).unflatten(-1, (self.classes, -1))  # [batch, words, classes, hid.]
        windows = torch.stack(ends_along_band(ends, widths), 2)  # [batch, words, widths, hidden]
        bilinear = windows @ forms.transpose(-1, -2)  # [batch, words, widths, classes]
        return bilinear + sum_along_band(self.start_term(starts), self.end_term(ends), widths), None


SPAN_FEATURES: dict[str, type[EndpointHead] | type[InteractionHead] | type[BiaffineHead]] = {
    "endpoints": EndpointHead,
    "interaction": InteractionHead,
    "biaffine": BiaffineHead,
}
