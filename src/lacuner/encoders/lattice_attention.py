"""Attention over a flat lattice: characters and words as spans, told apart by four distances.

Li et al. 2020, "FLAT: Chinese NER Using Flat-Lattice Transformer"; the form of the attention is
that of Transformer-XL (Dai et al. 2019).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lacuner.encoders.lattice_scores import relative_scores


class LatticeAttention(nn.Module):
    """Attention of spans over spans.

    Args:
        width: Length of the vector of a span.
        heads: Heads of the attention; the width is a multiple of it.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.relative_key = nn.Linear(width, width)
        self.fuse = nn.Linear(4 * width, width)
        self.content_bias = nn.Parameter(torch.zeros(heads, 1, width // heads))
        self.place_bias = nn.Parameter(torch.zeros(heads, 1, width // heads))

    def forward(self, spans: Tensor, heads: Tensor, tails: Tensor, there: Tensor) -> Tensor:
        """What each span sees.

        Args:
            spans: Their vectors.  # [batch, spans, width]
            heads: Their first characters.  # [batch, spans]
            tails: Their last characters.  # [batch, spans]
            there: Which of them are no padding.  # [batch, spans]

        Returns:
            # [batch, spans, width]
        """
        batch, count, width = spans.shape
        query, key, value = (
            layer(spans).view(batch, count, self.heads, -1).permute(2, 0, 1, 3)
            for layer in (self.query, self.key, self.value)
        )  # [heads, batch, spans, width of a head]
        # eq. 11: (q + u)·k is about what a span holds, (q + v)·r about where it stands.
        scores = (query + self.content_bias[:, None]) @ key.transpose(2, 3)
        scores = scores + self._place_scores(query.flatten(1, 2), heads, tails)
        scores = scores.masked_fill(~there[:, None, :], torch.finfo(scores.dtype).min)
        seen: Tensor = scores.softmax(-1) @ value  # eq. 1  # [heads, batch, spans, …]
        return seen.permute(1, 2, 0, 3).reshape(batch, count, width)

    def _place_scores(self, query: Tensor, heads: Tensor, tails: Tensor) -> Tensor:
        """(q + v)·r of eq. 11.  # [heads, batch, spans, spans]"""
        lengths, kinds = torch.unique(tails - heads, return_inverse=True)  # [kinds], [batch, spans]
        reach = int(tails.max())  # the largest distance; all lie in [-reach, reach]
        keys = self._place_keys(lengths, reach)  # [kinds, heads, kinds * distances, …]
        distances = heads[:, :, None] - heads[:, None, :] + reach  # eq. 4  # [batch, spans, spans]
        columns = kinds[:, None, :] * (2 * reach + 1) + distances
        scores = relative_scores(
            query + self.place_bias, keys, kinds.flatten(), columns.flatten(0, 1)
        )
        return scores.view(len(scores), *distances.shape)

    def _place_keys(self, lengths: Tensor, reach: int) -> Tensor:
        """The keys of all relative places: r = W relu(W_r (p ⊕ p ⊕ p ⊕ p)), eq. 8.

        Returns:
            By the length of the one span, then that of the other and the distance of their heads.
            # [kinds, heads, kinds * distances, width of a head]
        """
        width, kinds = self.relative_key.in_features, len(lengths)
        waves = sinusoids(reach, width, like=self.relative_key.weight)  # [distances, width]
        by_distance = torch.einsum(
            "dw,vkw->kdv", waves, self.fuse.weight.view(width, 4, width)
        )  # what each of the four distances adds  # [4, distances, width]
        heads = torch.arange(2 * reach + 1, device=lengths.device)  # eq. 4, moved by reach
        this, other = lengths[:, None, None], lengths[None, :, None]
        fused = self.fuse.bias  # [kinds, kinds, distances, width] in the end
        for table, distance in zip(
            by_distance,
            # head to head, tail to head, head to tail, tail to tail: eqs. 4, 6, 5, 7. What lies
            # out of reach is no pair of spans, and never picked.
            (heads[None, None], heads + this, heads - other, heads + this - other),
            strict=True,
        ):
            fused = fused + table[distance.clamp(0, 2 * reach)]
        keys: Tensor = self.relative_key(fused.relu())
        keys = keys.view(kinds, kinds * (2 * reach + 1), self.heads, -1)
        return keys.transpose(1, 2).contiguous()


def sinusoids(reach: int, width: int, *, like: Tensor) -> Tensor:
    """Waves of the distances from -reach to reach, FLAT eqs. 9 and 10.

    Args:
        reach: The largest distance.
        width: Length of a vector; even.
        like: A tensor of the wanted type, on the wanted device.

    Returns:
        # [2 * reach + 1, width]
    """
    distances = torch.arange(-reach, reach + 1, dtype=like.dtype, device=like.device)
    powers = torch.arange(0, width, 2, dtype=like.dtype, device=like.device) / width
    angles = distances[:, None] / 10000**powers  # [distances, width / 2]
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
