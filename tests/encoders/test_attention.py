"""What attention computes in: single precision on processors, whatever is around it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from lacuner.encoders.language_model import load_language_model
from lacuner.encoders.pretrained import load_pretrained, load_untrained, quietly
from tests import language_models


@pytest.fixture
def attended(monkeypatch: pytest.MonkeyPatch) -> list[torch.dtype]:
    """What the vectors are computed in that attention is given, and gives."""
    plain: Any = torch.nn.functional.scaled_dot_product_attention
    seen: list[torch.dtype] = []

    def look(*vectors: Tensor, **others: Any) -> Tensor:
        found: Tensor = plain(*vectors, **others)
        seen.extend((*(one.dtype for one in vectors), found.dtype))
        return found

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", look)
    return seen


def _vectors(model: Any, pieces: Tensor) -> Tensor:
    attention = torch.ones_like(pieces)
    attention[1, 5:] = 0
    vectors: Tensor = model(input_ids=pieces, attention_mask=attention).last_hidden_state
    return vectors


def test_attention_is_single_where_all_else_is_half(
    bert: Path, attended: list[torch.dtype]
) -> None:
    model, _ = load_pretrained(str(bert))
    model.eval()
    inside: list[torch.dtype] = []
    layer = next(module for module in model.modules() if isinstance(module, torch.nn.Linear))
    layer.register_forward_hook(lambda *given: inside.append(given[-1].dtype))
    pieces = torch.arange(4, 20).reshape(2, 8)
    single = _vectors(model, pieces)
    with torch.autocast("cpu", torch.bfloat16):
        half = _vectors(model, pieces)
        half.sum().backward()  # type: ignore[no-untyped-call]
    assert attended and set(attended) == {torch.float32}
    assert inside == [torch.float32, torch.bfloat16]
    assert torch.allclose(half, single, atol=0.1) and not torch.equal(half, single)


def test_single_precision_stays_as_it_was(bert: Path) -> None:
    model, _ = load_pretrained(str(bert))
    pieces = torch.arange(4, 20).reshape(2, 8)
    ours = _vectors(model.eval(), pieces)
    with quietly():
        model.set_attn_implementation("sdpa")
    assert torch.equal(_vectors(model, pieces), ours)


def test_another_attention_that_is_asked_for_is_kept(bert: Path) -> None:
    assert load_pretrained(str(bert), attention="eager")[0].config._attn_implementation == "eager"


def test_it_is_not_written(bert: Path, tmp_path: Path) -> None:
    model, tokeniser = load_pretrained(str(bert))
    model.config.save_pretrained(tmp_path)
    tokeniser.save_pretrained(tmp_path)
    assert "lacuner" not in (tmp_path / "config.json").read_text()
    again, _ = load_untrained(tmp_path)
    assert again.config._attn_implementation == model.config._attn_implementation == "lacuner"


def test_language_models_have_it(tmp_path: Path, attended: list[torch.dtype]) -> None:
    model = load_language_model(language_models.write_bert(tmp_path))
    with torch.autocast("cpu", torch.bfloat16):
        model.model(input_ids=torch.arange(4, 12)[None])
    assert attended and set(attended) == {torch.float32}
