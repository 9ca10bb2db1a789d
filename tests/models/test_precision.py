"""Half precision: where it begins and where it ends."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn

from lacuner.models.batch import Batch
from lacuner.models.batching import Examples
from lacuner.models.precision import compute_in, encoded, precision_of, precision_on
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.token_tagger import TokenTagger
from lacuner.training.loop import Interrupted
from lacuner.training.run_folder import Run
from lacuner.training.state import keep_result, load_result
from tests.neural import HashedWords
from tests.training import tiny_training


class Dense(HashedWords):
    """Hashed words and a layer that half precision reaches; remembers what it computed in."""

    def __init__(self) -> None:
        super().__init__(width=32, rows=4096)
        self.layer = nn.Linear(32, 32)
        self.seen: list[torch.dtype] = []

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        vectors: Tensor = self.layer(super().forward(inputs))
        self.seen.append(vectors.dtype)
        return vectors


def _tagger() -> TokenTagger:
    torch.manual_seed(1)
    return TokenTagger(Dense(), tiny_training.corpus().labels).eval()


def _batch(model: TokenTagger) -> Batch:
    examples = Examples(tiny_training.corpus().sentences[:4], model.encoder, model.label_numbers)
    return examples.batch([0, 1, 2, 3])


def test_only_the_encoder_computes_in_half_precision() -> None:
    model = _tagger()
    batch = _batch(model)
    single = model(batch)
    compute_in(model, "bf16")
    half = model(batch)
    assert cast(Dense, model.encoder).seen == [torch.float32, torch.bfloat16]
    assert half.hidden.dtype == half.scores.dtype == torch.float32
    assert not torch.equal(half.scores, single.scores)
    assert torch.allclose(half.scores, single.scores, atol=0.05)
    # What the head makes of the vectors is no half precision: it is not rounded to its grid.
    assert not torch.equal(half.scores, half.scores.bfloat16().float())


def test_gradients_and_weights_stay_single() -> None:
    model = _tagger()
    compute_in(model, "bf16")
    model(_batch(model)).scores.square().sum().backward()
    for parameter in model.parameters():
        assert parameter.dtype == torch.float32
        assert parameter.grad is None or parameter.grad.dtype == torch.float32
    gradient = cast(Dense, model.encoder).layer.weight.grad
    assert gradient is not None and bool(gradient.any())


def test_single_precision_is_untouched() -> None:
    model = _tagger()
    batch = _batch(model)
    before = model(batch).scores
    compute_in(model, "bf16")
    compute_in(model, "no")
    assert torch.equal(model(batch).scores, before)


def test_a_copy_keeps_its_own_precision() -> None:
    model = _tagger()
    compute_in(model, "bf16")
    other = copy.deepcopy(model)
    compute_in(model, "no")
    assert (precision_of(model), precision_of(other)) == ("no", "bf16")
    assert encoded(other.encoder, _batch(other).inputs).dtype == torch.float32


@pytest.mark.parametrize("precision", ["no", "fp16", "bf16"])
def test_a_finished_stage_says_what_its_encoder_computes_in(precision: str, tmp_path: Path) -> None:
    stage = Run.create(tmp_path / "run", "tiny", {}, tiny_training.corpus(), None).stage("train")
    model, again = _tagger(), _tagger()
    compute_in(model, precision)
    keep_result(stage, model)
    load_result(stage, again)
    assert precision_of(again) == precision


def test_half_precision_resumes_bit_for_bit(tmp_path: Path) -> None:
    def trained(folder: str, **more: Any) -> SpanClassifier:
        torch.manual_seed(1)
        model = SpanClassifier(Dense(), tiny_training.corpus().labels, max_width=4, hidden=32)
        return tiny_training.train(tmp_path / folder, trained=model, precision="bf16", **more)

    whole = trained("whole")
    steps = iter(range(100))
    with pytest.raises(Interrupted):
        trained("halved", stopped=lambda: next(steps) > 6)
    halved = trained("halved", resume=True)
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, halved.state_dict()[name]), name


def test_trainings_of_one_process_may_differ_in_precision(tmp_path: Path) -> None:
    for precision in ("no", "fp16", "bf16", "no"):
        model = tiny_training.train(
            tmp_path / f"{len(list(tmp_path.iterdir()))}", precision=precision
        )
        assert precision_of(model) == precision
        assert all(bool(tensor.isfinite().all()) for tensor in model.state_dict().values())


@pytest.mark.parametrize(
    ("instructions", "precision"),
    [({"avx512_bf16": True}, "bf16"), ({"amx_bf16": True, "avx2": True}, "bf16"),
     ({"avx512_bf16": False, "avx2": True}, "no"), ({}, "no")],
)  # fmt: skip
def test_auto_is_half_where_the_processor_is_fast_at_it(
    instructions: dict[str, bool], precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: instructions, raising=False)
    assert precision_on(torch.device("cpu"), "auto") == precision
    assert precision_on(torch.device("cpu"), "fp16") == "fp16"


def test_auto_is_single_where_torch_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert precision_on(torch.device("cpu"), "auto") == "no"


def test_loop_resolves_auto(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, is_fast in enumerate((True, False)):
        told = {"avx512_bf16": is_fast}
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda told=told: told, raising=False)
        model = tiny_training.train(tmp_path / str(number), precision="auto", epochs=1)
        assert precision_of(model) == ("bf16" if is_fast else "no")
