"""Parts of a transformer that training leaves as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import nn

from lacuner.errors import UsageError


def freeze(model: Any, what: str | int) -> None:
    """Takes the gradient from parts of a model.

    Args:
        model: A model of `transformers`.
        what: `none`; `embeddings`, the matrix of word embeddings; `all`; or a number of lowest
            layers, with everything below them.

    Raises:
        UsageError: There is no such part.
    """
    if isinstance(what, str) and what.isdecimal():
        what = int(what)
    if isinstance(what, int) and not isinstance(what, bool) and what >= 0:
        _stop(_lowest(model, what))
    elif what == "all":
        _stop(model.parameters())
    elif what == "embeddings":
        _stop(model.get_input_embeddings().parameters())
    elif what != "none":
        raise UsageError(
            f"Nothing to freeze is called '{what}'. Right are none, embeddings, all, or a number "
            "of layers."
        )


def _stop(parameters: Iterable[nn.Parameter]) -> None:
    for parameter in parameters:
        parameter.requires_grad_(False)


def _lowest(model: Any, count: int) -> list[nn.Parameter]:
    layers = layers_of(model)
    if layers is None:
        raise UsageError(
            f"{type(model).__name__} has no {model.config.num_hidden_layers} layers of its own "
            "each, so none of them can be frozen alone. Right are none, embeddings and all."
        )
    if count > len(layers):
        raise UsageError(f"The encoder has {len(layers)} layers; {count} cannot be frozen.")
    of_layers = {id(parameter) for parameter in layers.parameters()}
    below = []
    for parameter in model.parameters():  # in the order of their making: embeddings come first
        if id(parameter) in of_layers:
            break
        below.append(parameter)
    return below + [parameter for layer in layers[:count] for parameter in layer.parameters()]


def layers_of(model: Any) -> nn.ModuleList | None:
    """The layers of a model, the lowest first; None where they are not one module each."""
    count = model.config.num_hidden_layers
    for module in model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == count:
            return module
    return None
