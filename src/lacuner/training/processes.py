"""A training in several processes: who writes, and how they stay of one mind.

The processes are those of `accelerate launch` or `torchrun`. The first one, the main process, is
the only one that writes; whatever decides how a training goes on is the same for all, because a
process that goes its own way leaves the others waiting. In a single process nothing here costs
anything.

Objects travel by the means of torch, from memory to memory between processes of one launch; no file
holds a pickle.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import cache
from typing import Any, TypeVar

import torch
from accelerate import PartialState
from accelerate.utils import broadcast_object_list, gather_object, parse_flag_from_env, reduce
from torch import nn

from lacuner.errors import LacunerError, UsageError

Value = TypeVar("Value")

_PATIENCE = timedelta(days=1)  # others wait while the main process scores, however long that takes


@cache
def processes() -> Any:
    """The processes of this training, as Accelerate's state.

    Raises:
        UsageError: Several processes were started, but know nothing of each other.
    """
    on_cpu = parse_flag_from_env("ACCELERATE_USE_CPU") or not torch.accelerator.is_available()
    started = int(os.environ.get("WORLD_SIZE", 1))
    state = PartialState(cpu=on_cpu, **({"timeout": _PATIENCE} if started > 1 else {}))
    if state.num_processes < started:
        raise UsageError(
            f"{started} processes were started, but they cannot train together on this device. "
            "Start one, or have them use the CPU (accelerate launch --cpu)."
        )
    if started > 1:
        atexit.register(state.destroy_process_group)  # else its threads abort the interpreter's end
    return state


def is_alone() -> bool:
    """Is there only one process?"""
    return bool(processes().num_processes == 1)


def is_main() -> bool:
    """Is this the process that writes?"""
    return bool(processes().is_main_process)


def on_main(action: Callable[[], Value]) -> Value:
    """Does something in the main process alone, once all have come here; all get what it returns.

    All processes have to call it. It must not be called from within itself.

    Raises:
        LacunerError: What the main process raised, everywhere.
    """
    if is_alone():
        return action()
    processes().wait_for_everyone()
    told: list[Any] = [None, None, None]  # what it returned, or the error's message and exit code
    failed: LacunerError | None = None
    if is_main():
        try:
            told[0] = action()
        except LacunerError as error:
            failed = error
            told[1:] = str(error), error.exit_code
    value, message, exit_code = broadcast_object_list(told)
    if message is None:
        result: Value = value
        return result
    if failed is None:
        failed = LacunerError(message)
        failed.exit_code = exit_code
    raise failed


def everywhere(value: Value) -> list[Value]:
    """What each process has here, in their order; all get the same list."""
    return [value] if is_alone() else gather_object([value])


def share_weights(model: nn.Module) -> None:
    """Gives all processes the weights of the main process."""
    if not is_alone():
        for tensor in model.state_dict().values():
            torch.distributed.broadcast(tensor, 0)


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Gives all processes the mean of their gradients.

    It looks at gradients only, so that objectives are free to use parts of a model by themselves
    (a CRF, a second pass), and parameters may be left unused, by one process or by all.
    """
    if is_alone():
        return
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    used = everywhere([parameter.grad is not None for parameter in trained])
    for parameter, *is_used in zip(trained, *used, strict=True):
        if any(is_used):
            own = parameter.grad
            parameter.grad = reduce(torch.zeros_like(parameter) if own is None else own, "mean")
