"""The rules of ARCHITECTURE.md that a program can check."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lacuner

PACKAGE = Path(lacuner.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# What each part may import, besides itself. Parts on top may import everything.
GROUND = {"errors", "files", "suggestions"}
ALLOWED = {
    "errors": set[str](),
    "suggestions": set[str](),
    "files": {"errors"},
    "settings": GROUND,
    "corpus": GROUND,
    "matching": {*GROUND, "corpus"},
    "labelling": {*GROUND, "corpus", "matching"},
    "knowledge": {*GROUND, "corpus", "labelling"},
    "evaluation": {*GROUND, "corpus"},
    "demo": {*GROUND, "corpus"},
    "encoders": {*GROUND, "corpus", "matching"},
    "models": {*GROUND, "corpus", "encoders"},
    "objectives": {*GROUND, "corpus", "encoders", "models"},
    "training": {*GROUND, "settings", "corpus", "encoders", "models", "objectives"},
    "inference": {*GROUND, "corpus", "labelling", "encoders", "models"},
    "refilling": {
        *GROUND,
        "corpus",
        "evaluation",
        "labelling",
        "encoders",
        "models",
        "inference",
        "objectives",
        "training",
    },
    "augmentation": {*GROUND, "corpus", "encoders", "models"},
    "adaptation": {
        *GROUND,
        "settings",
        "corpus",
        "augmentation",
        "evaluation",
        "encoders",
        "models",
        "objectives",
        "training",
    },
}
ON_TOP = {"cli", "experiments", "recipes", "__init__", "__main__"}
HEAVY = {"spacy", "datasets", "matplotlib", "torch", "transformers"}


def _part(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_imports_only_what_lies_below_it(module: Path) -> None:
    part = _part(module)
    if part in ON_TOP:
        return
    assert part in ALLOWED, f"say in this test what '{part}' may import"
    for name in _imports(ast.parse(module.read_text("utf-8"))):
        if name.startswith("lacuner."):
            target = name.split(".")[1]
            assert target == part or target in ALLOWED[part], f"{part} imports {name}"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_says_what_it_is_for_and_stays_small(module: Path) -> None:
    source = module.read_text("utf-8")
    assert ast.get_docstring(ast.parse(source)), "a module docstring is missing"
    assert len(source.splitlines()) <= 300, "a file above 300 lines is asking to be split"
    assert module.stem not in {"utils", "core", "base", "common", "helpers", "misc", "manager"}


def test_import_of_the_package_loads_nothing_heavy() -> None:
    program = "import sys, lacuner, lacuner.cli; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not HEAVY & set(loaded)


def test_all_names_what_the_package_offers() -> None:
    public = {
        name
        for name, value in vars(lacuner).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("lacuner.")
    }
    assert public | {"adapt", "load", "train"} == set(lacuner.__all__)
