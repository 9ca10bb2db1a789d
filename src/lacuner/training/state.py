"""The state of a training: weights, optimiser and place, saved so that it resumes bit for bit.

Randomness needs no saving: every step draws from generators seeded by the run's seed and the
step's number. What is left are tensors, and they go to safetensors.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from lacuner.errors import DataError, LacunerError
from lacuner.files import read_json, write_json, written_aside
from lacuner.models.precision import SINGLE, compute_in, precision_of
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Stage

_PRECISION = "precision"  # in the description of a result


@dataclass
class Place:
    """Where a training stands.

    Attributes:
        step: Steps that are done.
        best: The best dev score so far; None before the first evaluation.
        best_step: The step it was reached at.
        waited: Evaluations since then.
        counts: What the objective counted in this epoch so far.
    """

    step: int = 0
    best: float | None = None
    best_step: int | None = None
    waited: int = 0
    counts: dict[str, int] = field(default_factory=dict)


def save_state(
    stage: Stage, model: nn.Module, optimiser: torch.optim.Optimizer, place: Place
) -> None:
    """Writes the state; the one before is removed only when the new one counts.

    The weights of earlier bests go, too: from now on nobody comes back to them.
    """
    name = f"state-{place.step}"
    try:
        with written_aside(stage.folder / name, overwrite=True) as aside:
            aside.mkdir()
            save_file(trained_tensors(model), aside / "model.safetensors")
            save_file(_optimiser_tensors(model, optimiser), aside / "optimiser.safetensors")
        write_json({"state": name, "place": asdict(place)}, stage.folder / "latest.json")
    except OSError as error:
        raise LacunerError(
            f"The state of step {place.step} cannot be written to {stage.folder}: "
            f"{error.strerror or error}. The state before it is whole; make room and resume."
        ) from None
    for path in stage.folder.glob("state-*"):
        if path.name != name:
            shutil.rmtree(path, ignore_errors=True)
    for path in stage.folder.glob("best-*.safetensors"):
        if path != best_path(stage, place.best_step):
            path.unlink()


def load_state(stage: Stage, model: nn.Module, optimiser: torch.optim.Optimizer) -> Place:
    """Brings back the state that counts; without one, the beginning.

    Raises:
        DataError: It is gone or damaged.
    """
    latest = on_main(lambda: _latest(stage))
    if latest is None:
        return Place()
    folder = stage.folder / latest["state"]
    _load_trained(model, _tensors_of(folder / "model.safetensors", "weights of this state"))
    _load_optimiser(
        model, optimiser, _tensors_of(folder / "optimiser.safetensors", "moments of this state")
    )
    return Place(**latest["place"])


def saved_step(stage: Stage) -> int:
    """The step of the state that counts; 0 without one. For the main process."""
    latest = _latest(stage)
    return 0 if latest is None else int(latest["place"]["step"])


def _latest(stage: Stage) -> dict[str, Any] | None:
    """What `latest.json` says; clears away what a kill left half-written."""
    for half_written in stage.folder.glob(".*"):
        shutil.rmtree(half_written, ignore_errors=True)
    pointer = stage.folder / "latest.json"
    if not pointer.exists():
        return None
    latest: dict[str, Any] = read_json(pointer)
    if not isinstance(latest, dict) or not {"state", "place"} <= latest.keys():
        raise _unusable(pointer, "the place of the training is damaged")
    return latest


def save_best(stage: Stage, model: nn.Module, step: int) -> None:
    """Keeps the weights of the best model so far, beside those they replace."""
    with written_aside(best_path(stage, step), overwrite=True) as aside:
        save_file(trained_tensors(model), aside)


def load_best(stage: Stage, model: nn.Module, step: int) -> None:
    """Brings back the weights of the best model.

    Raises:
        DataError: They are gone or damaged.
    """
    _load_trained(model, _tensors_of(best_path(stage, step), "weights of the best model"))


def keep_result(stage: Stage, model: nn.Module) -> None:
    """Finishes a stage: its weights stay, its training state goes."""
    on_main(lambda: _keep_result(stage, model))


def _keep_result(stage: Stage, model: nn.Module) -> None:
    with written_aside(result_path(stage), overwrite=True) as aside:
        save_file(trained_tensors(model), aside, {_PRECISION: precision_of(model)})
    stage.finish()
    for path in stage.folder.glob("best-*.safetensors"):
        path.unlink()


def load_result(stage: Stage, model: nn.Module) -> None:
    """Brings back the weights of a finished stage, and what its encoder computes in.

    Raises:
        DataError: They are gone or damaged.
    """
    path = result_path(stage)
    _load_trained(model, _tensors_of(path, "weights of a finished stage"))
    with safe_open(path, "pt") as file:
        facts = file.metadata() or {}
    compute_in(model, facts.get(_PRECISION, SINGLE))


def _tensors_of(path: Path, what: str) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except FileNotFoundError:
        raise _unusable(path, f"the {what} are gone") from None
    except (OSError, SafetensorError) as error:
        raise _unusable(path, f"the {what} are damaged: {error}") from None


def _unusable(path: Path, what: str) -> DataError:
    return DataError(path, what, right="Begin anew with --overwrite")


def drop_result(stage: Stage) -> None:
    """Lets go of the weights of a finished stage, once nobody needs them; it stays finished."""
    on_main(lambda: result_path(stage).unlink(missing_ok=True))


def result_path(stage: Stage) -> Path:
    """Where the weights of a finished stage are, until they are dropped."""
    return stage.folder / "result.safetensors"


def best_path(stage: Stage, step: int | None) -> Path:
    """Where the best weights of a step are."""
    return stage.folder / f"best-{step}.safetensors"


def trained_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Everything that training changes: trainable parameters and buffers, each once."""
    left_out = _untrained(model)
    return {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in model.state_dict().items()
        if name not in left_out
    }


def _untrained(model: nn.Module) -> set[str]:
    """Names of parameters that are frozen, and second names of those that are used twice."""
    once = dict(model.named_parameters())
    all_names = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    return {name for name, p in once.items() if not p.requires_grad} | (all_names - once.keys())


def _load_trained(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    if unexpected or not set(missing) <= _untrained(model):
        raise LacunerError("The saved state belongs to another model.")


def _optimiser_tensors(model: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return {
        f"{names[id(parameter)]}/{key}": value.detach().cpu().contiguous()
        for parameter, values in optimiser.state.items()
        for key, value in values.items()
    }


def _load_optimiser(
    model: nn.Module, optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]
) -> None:
    parameters = dict(model.named_parameters())
    for key, value in tensors.items():
        name, _, part = key.rpartition("/")
        parameter = parameters[name]
        # The count of steps stays where the optimiser keeps it; moments go with the parameter.
        moved = value if part == "step" else value.to(parameter.device)
        optimiser.state[parameter][part] = moved
