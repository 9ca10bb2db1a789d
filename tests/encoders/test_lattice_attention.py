"""The attention of FLAT, against loops that follow its equations."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from lacuner.encoders import lattice_scores
from lacuner.encoders.lattice_attention import LatticeAttention, sinusoids
from lacuner.encoders.lattice_scores import relative_scores

WIDTH, HEADS = 12, 3
FIRST = torch.tensor([[0, 1, 2, 3, 4, 0, 1, 1], [0, 1, 0, 0, 0, 0, 0, 0]])
LAST = torch.tensor([[0, 1, 2, 3, 4, 1, 2, 4], [0, 1, 0, 0, 0, 1, 0, 0]])
THERE = torch.tensor([[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 0, 0, 0, 1, 0, 0]]).bool()


@pytest.fixture
def attention() -> LatticeAttention:
    torch.manual_seed(0)
    layer = LatticeAttention(WIDTH, HEADS).double()
    for bias in (layer.content_bias, layer.place_bias):
        torch.nn.init.normal_(bias)
    return layer


def _wave(distance: int) -> Tensor:
    """FLAT, eqs. 9 and 10."""
    values = []
    for k in range(WIDTH // 2):
        angle = distance / 10000 ** (2 * k / WIDTH)
        values += [math.sin(angle), math.cos(angle)]
    return torch.tensor(values, dtype=torch.float64)


def _slow(layer: LatticeAttention, spans: Tensor, row: int) -> Tensor:
    """FLAT, eqs. 4 to 11, one pair after the other."""
    head, tail = FIRST[row].tolist(), LAST[row].tolist()
    query, key, value = layer.query(spans), layer.key(spans), layer.value(spans)
    size = WIDTH // HEADS
    seen = torch.zeros_like(spans)
    for number in range(HEADS):
        part = slice(number * size, (number + 1) * size)
        u, v = layer.content_bias[number, 0], layer.place_bias[number, 0]
        for i in range(len(head)):
            scores = []
            for j in range(len(head)):
                waves = [
                    _wave(head[i] - head[j]), _wave(tail[i] - head[j]),
                    _wave(head[i] - tail[j]), _wave(tail[i] - tail[j]),
                ]  # fmt: skip
                place = layer.relative_key(torch.relu(layer.fuse(torch.cat(waves))))
                score = (
                    query[i, part] @ key[j, part]
                    + query[i, part] @ place[part]
                    + u @ key[j, part]
                    + v @ place[part]
                )
                scores.append(score if THERE[row, j] else score - math.inf)
            seen[i, part] = torch.softmax(torch.stack(scores), 0) @ value[:, part]
    return seen


@pytest.mark.parametrize("chunk", [1, 60, 1 << 20])
def test_attention_is_what_the_equations_say(
    attention: LatticeAttention, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lattice_scores, "_CHUNK", chunk)
    spans = torch.randn(2, 8, WIDTH).double()
    fast = attention(spans, FIRST, LAST, THERE)
    for row in range(2):
        slow = _slow(attention, spans[row], row)
        torch.testing.assert_close(fast[row][THERE[row]], slow[THERE[row]])


def test_gradients_are_those_of_the_slow_attention(attention: LatticeAttention) -> None:
    spans = torch.randn(2, 8, WIDTH).double()
    weight = torch.randn(2, 8, WIDTH).double() * THERE[..., None]
    (attention(spans, FIRST, LAST, THERE) * weight).sum().backward()
    fast = {name: p.grad for name, p in attention.named_parameters()}
    attention.zero_grad()
    attention.content_bias.grad = attention.place_bias.grad = None
    slow = torch.stack([_slow(attention, spans[row], row) for row in range(2)])
    total: Any = (slow * weight).sum()
    total.backward()
    for name, parameter in attention.named_parameters():
        assert fast[name] is not None, name
        torch.testing.assert_close(fast[name], parameter.grad, msg=name)


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_relative_scores_have_the_gradient_of_what_they_compute(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lattice_scores, "_CHUNK", chunk)
    torch.manual_seed(1)
    queries = torch.randn(2, 5, 3).double().requires_grad_()
    keys = torch.randn(3, 2, 4, 3).double().requires_grad_()
    kinds, columns = torch.tensor([0, 2, 2, 0, 2]), torch.randint(0, 4, (5, 6))
    found = relative_scores(queries, keys, kinds, columns)
    for row, kind in enumerate(kinds.tolist()):
        for place, column in enumerate(columns[row].tolist()):
            expected = (queries[:, row] * keys[kind, :, column]).sum(-1)
            torch.testing.assert_close(found[:, row, place], expected)
    assert torch.autograd.gradcheck(
        lambda q, k: relative_scores(q, k, kinds, columns), (queries, keys)
    )


def test_waves_are_those_of_the_distances() -> None:
    found = sinusoids(3, WIDTH, like=torch.zeros(1, dtype=torch.float64))
    expected = torch.stack([_wave(distance) for distance in range(-3, 4)])
    torch.testing.assert_close(found, expected)
