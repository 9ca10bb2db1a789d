"""Held-out text: whole documents where that is possible, and scores against hand-made models."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from lacuner.adaptation.gaps import GapExamples, Masking
from lacuner.adaptation.held_out import hold_out, measure
from lacuner.adaptation.packing import PackedText, pack
from lacuner.encoders.language_model import load_language_model
from lacuner.errors import UsageError
from lacuner.models.gap_filler import GapFiller
from tests.adaptation.tiny_adaptation import text
from tests.language_models import write_decided


def _text(documents: list[int]) -> PackedText:
    count = len(documents)
    return PackedText(
        np.zeros(count, np.int32), np.ones(count, np.bool_), np.arange(count + 1),
        np.array(documents),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_whole_documents_are_held_out(seed: int) -> None:
    packed = _text([number // 3 for number in range(300)])
    learnt, kept = hold_out(packed, 0.1, np.random.default_rng(seed))
    assert sorted([*learnt, *kept]) == list(range(300))
    assert len(kept) == 30
    assert not set(packed.documents[learnt]) & set(packed.documents[kept])


def test_rows_of_a_single_document_are_held_out_one_by_one() -> None:
    learnt, kept = hold_out(_text([1] * 40), 0.1, np.random.default_rng(0))
    assert (len(learnt), len(kept)) == (36, 4)
    learnt, kept = hold_out(_text([1, 1]), 0.01, np.random.default_rng(0))
    assert (len(learnt), len(kept)) == (1, 1)


def test_no_more_rows_are_held_out_than_are_needed() -> None:
    _, kept = hold_out(_text(list(range(10_000))), 0.5, np.random.default_rng(0))
    assert len(kept) == 200


def test_single_row_cannot_be_divided() -> None:
    with pytest.raises(UsageError, match="too short"):
        hold_out(_text([1]), 0.5, np.random.default_rng(0))


def test_measure_is_that_of_a_model_whose_scores_are_known(tmp_path: Path) -> None:
    folder = write_decided(tmp_path / "decided", {".": 0.75, "tram": 0.25})
    model = GapFiller(load_language_model(folder))
    packed = pack(text(6), model.encoder.subwords, 30)
    masking = Masking(masked=1.0, random=0.0)
    examples = GapExamples(packed, np.arange(len(packed)), model.encoder, masking, seed=0)
    score = measure(model, examples, batch_pieces=100)
    targets = examples.batch(range(len(packed))).inputs["targets"].tolist()
    numbers = model.encoder.subwords.tokeniser.get_vocab()
    assert score.accuracy == pytest.approx(targets.count(numbers["."]) / len(targets))
    losses = {numbers["."]: -math.log(0.75), numbers["tram"]: -math.log(0.25)}
    expected = sum(losses.get(target, 30.0) for target in targets) / len(targets)
    assert score.loss == pytest.approx(expected, rel=1e-4)
    assert score.perplexity == pytest.approx(min(math.exp(expected), 1e6), rel=1e-2)
