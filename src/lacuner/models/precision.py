"""Half precision where it pays: encoders may compute in it; scores and losses stay single."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from lacuner.encoders.contract import Inputs

AUTO, SINGLE = "auto", "no"
_HALF = {"fp16": torch.float16, "bf16": torch.bfloat16}
PRECISIONS = (AUTO, SINGLE, *_HALF)
_COMPUTES_IN = "computes_in"  # an attribute of encoders; their weights stay single in any case
_FAST = ("avx512_bf16", "amx_bf16")  # instructions of processors that multiply bfloat16


def precision_on(device: torch.device, precision: str) -> str:
    """What one of `PRECISIONS` is on a device: `auto` is bf16 where that is faster, else single."""
    if precision != AUTO:
        return precision
    if device.type == "cuda":
        is_fast = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        # From torch 2.13 on it tells what a processor can do.
        tell: Callable[[], dict[str, bool]] = getattr(torch.cpu, "get_capabilities", dict)
        is_fast = device.type == "cpu" and any(tell().get(name, False) for name in _FAST)
    return "bf16" if is_fast else SINGLE


def compute_in(model: nn.Module, precision: str) -> None:
    """From now on the encoder of a model computes in `no` (single), `fp16` or `bf16`."""
    setattr(model.encoder, _COMPUTES_IN, precision)


def precision_of(model: nn.Module) -> str:
    """What the encoder of a model computes in."""
    return str(getattr(model.encoder, _COMPUTES_IN, SINGLE))


def encoded(encoder: Callable[[Inputs], Tensor], inputs: Inputs) -> Tensor:
    """What an encoder makes of its inputs, in single precision whatever it computes in."""
    half = _HALF.get(getattr(encoder, _COMPUTES_IN, SINGLE))
    if half is None:
        return encoder(inputs)
    device = next(iter(inputs.values())).device
    with torch.autocast(device.type, half):
        return encoder(inputs).float()
