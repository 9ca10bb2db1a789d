"""Run the real command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lacuner import Corpus, write
from lacuner.cli import main


@dataclass(frozen=True)
class Run:
    """What a command left: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str


@pytest.fixture
def lacuner(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Run]:
    """Runs `lacuner ARGUMENTS…` on a wide terminal."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object) -> Run:
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Run(code, printed.out, printed.err)

    return run


@pytest.fixture
def small_file(small_corpus: Corpus, tmp_path: Path) -> Path:
    """The small corpus as a file."""
    path = tmp_path / "small.jsonl"
    write(small_corpus, path)
    return path
