"""Half precision where it pays: encoders may compute in it; scores and losses stay single."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from lacuner.encoders.contract import Inputs

SINGLE = "no"
PRECISIONS = {SINGLE: None, "fp16": torch.float16, "bf16": torch.bfloat16}
_COMPUTES_IN = "computes_in"  # an attribute of encoders; their weights stay single in any case


def compute_in(model: nn.Module, precision: str) -> None:
    """From now on the encoder of a model computes in one of `PRECISIONS`."""
    setattr(model.encoder, _COMPUTES_IN, precision)


def precision_of(model: nn.Module) -> str:
    """What the encoder of a model computes in."""
    return str(getattr(model.encoder, _COMPUTES_IN, SINGLE))


def encoded(encoder: Callable[[Inputs], Tensor], inputs: Inputs) -> Tensor:
    """What an encoder makes of its inputs, in single precision whatever it computes in."""
    half = PRECISIONS[getattr(encoder, _COMPUTES_IN, SINGLE)]
    if half is None:
        return encoder(inputs)
    device = next(iter(inputs.values())).device
    with torch.autocast(device.type, half):
        return encoder(inputs).float()
