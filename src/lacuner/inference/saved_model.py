"""A model as a folder: model.json, weights as safetensors, the files of its encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from lacuner.encoders import load_encoder
from lacuner.errors import DataError
from lacuner.files import read_json, write_json
from lacuner.models import Model, build_model


def save_model(model: Model, folder: Path) -> None:
    """Writes a model to a folder."""
    (folder / "encoder").mkdir(parents=True)
    description = {
        "model": model.description(),
        "labels": list(model.labels),
        "encoder": model.encoder.save(folder / "encoder"),
    }
    weights = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_file(weights, folder / "weights.safetensors")
    write_json(description, folder / "model.json")


def load_model(folder: Path) -> Model:
    """The model of a folder.

    Raises:
        DataError: The folder is not what `save_model` wrote.
    """
    facts: dict[str, Any] = read_json(folder / "model.json")
    try:
        encoder = load_encoder(facts["encoder"], folder / "encoder")
        description = dict(facts["model"])
        kind = description.pop("kind")
        model = build_model(kind, encoder, tuple(facts["labels"]), **description)
        with torch.no_grad():
            model.load_state_dict(load_file(folder / "weights.safetensors"))
    except (KeyError, TypeError, RuntimeError, FileNotFoundError, SafetensorError) as error:
        raise DataError(folder, f"this is no model that Lacuner saved: {error}") from None
    return model
