"""Retrieval against a case worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from lacuner.errors import UsageError
from lacuner.inference.retrieval import Retrieval
from lacuner.models.batch import Batch, Output
from lacuner.models.span_features import band_mask
from tests.neural import batch_of, output_of, sentence

LABELS = ("LOC", "PER")


def _case() -> tuple[Batch, Output]:
    """Words w0 (LOC) and w1 (LOC), and w2 without a label; nothing is PER."""
    batch = batch_of([sentence(3, [(0, 1, "LOC"), (1, 2, "LOC")])], LABELS)
    scores = torch.tensor([[[[0.0, 2.0, 0.0]], [[0.0, 2.0, 0.0]], [[2.0, 0.0, 0.0]]]])
    spans = torch.tensor([[[[1.0, 0.0]], [[1.0, 2.0]], [[0.0, -1.0]]]])
    output = output_of(scores, band_mask(batch.lengths, 3, 1))
    return batch, replace(output, spans=spans)


def test_centres_are_the_means_of_each_label() -> None:
    batch, output = _case()
    found = Retrieval.of([(batch, output)], 2)
    assert found.centres.tolist() == [[0.0, -1.0], [1.0, 1.0], [0.0, 0.0]]
    assert found.known.tolist() == [True, True, False]


def test_distribution_and_blend_are_those_by_hand() -> None:
    batch, output = _case()
    found = Retrieval.of([(batch, output)], 2, alpha=0.5)
    # w0 = (1, 0): cosine 0 with "no entity", 1/√2 with LOC; PER has no centre.
    share = math.exp(1 / math.sqrt(2)) / (1 + math.exp(1 / math.sqrt(2)))
    assert output.spans is not None
    retrieved = found.distribution(output.spans)[0, 0, 0].tolist()
    assert retrieved == pytest.approx([0, share, 0], abs=1e-6)
    own = [1 / (2 + math.exp(2)), math.exp(2) / (2 + math.exp(2)), 1 / (2 + math.exp(2))]
    mixed = [0.5 * own[0], 0.5 * own[1] + 0.5 * share, 0.5 * own[2]]
    blended = found.blend(output).scores[0, 0, 0].softmax(-1).tolist()
    assert blended == pytest.approx([value / sum(mixed) for value in mixed], rel=1e-5)


def test_without_a_share_the_model_speaks_alone() -> None:
    batch, output = _case()
    blended = Retrieval.of([(batch, output)], 2, alpha=0).blend(output, temperature=2.0)
    torch.testing.assert_close(blended.scores.softmax(-1), (output.scores / 2).softmax(-1))


def test_retrieval_survives_saving(tmp_path: Path) -> None:
    batch, output = _case()
    kept = Retrieval.of([(batch, output)], 2)
    kept.save(tmp_path)
    back = Retrieval.load(tmp_path, 0.3)
    assert back.centres.equal(kept.centres) and back.known.equal(kept.known)
    assert back.alpha == 0.3


def test_share_must_be_one() -> None:
    batch, output = _case()
    found = Retrieval.of([(batch, output)], 2)
    with pytest.raises(UsageError, match="between 0 and 1"):
        found.alpha = 1.5
    with pytest.raises(UsageError, match="hidden layer"):
        Retrieval.of([(batch, replace(output, spans=None))], 2)
    with pytest.raises(UsageError, match="no sentence"):
        Retrieval.of([], 2)
