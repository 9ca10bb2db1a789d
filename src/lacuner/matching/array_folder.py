"""A folder of arrays that memory can map, with a description that knows what is in them.

It is written aside and renamed, and its arrays are checked when it is read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from lacuner.errors import DataError

_DESCRIPTION = "description.json"
_BUFFER = 1 << 20


def cache_home() -> Path:
    """Where the platform wants caches, with a folder of our own."""
    if sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "lacuner"


def digest_of_file(path: Path) -> bytes:
    """What stands for the content of a file.

    Raises:
        DataError: It cannot be read.
    """
    digest = blake2b(digest_size=16)
    try:
        with open(path, "rb") as file:
            while piece := file.read(_BUFFER):
                digest.update(piece)
    except FileNotFoundError:
        raise DataError(path, "there is no such file") from None
    except OSError as error:
        raise DataError(path, f"it cannot be opened: {error.strerror}") from None
    return digest.digest()


def write_arrays(
    folder: Path, arrays: Mapping[str, NDArray[Any]], description: Mapping[str, Any]
) -> None:
    """Writes arrays and their description to a folder that does not exist yet."""
    folder.mkdir()
    digests = {}
    for name, values in arrays.items():
        path = folder / f"{name}.npy"
        np.save(path, values, allow_pickle=False)
        digests[name] = digest_of_file(path).hex()
    text = orjson.dumps({**description, "arrays": digests}, option=orjson.OPT_INDENT_2)
    (folder / _DESCRIPTION).write_bytes(text)


def map_arrays(folder: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays of a folder, mapped into memory, and their description.

    Raises:
        DataError: The folder is not what `write_arrays` wrote.
    """
    try:
        description = orjson.loads((folder / _DESCRIPTION).read_bytes())
        arrays: dict[str, NDArray[Any]] = {}
        for name, digest in description["arrays"].items():
            path = folder / f"{Path(name).name}.npy"
            if digest_of_file(path).hex() != digest:
                raise DataError(path, "it is damaged: its content is not what was written")
            arrays[name] = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(folder, f"it holds no whole set of arrays: {error}") from None
    return arrays, description
