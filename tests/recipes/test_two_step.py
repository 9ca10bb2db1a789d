"""Both steps of `two_step`: what is explored, removed, resumed and refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lacuner import Corpus, Entity, Sentence
from lacuner.demo import gold
from lacuner.errors import DataError, UsageError
from lacuner.inference.predictor import NeuralPredictor
from lacuner.labelling.masking import mask
from lacuner.models.targets import tag_targets
from lacuner.models.token_tagger import TokenTagger
from lacuner.recipes import RECIPES, two_step
from lacuner.recipes.exploration import ExplorationSettings, shown_labels, with_doubts
from lacuner.recipes.stages import resolve
from lacuner.recipes.two_step import TWO_STEP
from lacuner.training.loop import Interrupted
from lacuner.training.removed_words import ROWS, RemovedRow, read_removed, read_summary
from lacuner.training.run_folder import Run
from tests.neural import batch_of
from tests.recipes.staged_training import (
    Killed,
    killed_after,
    same,
    train_alone,
    weights,
)
from tests.training.tiny_training import NoisyWords

MASKED = mask(
    gold("train").with_sentences(gold("train").sentences[:48]), 0.5, np.random.default_rng(0)
)
STEPS = 6  # an epoch
SMALL: dict[str, Any] = {
    "token_ce": {},
    "bond": {"self_training": {"epochs": 1}},
    "roster": {"ensemble": {"members": 2}, "self_training": {"epochs": 1}},
}


@pytest.fixture(autouse=True)
def tiny_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipes get an encoder that is as small as can be."""
    monkeypatch.setattr("lacuner.recipes.parts.build_encoder", lambda *a, **k: NoisyWords())


def _train(folder: Path, corpus: Corpus = MASKED.corpus, **arguments: Any) -> NeuralPredictor:
    """A training that also draws non-entities, unless it is told not to."""
    return train_alone("two_step", folder, corpus, **{"sampling": {"gamma": 0.1}, **arguments})


@pytest.mark.parametrize(
    ("model", "after"),
    [
        ({}, 3),
        ({}, 2 * STEPS + 3),
        ({"head": "softmax", "scheme": "bio", "angle": False}, 2 * STEPS),
        ({"head": "softmax", "scheme": "bio", "angle": False}, 2 * STEPS + 3),
    ],
)
def test_killed_run_resumes_to_the_same_weights_in_both_stages(
    model: dict[str, Any], after: int, tmp_path: Path
) -> None:
    whole = weights(_train(tmp_path / "whole", model=model))
    with pytest.raises(Killed):
        _train(tmp_path / "cut", model=model, listeners=[killed_after(after)])
    explored = tmp_path / "cut" / "stages" / "explore" / ROWS
    assert explored.exists() == (after > 2 * STEPS)
    seen: list[str] = []
    resumed = _train(
        tmp_path / "cut", model=model, resume=True, listeners=[lambda stage, _: seen.append(stage)]
    )
    assert same(whole, weights(resumed))
    assert ("explore" in seen) == (after <= 2 * STEPS)  # a finished stage is not trained again
    assert explored.read_bytes() == (tmp_path / "whole" / "stages" / "explore" / ROWS).read_bytes()


