"""States, and weights of finished stages: brought back, or one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from lacuner import Corpus
from lacuner.errors import DataError
from lacuner.models.token_tagger import TokenTagger
from lacuner.training.loop import make_optimiser
from lacuner.training.run_folder import Run, Stage
from lacuner.training.state import (
    Place,
    drop_result,
    keep_result,
    load_result,
    load_state,
    result_path,
    save_state,
)
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


def _optimiser(model: Any) -> torch.optim.Optimizer:
    return make_optimiser(model, 0.1, 0.1, 0.0)


@pytest.fixture
def begun(small_corpus: Corpus, tmp_path: Path) -> Stage:
    """A stage with the state of step 3."""
    stage = Run.create(tmp_path / "run", "tiny", {}, small_corpus, None).stage("train")
    model = _tagger()
    optimiser = _optimiser(model)
    model.encoder.vectors.weight.sum().backward()
    optimiser.step()
    save_state(stage, model, optimiser, Place(step=3, best=0.5))
    return stage


def _brought_back(stage: Stage) -> Place:
    model = _tagger()
    return load_state(stage, model, _optimiser(model))


def test_state_is_brought_back(begun: Stage) -> None:
    assert _brought_back(begun) == Place(step=3, best=0.5)


@pytest.mark.parametrize(
    ("name", "said"),
    [("model", "weights of this state"), ("optimiser", "moments of this state")],
)
@pytest.mark.parametrize("left", [None, 0, 60])
def test_damaged_state_is_one_sentence(
    name: str, said: str, left: int | None, begun: Stage
) -> None:
    path = begun.folder / "state-3" / f"{name}.safetensors"
    if left is None:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:left])
    how = "gone" if left is None else "damaged: .*"
    with pytest.raises(DataError, match=rf"the {said} are {how}\. Begin anew with --overwrite\.$"):
        _brought_back(begun)


@pytest.mark.parametrize("content", ["", "[]", '{"state": "state-3"}'])
def test_damaged_place_is_one_sentence(content: str, begun: Stage) -> None:
    (begun.folder / "latest.json").write_text(content)
    with pytest.raises(DataError, match=r"latest\.json"):
        _brought_back(begun)
