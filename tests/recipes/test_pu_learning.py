"""PU learning finds what was hidden; its stages resume; priors that make no sense are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lacuner import Corpus, Entity, Sentence
from lacuner.corpus.alignment import aligned
from lacuner.errors import UsageError
from lacuner.evaluation.scores import Score, score_entities
from lacuner.inference.predictor import NeuralPredictor
from lacuner.labelling.masking import mask
from lacuner.recipes import RECIPES
from lacuner.recipes.class_prior import labelled_shares
from lacuner.recipes.stages import resolve
from lacuner.training.loop import Interrupted
from lacuner.training.run_folder import Run
from tests.neural import HashedWords
from tests.recipes.staged_training import same, weights

TRAINING = {"epochs": 8, "batch_size": 16, "head_rate": 5e-2, "checkpoint_steps": 3}


def _gold() -> Corpus:
    rng = np.random.default_rng(1)
    sentences = []
    for number in range(160):
        words = [f"word{word}" for word in rng.integers(0, 60, 10)]
        first, second = rng.choice(5, 2, replace=False) * 2  # never side by side
        words[first], words[second] = f"Name{rng.integers(0, 12)}", f"Town{rng.integers(0, 12)}"
        entities = sorted([(first, "PER"), (second, "LOC")])
        found = tuple(Entity(int(place), int(place) + 1, label) for place, label in entities)
        sentences.append(Sentence(str(number), tuple(words), found))
    return Corpus(tuple(sentences))


GOLD = _gold()
GAPS = mask(GOLD, 0.6, np.random.default_rng(0)).corpus


@pytest.fixture(autouse=True)
def tiny_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipes get an encoder that is as small as can be."""
    monkeypatch.setattr(
        "lacuner.recipes.parts.build_encoder", lambda *a, **k: HashedWords(width=16, rows=4096)
    )


def _train(
    folder: Path,
    recipe: str = "pu_learning",
    *,
    corpus: Corpus = GAPS,
    resume: bool = False,
    stop_after: int | None = None,
    training: dict[str, Any] = TRAINING,
    **settings: Any,
) -> NeuralPredictor:
    chosen = resolve(RECIPES[recipe], {"training": training, **settings})
    made = iter(range(1, 10_000))
    run = Run.create(
        folder, recipe, chosen.as_dict(), corpus, None, resume=resume,
        stopped=lambda: next(made) == stop_after,
    )  # fmt: skip
    predictor = RECIPES[recipe].train(corpus, None, chosen.recipe, run)
    assert isinstance(predictor, NeuralPredictor)
    return predictor


def _score(predictor: NeuralPredictor) -> Score:
    predicted = GOLD.with_sentences(predictor.predict(GOLD))
    return score_entities(aligned(predicted, GOLD)).total


@pytest.mark.parametrize("form", ["binary", "confidence"])
def test_hidden_entities_are_found_with_estimated_priors(form: str, tmp_path: Path) -> None:
    predictor = _train(tmp_path / "run", risk={"form": form})
    score = _score(predictor)
    assert score.recall > 0.9 and score.precision > 0.9
    (remark,) = Run(tmp_path / "run").remarks
    shares = dict(part.split() for part in remark.split(": ")[1].split(", "))
    for label, truth in labelled_shares(GOLD).items():
        assert float(shares[label]) == pytest.approx(truth, rel=0.3)


def test_what_is_hidden_is_lost_without(tmp_path: Path) -> None:
    assert _score(_train(tmp_path / "run", "token_ce")).recall < 0.5


@pytest.mark.parametrize(("form", "steps"), [("binary", (4, 12)), ("confidence", (4, 22, 42))])
def test_stopped_in_any_stage_it_ends_the_same(
    form: str, steps: tuple[int, ...], tmp_path: Path
) -> None:
    options: dict[str, Any] = {"risk": {"form": form}, "training": {**TRAINING, "epochs": 2}}
    whole = weights(_train(tmp_path / "whole", **options))
    for stop in steps:
        folder = tmp_path / f"cut-{stop}"
        with pytest.raises(Interrupted):
            _train(folder, stop_after=stop, **options)
        assert same(whole, weights(_train(folder, resume=True, **options)))


def test_prior_can_be_given_for_all_or_each_label(tmp_path: Path) -> None:
    for number, share in enumerate((0.1, {"PER": 0.1, "LOC": 0.1})):
        predictor = _train(tmp_path / f"run-{number}", prior={"share": share})
        assert _score(predictor).recall > 0.7
        assert not Run(tmp_path / f"run-{number}").remarks  # nothing had to be estimated


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": {"share": 0.01}}, r"prior\.share of LOC: A class prior of 0\.01 is less than"),
        ({"prior": {"share": {"PER": 0.1}}}, "says nothing of LOC"),
        ({"prior": {"share": {"PERS": 0.1}}}, "Did you mean PER"),
        ({"risk": {"form": "binry"}}, "Did you mean binary"),
        ({"risk": {"gamma": 0.0}}, "gamma must be above 0"),
        ({"risk": {"warmup": -2}}, "warmup at least 0"),
        ({"risk": {"threshold": 2.0}}, "threshold is 2; it must lie between 0 and 1"),
    ],
)
def test_wrong_use_is_one_sentence(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        _train(tmp_path / "run", **settings)
    assert not (tmp_path / "run" / "stages" / "prior.fold-1").exists()  # before any training


def test_priors_that_are_hardly_right_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def estimate(*arguments: Any) -> dict[str, float]:
        return {"PER": 0.4, "LOC": 0.3}

    monkeypatch.setattr("lacuner.recipes.pu_learning.estimate_priors", estimate)
    _train(tmp_path / "run", training={**TRAINING, "epochs": 1})
    assert any("70% of the words are in entities" in said for said in Run(tmp_path / "run").remarks)


def test_prior_is_that_of_complete_sentences_if_these_are_many(tmp_path: Path) -> None:
    complete = [replace(sentence, id=f"gold {sentence.id}") for sentence in GOLD.vouched()]
    mixed = GAPS.with_sentences((*GAPS.sentences, *complete))
    short = {**TRAINING, "epochs": 1}
    _train(tmp_path / "run", corpus=mixed, training=short)
    assert not (tmp_path / "run" / "stages" / "prior.estimate").exists()
    few = GAPS.with_sentences((*GAPS.sentences, *complete[:99]))  # of ten words each
    _train(tmp_path / "few", corpus=few, training=short)
    assert (tmp_path / "few" / "stages" / "prior.estimate").exists()


def test_complete_labels_need_no_prior(tmp_path: Path) -> None:
    predictor = _train(tmp_path / "run", corpus=GOLD.vouched())
    assert _score(predictor).f1 > 0.9
    assert not (tmp_path / "run" / "stages" / "prior.estimate").exists()
