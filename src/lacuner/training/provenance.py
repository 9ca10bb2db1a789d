"""What a run was made with: versions of packages, the code of Lacuner itself, the corpora."""

from __future__ import annotations

import platform
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from lacuner.corpus.sentence import Corpus

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


def selected_on(dev: Corpus | None) -> str:
    """What the model is chosen on."""
    if dev is None:
        return "nothing: the last model is taken"
    complete = all(sentence.complete for sentence in dev)
    return f"dev, {'gold' if complete else 'labels that nobody vouches for'}"


def fingerprint(corpus: Corpus) -> str:
    """A name for the content of a corpus: equal if and only if its sentences are."""
    digest = sha256()
    for sentence in corpus:
        digest.update(repr(sentence).encode("utf-8", "surrogatepass"))
    return f"{len(corpus)} sentences, {digest.hexdigest()[:16]}"
