"""The offset that a gold dev shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lacuner
from lacuner import Corpus, Entity, Sentence
from lacuner.errors import UsageError
from lacuner.evaluation.scores import Score
from lacuner.inference.predictor import NeuralPredictor
from lacuner.recipes import RECIPES
from lacuner.recipes.decision_offset import fit_offset, fixed_offset, merit
from lacuner.recipes.stages import resolve
from lacuner.training.run_folder import Run
from tests.recipes.test_recipes import NEURAL, SMALL

GOLD = Corpus(
    tuple(
        Sentence(str(n), ("a", "b"), (Entity(0, 1, "X"),) if n < 4 else (), complete=True)
        for n in range(8)
    )
)


class Shy:
    """Finds the entity of sentence n from the offset n on; the false ones from n + 1 on.

    Args:
        shift: Added to all of these offsets.
    """

    def __init__(self, shift: float = 0.0) -> None:
        self._shift = shift

    def predict_at(
        self, sentences: Sequence[Sentence], offsets: Sequence[float]
    ) -> list[list[Sentence]]:
        return [list(self._at(sentences, offset)) for offset in offsets]

    def _at(self, sentences: Sequence[Sentence], offset: float) -> Iterator[Sentence]:
        for number, sentence in enumerate(sentences):
            found = offset - self._shift >= (number if number < 4 else number + 1)
            yield replace(sentence, entities=(Entity(0, 1, "X"),) if found else ())


def test_best_offset_is_the_least_of_those_that_score_best() -> None:
    fit = fit_offset(Shy(), GOLD)  # type: ignore[arg-type]
    assert fit.offset == 3.0
    assert fit.score == Score(right=4, found=4, gold=4)
    assert fit.unshifted == Score(right=1, found=1, gold=4)


@pytest.mark.parametrize(("shift", "best"), [(-6.0, -1.5), (-8.0, -3.5), (-10.0, -5.5)])
def test_offsets_go_further_down_where_the_least_is_best(shift: float, best: float) -> None:
    fit = fit_offset(Shy(shift), GOLD)  # type: ignore[arg-type]
    assert fit.offset == best
    assert fit.score == Score(right=4, found=4, gold=4)


@pytest.mark.parametrize("recipe", ["token_ce", "bond", "roster", "two_step", "biaffine", "mrc"])
def test_recipes_that_decode_as_they_learn_say_nothing_of_it(recipe: str) -> None:
    assert "decoding" not in resolve(RECIPES[recipe], {}).as_dict()
    said = resolve(RECIPES[recipe], {"decoding": {"offset": "dev"}}).as_dict()
    assert said["decoding"] == {"offset": "dev"}


@pytest.mark.parametrize(
    "recipe",
    ["token_ce", "partial_crf", "weighted_partial_crf", "auto_ner", "pu_learning", "biaffine"],
)
def test_every_recipe_is_chosen_and_saved_with_its_offset(recipe: str, tmp_path: Path) -> None:
    gaps = SMALL.with_sentences(
        [replace(s, entities=s.entities[:1], complete=False) for s in SMALL]
    )
    settings = {**NEURAL, "training": {**NEURAL["training"], "epochs": 2}}
    settings["decoding"] = {"offset": "dev"}
    if recipe == "weighted_partial_crf":
        settings["folds"] = {"rounds": 1}
    recogniser = lacuner.train(gaps, recipe, dev=SMALL, out=tmp_path / "run", settings=settings)
    rows = [r for r in _metrics(tmp_path / "run") if "dev" in r and r["stage"] == "train"]
    best = max(rows, key=lambda row: row["dev"])
    assert isinstance(recogniser.predictor, NeuralPredictor)
    assert recogniser.predictor.offset == best["offset"]
    assert all(row["dev"] >= row["unshifted"] for row in rows)


def test_dev_with_gaps_ranks_by_what_gaps_do_not_reorder() -> None:
    """Half of the labels hidden: P halves, R stays, √(P·R) keeps the order, F1 does not."""
    bold, shy = Score(right=84, found=110, gold=100), Score(right=60, found=62, gold=100)
    seen = [replace(score, right=score.right // 2, gold=50) for score in (bold, shy)]
    gaps = GOLD.with_sentences([replace(s, complete=False) for s in GOLD])
    assert merit(bold, GOLD) == bold.f1 > shy.f1 == merit(shy, GOLD)
    assert seen[0].f1 < seen[1].f1
    ratio = merit(seen[0], gaps) / merit(seen[1], gaps)
    assert ratio == pytest.approx(merit(bold, gaps) / merit(shy, gaps))


def test_offset_is_fitted_where_there_is_a_dev() -> None:
    assert fixed_offset("dev", GOLD) is None
    assert fixed_offset("dev", None) == 0.0
    assert fixed_offset(1.5, GOLD) == 1.5
    with pytest.raises(UsageError, match="'dev'"):
        fixed_offset("test", GOLD)


def test_run_is_chosen_saved_and_loaded_with_its_offset(tmp_path: Path) -> None:
    gaps = SMALL.with_sentences(
        [replace(s, entities=s.entities[:1], complete=False) for s in SMALL]
    )
    settings = {**NEURAL, "training": {**NEURAL["training"], "epochs": 4}}
    fitted = {**settings, "decoding": {"offset": "dev"}}
    recogniser = lacuner.train(gaps, "span_ce", dev=SMALL, out=tmp_path / "run", settings=fitted)
    lacuner.train(gaps, "span_ce", dev=SMALL, out=tmp_path / "plain", settings=settings)
    rows = [row for row in _metrics(tmp_path / "run") if "dev" in row]
    plain = [row for row in _metrics(tmp_path / "plain") if "dev" in row]
    assert [row["unshifted"] for row in rows] == [row["dev"] for row in plain]
    assert all(row["dev"] >= row["unshifted"] for row in rows)
    assert max(row["dev"] for row in rows) > max(row["dev"] for row in plain)
    predictor = recogniser.predictor
    assert isinstance(predictor, NeuralPredictor)
    best = max(rows, key=lambda row: row["dev"])
    assert predictor.offset == best["offset"] != 0
    shy = lacuner.load(tmp_path / "run", offset=-50.0)
    assert not any(sentence.entities for sentence in shy.predict(SMALL))


def _metrics(folder: Path) -> list[dict[str, Any]]:
    return Run(folder).metrics()
