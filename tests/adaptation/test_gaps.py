"""Gaps are drawn as BERT draws them, the same whatever the batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from lacuner.adaptation.gaps import GapExamples, Masking
from lacuner.adaptation.packing import pack
from lacuner.encoders.language_model import MaskedLanguageModel, load_language_model
from tests.adaptation.tiny_adaptation import text
from tests.language_models import write_bert

_MASK = -1


def _drawn(masking: Masking, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pieces = np.arange(100, 20_100)
    words = np.arange(20_000) // 2  # of two pieces each
    ordinary = np.arange(50)
    rng = np.random.default_rng(seed)
    return (pieces, *masking.draw(pieces, words, _MASK, ordinary, rng))


def test_gaps_are_masked_random_and_kept_by_80_10_10() -> None:
    pieces, with_gaps, places = _drawn(Masking())
    assert len(set(places.tolist())) == len(places) == pytest.approx(3000, abs=1)
    chosen = with_gaps[places]
    assert (chosen == _MASK).mean() == pytest.approx(0.8, abs=0.03)
    assert ((chosen >= 0) & (chosen < 50)).mean() == pytest.approx(0.1, abs=0.02)
    assert (chosen == pieces[places]).mean() == pytest.approx(0.1, abs=0.02)
    others = np.delete(np.arange(len(pieces)), places)
    assert (with_gaps[others] == pieces[others]).all()


def test_whole_words_are_chosen_with_all_their_pieces() -> None:
    _, _, places = _drawn(Masking(whole_words=True))
    assert len(places) == pytest.approx(3000, abs=2)
    assert (places.reshape(-1, 2) // 2 == places.reshape(-1, 2)[:, :1] // 2).all()


def test_every_row_has_a_gap() -> None:
    one = np.array([7])
    for seed in range(20):
        rng = np.random.default_rng(seed)
        _, places = Masking(rate=0.01).draw(one, np.array([0]), _MASK, one, rng)
        assert places.tolist() == [0]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> MaskedLanguageModel:
    return load_language_model(write_bert(tmp_path_factory.mktemp("models") / "bert"))


def test_batch_knows_what_stood_in_its_gaps(model: MaskedLanguageModel) -> None:
    packed = pack(text(2), model.subwords, 30)
    rows = np.arange(len(packed))
    examples = GapExamples(packed, rows, model, Masking(masked=1.0, random=0.0), seed=1)
    inputs = examples.batch([0, 1]).inputs
    flat = inputs["pieces"].flatten()
    assert (flat[inputs["places"]] == model.mask).all()
    whole = flat.clone()
    whole[inputs["places"]] = inputs["targets"]
    first, _ = packed.row(0)
    assert whole[1 : 1 + len(first)].tolist() == first.tolist()
    assert examples.lengths[0] == len(first) + 2


def test_gaps_of_a_row_depend_on_epoch_and_seed_but_not_on_the_batch(
    model: MaskedLanguageModel,
) -> None:
    packed = pack(text(2), model.subwords, 30)
    rows = np.arange(len(packed))

    def gaps(numbers: list[int], epoch: int = 0, seed: int = 1) -> list[int]:
        examples = GapExamples(packed, rows, model, Masking(), seed=seed)
        inputs = examples.batch(numbers, epoch=epoch).inputs
        return torch.sort(inputs["pieces"][0]).values.tolist()[-30:]

    assert gaps([2]) == gaps([2]) != gaps([2], epoch=1)
    assert gaps([2]) != gaps([2], seed=2)
    alone = GapExamples(packed, rows, model, Masking(), seed=1).batch([2]).inputs["targets"]
    beside = GapExamples(packed, rows, model, Masking(), seed=1).batch([2, 3]).inputs["targets"]
    assert beside[: len(alone)].tolist() == alone.tolist()


def test_random_pieces_are_never_special(tmp_path: Path, model: MaskedLanguageModel) -> None:
    packed = pack(text(12), model.subwords, 60)
    examples = GapExamples(
        packed, np.arange(len(packed)), model, Masking(rate=0.9, masked=0.0, random=1.0), seed=1
    )
    inputs = examples.batch(range(len(packed))).inputs
    drawn = set(inputs["pieces"].flatten()[inputs["places"]].tolist())
    assert len(drawn) > 20
    assert not drawn & set(model.subwords.tokeniser.all_special_ids)
