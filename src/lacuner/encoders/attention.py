"""Attention of transformers: in single precision wherever a processor computes it.

The backward pass of torch's attention is many times slower in half precision than in single on
processors (`benchmarks/half_precision.py`), though everything around it is faster. GPUs compute it
in whatever the encoder computes in.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_PLAIN, _OURS = "sdpa", "lacuner"


def attend_in_single_precision(model: Any) -> None:
    """Lets a model of `transformers` that attends by torch's own function do so as said above."""
    if model.config._attn_implementation != _PLAIN:
        return
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    AttentionInterface.register(_OURS, _attention)
    AttentionMaskInterface.register(_OURS, sdpa_mask)
    model.set_attn_implementation(_OURS)


def _attention(
    module: torch.nn.Module, query: Tensor, key: Tensor, value: Tensor, *others: Any, **named: Any
) -> tuple[Tensor, None]:
    """What `transformers` does for `sdpa`; vectors and masks come in whatever they come in."""
    from transformers.integrations.sdpa_attention import sdpa_attention_forward as attend

    given = (query, key, value, *others)
    if query.device.type != "cpu" or not torch.is_autocast_enabled("cpu"):
        return attend(module, *given, **named)
    with torch.autocast("cpu", enabled=False):
        vectors, _ = attend(
            module,
            *(_single(value) for value in given),
            **{name: _single(value) for name, value in named.items()},
        )
    return vectors.to(torch.get_autocast_dtype("cpu")), None


def _single(value: Any) -> Any:
    return value.float() if isinstance(value, Tensor) and value.is_floating_point() else value