def test_kill_between_the_stages_finds_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = weights(_train(tmp_path / "whole"))

    def kill(*arguments: Any, **named: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(two_step, "keep_removed", kill)
        _train(tmp_path / "cut")
    assert same(whole, weights(_train(tmp_path / "cut", resume=True)))


def test_asked_to_stop_while_exploring_it_goes_on_as_if_it_had_not(tmp_path: Path) -> None:
    whole = weights(_train(tmp_path / "whole"))
    left = iter(range(5, -1, -1))
    with pytest.raises(Interrupted):
        _train(tmp_path / "cut", stopped=lambda: next(left) == 0)
    assert same(whole, weights(_train(tmp_path / "cut", resume=True)))


def test_removed_words_are_the_share_that_is_asked_for_and_are_measured(tmp_path: Path) -> None:
    _train(tmp_path / "run", hidden=MASKED.hidden, exploration={"ell": 0.1, "n": 1})
    folder = tmp_path / "run" / "stages" / "explore"
    summary = read_summary(folder)
    words = sum(len(row.words) for row in read_removed(folder))
    assert words == summary["removed"] == -(-summary["candidates"] // 10)
    assert not summary["auto"] and summary["expected"] is None
    hit = sum(row.is_hidden(word) for row in read_removed(folder) for word in row.words)
    assert summary["measured"]["precision"] == pytest.approx(hit / words)
    assert summary["measured"]["recall"] == pytest.approx(hit / summary["measured"]["hidden_words"])
    assert not (folder / "result.safetensors").exists()  # asked, and not needed any more
    rows = [row for row in Run(tmp_path / "run").metrics() if "drawn" in row]
    assert [row["removed"] for row in rows] == [words, words]  # in both epochs of step 2
    assert all(row["drawn"] > 48 for row in rows)
    assert any("show-removed" in remark for remark in Run(tmp_path / "run").remarks)


def test_auto_chooses_a_share_by_what_is_held_back(tmp_path: Path) -> None:
    predictor = _train(tmp_path / "run", exploration={"held_back": 0.7})
    summary = read_summary(tmp_path / "run" / "stages" / "explore")
    assert summary["auto"] and summary["expected"]["share"] == summary["ell"]
    assert 0 < summary["expected"]["recall"] <= 1
    assert summary["removed"] == pytest.approx(summary["ell"] * summary["candidates"], abs=1)
    assert isinstance(predictor.model, TokenTagger) and predictor.model.silent == 4
    assert predictor.labels == MASKED.corpus.labels
    found = {e.label for s in predictor.predict(MASKED.corpus) for e in s.entities}
    assert found <= set(MASKED.corpus.labels)


def test_held_back_entities_are_those_of_incomplete_sentences_only() -> None:
    auto = ExplorationSettings(held_back=0.5)
    shown = shown_labels(MASKED.corpus, auto, seed=1)
    assert 0.2 < shown.entity_count / MASKED.corpus.entity_count < 0.8
    assert shown_labels(MASKED.corpus, auto, seed=1) == shown
    complete = MASKED.corpus.vouched()
    assert shown_labels(complete, auto, seed=1) == complete
    assert shown_labels(MASKED.corpus, ExplorationSettings(ell=0.1), seed=1) is MASKED.corpus


def test_complete_sentences_and_words_outside_are_never_removed(tmp_path: Path) -> None:
    first, second, *rest = MASKED.corpus.sentences
    trusted = Sentence(second.id, second.tokens, second.entities, outside=((0, len(second)),))
    known = Corpus((Sentence(first.id, first.tokens, complete=True), trusted, *rest))
    _train(tmp_path / "run", corpus=known, exploration={"ell": 0.9, "n": 1})
    removed = {row.sentence.id for row in read_removed(tmp_path / "run" / "stages" / "explore")}
    assert len(removed) > 40 and not removed & {first.id, second.id}
    assert _train(tmp_path / "gold", corpus=MASKED.corpus.vouched())
    assert read_summary(tmp_path / "gold" / "stages" / "explore")["removed"] == 0


def test_share_that_empties_sentences_says_so_and_loses_no_label(tmp_path: Path) -> None:
    _train(tmp_path / "run", exploration={"ell": 0.999, "n": 1})
    summary = read_summary(tmp_path / "run" / "stages" / "explore")
    assert summary["emptied_sentences"] > 40
    text = (tmp_path / "run" / "run.json").read_text()
    assert "only its labels teach" in text and "smaller exploration.ell" in text
    [lost] = [found["lost"] for found in json.loads(text)["findings"] if found["lost"]]
    labels = {sentence.id: len(sentence.entities) for sentence in MASKED.corpus}
    emptied = {
        row.sentence.id
        for row in read_removed(tmp_path / "run" / "stages" / "explore")
        if len(row.words) + sum(e.end - e.start for e in row.sentence.entities) == len(row.sentence)
    }
    assert {kind.rpartition(": ")[2]: count for kind, count in lost.items()} == {
        "only its labels teach": sum(labels[one] > 0 for one in emptied),
        "it teaches nothing": sum(labels[one] == 0 for one in emptied),
    }


def test_lost_file_of_removed_words_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        _train(tmp_path / "run", listeners=[killed_after(2 * STEPS + 3)])
    (tmp_path / "run" / "stages" / "explore" / ROWS).unlink()
    with pytest.raises(DataError, match=r"removed\.jsonl: the words .* are gone.* --overwrite"):
        _train(tmp_path / "run", resume=True)


def test_ablations_leave_out_one_part_each(tmp_path: Path) -> None:
    plain = _train(tmp_path / "no-removal", exploration={"ell": 0.0})
    assert {row["stage"] for row in Run(tmp_path / "no-removal").metrics()} == {"train"}
    assert isinstance(plain.model, TokenTagger) and plain.model.silent and plain.model.angle
    bare = _train(tmp_path / "bare", sampling={}, model={"angle": False})
    assert isinstance(bare.model, TokenTagger)
    assert not bare.model.silent and not bare.model.angle


def test_corpus_with_few_labels_takes_the_smallest_share_and_says_why(tmp_path: Path) -> None:
    first, *rest = MASKED.corpus.unlabelled().sentences
    labelled = Sentence(first.id, first.tokens, (Entity(0, 1, "PER"),))
    _train(tmp_path / "run", corpus=Corpus((labelled, *rest)))
    assert read_summary(tmp_path / "run" / "stages" / "explore")["ell"] == 0.1 / 32
    assert any("smallest of the grid" in remark for remark in Run(tmp_path / "run").remarks)


@pytest.mark.parametrize("recipe", SMALL)
def test_exploration_comes_before_other_taggers_and_is_resumed(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt_from: list[Corpus] = []
    plain = RECIPES[recipe].train

    def watched(corpus: Corpus, *rest: Any) -> Any:
        learnt_from.append(corpus)
        return plain(corpus, *rest)

    monkeypatch.setitem(RECIPES, recipe, replace(RECIPES[recipe], train=watched))
    settings = {"exploration": {"ell": 0.1, "n": 1}, **SMALL[recipe]}
    whole = weights(train_alone(recipe, tmp_path / "whole", MASKED.corpus, **settings))
    removed = {
        row.sentence.id: row.words for row in read_removed(tmp_path / "whole/stages/explore")
    }
    assert len(removed) > 10
    for sentence in learnt_from[0]:
        assert tuple(one.start for one in sentence.ambiguous) == removed.get(sentence.id, ())
    with pytest.raises(Killed):
        train_alone(
            recipe, tmp_path / "cut", MASKED.corpus, listeners=[killed_after(STEPS + 3)], **settings
        )
    resumed = train_alone(recipe, tmp_path / "cut", MASKED.corpus, resume=True, **settings)
    assert same(whole, weights(resumed))


def test_words_in_doubt_teach_a_tagger_nothing() -> None:
    rows = [RemovedRow(MASKED.corpus.sentences[0], (1, 3), (0.0, 0.0))]
    doubted = with_doubts(MASKED.corpus, rows)
    assert [one.span for one in doubted.sentences[0].ambiguous] == [(1, 2), (3, 4)]
    assert doubted.sentences[1:] == MASKED.corpus.sentences[1:]
    model = TokenTagger(NoisyWords(), MASKED.corpus.labels)
    batch = batch_of(doubted.sentences[:1], doubted.labels, model.encoder)
    _, settled = tag_targets(batch, model.tag_set)
    assert (~settled[0]).nonzero().flatten().tolist() == [1, 3]


def test_exploration_is_offered_where_missing_labels_are_taken_for_o() -> None:
    with pytest.raises(UsageError, match="no setting 'exploration'"):
        resolve(RECIPES["partial_crf"], {"exploration": {"ell": 0.1}})
    with pytest.raises(UsageError, match="nothing uses it: set exploration"):
        resolve(RECIPES["token_ce"], {"exploration": {"n": 3}})
    assert "exploration" not in resolve(RECIPES["token_ce"], {}).as_dict()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"exploration": {"ell": 1.0}}, "below 1"),
        ({"exploration": {"ell": -0.1}}, "at least 0"),
        ({"exploration": {"ell": "aut"}}, "or 'auto'"),
        ({"exploration": {"n": 0}}, "at least 1 epoch"),
        ({"exploration": {"held_back": 1.0}}, "between 0 and 1"),
        ({"sampling": {"gamma": 2.0}}, "between 0 and 1"),
        ({"model": {"head": "two_part"}}, "softmax"),
        ({"model": {"scheme": "io"}}, "Did you mean bio"),
    ],
)
def test_wrong_settings_are_one_sentence(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        resolve(TWO_STEP, settings)
