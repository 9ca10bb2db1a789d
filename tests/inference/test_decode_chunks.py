"""Chunks and their labels against all ways to cut a sentence."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import pytest
import torch

from lacuner import Entity, Sentence
from lacuner.inference.calibration import TemperatureFit
from lacuner.inference.decode import decode
from lacuner.models.batch import Output
from lacuner.models.span_features import band_mask
from lacuner.models.tie_or_break import TieOrBreak
from tests.neural import HashedWords, batch_of, output_of

LABELS = ("A", "B")
MODEL = TieOrBreak(HashedWords(), LABELS, max_width=3)


def _output(lengths: list[int]) -> Output:
    torch.manual_seed(1)
    words = max(lengths)
    mask = band_mask(torch.tensor(lengths), words, min(3, words))
    output = output_of(3 * torch.randn(*mask.shape, 3), mask)
    return replace(output, gaps=2 * torch.randn(len(lengths), words - 1))


@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_entities_are_the_chunks_of_the_best_cut_and_their_best_types(temperature: float) -> None:
    lengths = [6, 1, 4, 5]
    output = _output(lengths)
    assert output.gaps is not None
    found = decode(MODEL, output, temperature=temperature)
    labelled = 0
    for row, length in enumerate(lengths):
        breaks = torch.sigmoid(output.gaps[row, : length - 1].double() / temperature).tolist()
        cuts = {}
        for cut in product([True, False], repeat=length - 1):
            chance = 1.0
            for is_break, sure in zip(cut, breaks, strict=True):
                chance *= sure if is_break else 1 - sure
            edges = [0, *(place + 1 for place, is_break in enumerate(cut) if is_break), length]
            cuts[tuple(pairwise(edges))] = chance
        best = max(cuts, key=cuts.__getitem__)
        right = []
        for start, end in best:
            if end - start > 3:
                continue
            scores = output.scores[row, start, end - start - 1].double()
            chances = torch.softmax(scores / temperature, 0)
            if chances.argmax():
                share = sum(chance for cut, chance in cuts.items() if (start, end) in cut)
                score = share * float(chances.max())
                right.append((start, end, LABELS[int(chances.argmax()) - 1], score))
        labelled += len(right)
        assert [entity.key for entity in found[row]] == [entity[:3] for entity in right]
        assert [entity.score for entity in found[row]] == pytest.approx([e[3] for e in right])
    assert labelled > 3


def test_thresholds_drop_entities_and_chunks_beyond_the_band_have_no_label() -> None:
    output = _output([5])
    tied = replace(output, gaps=torch.full((1, 4), -9.0))
    assert decode(MODEL, tied) == [[]]  # one chunk of five words
    cut = replace(output, gaps=torch.full((1, 4), 9.0))
    scores = torch.zeros_like(cut.scores)
    scores[:, :, 0, 1] = 2.0
    even = replace(cut, scores=scores)
    assert [entity.label for entity in decode(MODEL, even, source="me")[0]] == ["A"] * 5
    assert decode(MODEL, even, thresholds={"A": 0.9}) == [[]]
    assert decode(MODEL, even, source="me")[0][0].source == "me"


def test_temperature_makes_up_for_the_size_of_scores() -> None:
    gold = [
        Sentence("1", ("u", "v", "w", "x"), (Entity(1, 3, "A"),), complete=True),
        Sentence("2", ("u", "v"), (Entity(0, 1, "B"),), complete=True),
    ]
    batch, output = batch_of(gold, LABELS), _output([4, 2])
    # Most decisions are right: breaks everywhere, and the right label of both entities.
    gaps, scores = torch.ones(2, 3), torch.zeros_like(output.scores)
    scores[:, :, :, 0] = scores[0, 1, 1, 1] = scores[1, 0, 0, 2] = 1.0
    found = []
    for size in (1.0, 4.0):
        fit = TemperatureFit(MODEL)
        fit.add(replace(output, scores=size * scores, gaps=size * gaps), batch)
        found.append(fit.temperature())
    assert 0.1 < found[0] < 1.0  # more right than sure
    assert found[1] == pytest.approx(4 * found[0], rel=1e-4)
