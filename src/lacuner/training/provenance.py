"""What a run was made with: versions of packages, and the code of Lacuner itself."""

from __future__ import annotations

import platform
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

_PACKAGES = ("lacuner", "torch", "transformers", "tokenizers", "accelerate", "numpy")


def versions() -> dict[str, str]:
    """What the run was made with."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except ModuleNotFoundError:
            continue
    return found


def source_fingerprint() -> str:
    """A name for the code of Lacuner itself, which in development changes without its version."""
    digest = sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
