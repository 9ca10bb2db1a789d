"""An ensemble and self-training after any recipe: stopped anywhere, they come to the same end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from lacuner import Sentence
from lacuner.encoders import build_encoder
from lacuner.errors import UsageError
from lacuner.files import read_json
from lacuner.inference.predictor import NeuralPredictor
from lacuner.recipes import RECIPES
from lacuner.recipes.stages import resolve
from lacuner.settings import as_dict
from lacuner.training.loop import Interrupted
from lacuner.training.run_folder import Run
from tests.language_models import byte_pairs, word_piece, write_bert, write_roberta
from tests.recipes.staged_training import CORPUS, STAGES, STEPS, TRAINING, same, train, weights
from tests.training.tiny_training import NoisyWords


@pytest.fixture(autouse=True)
def tiny_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipes get an encoder that is as small as can be."""
    monkeypatch.setattr("lacuner.recipes.parts.build_encoder", lambda *a, **k: NoisyWords())


@pytest.mark.parametrize("recipe", ["roster", "nrces", "bond"])
def test_training_that_is_stopped_in_every_stage_comes_to_the_same_end(
    recipe: str, tmp_path: Path
) -> None:
    whole = weights(train(tmp_path / "whole", recipe))
    rows = Run(tmp_path / "whole").metrics()
    assert {row["stage"]: row["step"] for row in rows if "loss" in row} == STEPS
    for steps in (3, 5, 7, 7):  # in the midst of each of the four stages
        with pytest.raises(Interrupted):
            train(tmp_path / "cut", recipe, resume=(tmp_path / "cut").exists(), stop_after=steps)
        _make_it_a_kill(tmp_path / "cut", steps)
    assert same(whole, weights(train(tmp_path / "cut", recipe, resume=True)))
    assert Run(tmp_path / "cut").metrics() == rows


def _make_it_a_kill(run: Path, number: int) -> None:
    """Leaves behind what only a kill would: a view that no state has seen, a half-written file."""
    for stage in (run / "stages").iterdir():
        if (stage / "latest.json").exists():
            (stage / "view-999.npy").write_bytes(b"of a step that is made again")
            (stage / f".half-{number}").mkdir()


class Killed(BaseException):
    """Ends a training at once: nothing is saved."""


def test_training_that_is_killed_between_states_comes_to_the_same_end(tmp_path: Path) -> None:
    # States are saved at the end of epochs, after 3 and 6 steps; views are made after 2, 4 and 6.
    settings: dict[str, Any] = {
        "training": {**TRAINING, "checkpoint_steps": 100},
        "removal": {"interval": 2},
    }
    whole = weights(train(tmp_path / "whole", **settings))
    for steps in (5, 8, 8, 8):  # at step 5 of each stage: the view of 4 is there, its state is not
        left = iter(range(steps - 1, -1, -1))

        def kill(stage: str, event: Any, left: Any = left) -> None:
            if hasattr(event, "loss") and next(left) == 0:
                raise Killed

        resume = (tmp_path / "cut").exists()
        with pytest.raises(Killed):
            train(tmp_path / "cut", resume=resume, listeners=[kill], **settings)
    assert same(whole, weights(train(tmp_path / "cut", resume=True, **settings)))


