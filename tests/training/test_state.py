"""Weights of a finished stage: brought back, or one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from lacuner import Corpus
from lacuner.errors import DataError
from lacuner.models.token_tagger import TokenTagger
from lacuner.training.run_folder import Run, Stage
from lacuner.training.state import drop_result, keep_result, load_result, result_path
from tests.neural import HashedWords


def _tagger() -> Any:
    return TokenTagger(HashedWords(), ("A",))


@pytest.fixture
def stage(small_corpus: Corpus, tmp_path: Path) -> Stage:
    """A finished stage."""
    stage = Run.create(tmp_path / "run", "tiny", {}, small_corpus, None).stage("train")
    keep_result(stage, _tagger())
    return stage


def test_result_is_brought_back(stage: Stage) -> None:
    kept, again = _tagger(), _tagger()
    keep_result(stage, kept)
    load_result(stage, again)
    assert torch.equal(kept.encoder.vectors.weight, again.encoder.vectors.weight)


def test_result_that_is_gone_is_one_sentence(stage: Stage) -> None:
    drop_result(stage)
    with pytest.raises(DataError, match=r"result\.safetensors: the weights .* gone.* --overwrite"):
        load_result(stage, _tagger())


@pytest.mark.parametrize("left", [0, 5, 60])
def test_damaged_result_is_one_sentence(left: int, stage: Stage) -> None:
    path = result_path(stage)
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(DataError, match=r"stage are damaged: .* Begin anew with --overwrite\.$"):
        load_result(stage, _tagger())