def test_stage_that_is_finished_is_not_trained_again(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        train(tmp_path / "run", stop_after=20)
    seen: list[str] = []
    train(tmp_path / "run", resume=True, listeners=[lambda stage, event: seen.append(stage)])
    assert set(seen) == {"self_training-1"}
    seen.clear()
    train(tmp_path / "run", resume=True, listeners=[lambda stage, event: seen.append(stage)])
    assert not seen


def test_members_can_go_after_distillation(tmp_path: Path) -> None:
    whole = weights(train(tmp_path / "kept"))
    ensemble = {"members": 2, "keep_members": False}
    with pytest.raises(Interrupted):
        train(tmp_path / "run", ensemble=ensemble, stop_after=20)
    stages = tmp_path / "run" / "stages"
    assert sorted(path.name for path in stages.glob("member-*/*")) == ["done.json"] * 2
    assert not list(stages.glob("ensemble/*.npy"))
    assert same(whole, weights(train(tmp_path / "run", ensemble=ensemble, resume=True)))
    kept = [path.name for path in (tmp_path / "kept" / "stages").rglob("*") if path.is_file()]
    assert kept.count("result.safetensors") == 4
    assert not any(name.startswith("view") for name in kept)


def test_members_differ_and_share_one_tokenised_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = []
    tokenise = NoisyWords.tokenise

    def counted(self: NoisyWords, sentences: Any) -> list[Tensor]:
        times.append(len(sentences))
        return tokenise(self, sentences)

    monkeypatch.setattr(NoisyWords, "tokenise", counted)
    train(tmp_path / "run")
    assert times == [len(CORPUS)]
    first, second = (
        np.load(tmp_path / "run" / "stages" / "ensemble" / f"member-{number}.npy")
        for number in (1, 2)
    )
    assert first.dtype == np.float16 and not np.array_equal(first, second)


@pytest.mark.parametrize("recipe", sorted(RECIPES.keys() - {"dictionary", "supervised"}))
def test_every_recipe_with_a_network_offers_what_follows(recipe: str, tmp_path: Path) -> None:
    chosen = RECIPES[recipe]
    plain = resolve(chosen, {})
    assert plain.as_dict() == as_dict(chosen.settings())  # runs are described as ever
    if not chosen.distils:
        with pytest.raises(UsageError, match="ensemble"):
            resolve(chosen, STAGES)
        return
    shown = plain.as_dict(unused=True)
    assert {"ensemble", "self_training", "augmentation"} <= shown.keys()
    assert resolve(chosen, shown).as_dict() == plain.as_dict()
    used = resolve(chosen, STAGES).as_dict()
    assert used["ensemble"]["members"] == 2 and used["self_training"]["rounds"] == 1
    few = CORPUS.with_sentences(CORPUS.sentences[:8])
    train(tmp_path / "run", recipe, corpus=few, training={**TRAINING, "epochs": 1})
    assert (tmp_path / "run" / "stages" / "self_training-1" / "done.json").exists()


def test_augmentation_is_used_by_the_self_training_of_bond() -> None:
    resolved = resolve(RECIPES["bond"], {"augmentation": {"model": "some"}})
    assert resolved.stages.augmentation.model == "some"
    assert resolved.as_dict()["augmentation"]["model"] == "some"
    assert resolved.stages.self_training.targets == "all"


def test_dictionary_has_nothing_that_could_follow() -> None:
    with pytest.raises(UsageError, match="'ensemble'"):
        resolve(RECIPES["dictionary"], {"ensemble": {"members": 2}})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ensemble": {"members": 0}}, "at least 1"),
        ({"ensembles": {"members": 2}}, "Did you mean ensemble"),
        ({"self_training": {"round": 1}}, r"Did you mean self_training\.rounds"),
        ({"self_training": {"rounds": -1}}, "at least 0"),
        ({"self_training": {"targets": "type"}}, "Did you mean types"),
        ({"self_training": {"confidence": 2}}, "between 0 and 1"),
        ({"ensemble": {"epochs": 2}}, r"set ensemble\.members above 1"),
        ({"self_training": {"epochs": 2}}, r"set self_training\.rounds above 0"),
        ({"augmentation": {"model": "some"}}, r"set self_training\.rounds above 0"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_trained(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        resolve(RECIPES["nrces"], settings)


def test_language_model_that_is_none_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    seen: list[str] = []
    with pytest.raises(UsageError):
        train(
            tmp_path / "run",
            augmentation={"model": str(tmp_path / "nowhere")},
            listeners=[lambda stage, event: seen.append(stage)],
        )
    assert not seen


def test_self_training_says_when_it_goes_without_augmentation(tmp_path: Path) -> None:
    train(tmp_path / "run", ensemble={"members": 1})
    (found,) = read_json(tmp_path / "run" / "run.json")["findings"]
    assert "without augmented sentences" in found["remarks"][0]


class FakeAugmenter:
    """Says every word a little differently, and counts how often it was asked."""

    asked = 0

    def __init__(self, model: str, **arguments: Any) -> None:
        pass

    def augment(self, sentences: list[Sentence], seed: int) -> list[Sentence]:
        FakeAugmenter.asked += 1
        return [
            Sentence(s.id, tuple(f"{word}{seed % 7}" if n % 3 else word for n, word in
                                 enumerate(s.tokens)))
            for s in sentences
        ]  # fmt: skip


def test_augmented_sentences_are_made_once_and_survive_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lacuner.augmentation.Augmenter", FakeAugmenter)
    plain = weights(train(tmp_path / "plain", ensemble={"members": 1}))
    settings: dict[str, Any] = {"ensemble": {"members": 1}, "augmentation": {"model": "a model"}}
    whole = weights(train(tmp_path / "whole", **settings))
    assert not same(plain, whole)
    rows = [row for row in Run(tmp_path / "whole").metrics() if row["stage"] != "train"]
    assert all("augmented" in row for row in rows if "loss" in row)
    FakeAugmenter.asked = 0
    with pytest.raises(Interrupted):
        train(tmp_path / "cut", **settings, stop_after=9)
    assert same(whole, weights(train(tmp_path / "cut", **settings, resume=True)))
    assert FakeAugmenter.asked == 1


def test_masked_language_model_with_other_pieces_than_the_encoder_augments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lacuner.recipes.parts.build_encoder", build_encoder)
    text = [" ".join(sentence.tokens) for sentence in CORPUS]
    mine, other = word_piece(text, size=200), byte_pairs(text, size=600)
    words = sorted({word for sentence in CORPUS for word in sentence.tokens})
    assert any(len(mine.tokenize(word)) != len(other.tokenize(f" {word}")) for word in words)
    encoder = str(write_bert(tmp_path / "encoder", mine, head=False))
    model = str(write_roberta(tmp_path / "model", other))

    def augmented(name: str, rate: float, **more: Any) -> NeuralPredictor:
        return train(
            tmp_path / name, encoder={"name": encoder}, ensemble={"members": 1},
            augmentation={"model": model, "rate": rate}, **more,
        )  # fmt: skip

    with pytest.raises(Interrupted):
        augmented("run", 0.5, stop_after=8)
    made = read_json(tmp_path / "run" / "stages" / "self_training-1" / "augmented.json")
    assert [len(sentence) for sentence in made] == [len(sentence) for sentence in CORPUS]
    assert all(len(word.split()) == 1 for sentence in made for word in sentence)
    assert [tuple(sentence) for sentence in made] != [sentence.tokens for sentence in CORPUS]
    learnt = weights(augmented("run", 0.5, resume=True))
    (row,) = [r for r in Run(tmp_path / "run").metrics() if "augmented" in r]
    assert row["stage"] == "self_training-1" and row["augmented"] > 0
    # Where the second view has the same words, something else is learnt.
    assert not same(learnt, weights(augmented("alike", 0.0)))


def test_an_encoder_that_fills_gaps_augments_for_itself(tmp_path: Path) -> None:
    name = str(write_bert(tmp_path / "model"))
    own: dict[str, Any] = {"encoder": {"name": name}, "ensemble": {"members": 1}}
    mine, named = (
        weights(train(tmp_path / f"{n}", **own, augmentation={"model": model, "rate": 0.5}))
        for n, model in enumerate(("encoder", name))
    )
    plain = weights(train(tmp_path / "plain", **own))
    assert same(mine, named) and not same(mine, plain)


def test_rounds_follow_each_other_and_dev_chooses_in_all_stages(tmp_path: Path) -> None:
    own = {**STAGES["self_training"], "rounds": 2}
    train(tmp_path / "run", "token_ce", dev=CORPUS, self_training=own)
    scored = {row["stage"] for row in Run(tmp_path / "run").metrics() if "dev" in row}
    assert scored == {*STEPS, "self_training-2"}


def test_retrieval_and_thresholds_of_a_recipe_stay_with_what_follows(tmp_path: Path) -> None:
    model = {"features": "endpoints", "hidden": 8}
    found = train(tmp_path / "scl", "scl_rai", model=model, ensemble={"members": 1})
    assert found.retrieval is not None
    found = train(tmp_path / "nrces", "nrces", threshold=0.3, ensemble={"members": 1})
    assert set(found.thresholds.values()) == {0.3}
    shifted: dict[str, Any] = {"decoding": {"offset": 1.5}, "ensemble": {"members": 1}}
    assert train(tmp_path / "span_ce", "span_ce", **shifted).offset == 1.5
