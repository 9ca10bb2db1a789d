"""RoSTER and BOND: what is their own, beside the stages that any recipe can have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lacuner import Corpus
from lacuner.demo import gold
from lacuner.objectives.label_removal import RARE
from lacuner.recipes import RECIPES, roster
from lacuner.recipes.stages import resolve
from lacuner.training.label_removal import LabelRemoval
from lacuner.training.run_folder import Run
from tests.recipes.staged_training import CORPUS, TRAINING, train
from tests.training.tiny_training import NoisyWords


@pytest.fixture(autouse=True)
def tiny_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipes get an encoder that is as small as can be."""
    monkeypatch.setattr("lacuner.recipes.parts.build_encoder", lambda *a, **k: NoisyWords())


def test_every_member_of_roster_drops_other_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = []

    class Watched(LabelRemoval):
        def __init__(self, *arguments: Any, seed: int, **named: Any) -> None:
            seeds.append(seed)
            super().__init__(*arguments, seed=seed, **named)

    monkeypatch.setattr(roster, "LabelRemoval", Watched)
    train(tmp_path / "run")
    assert len(set(seeds)) == 2
    rows = [row for row in Run(tmp_path / "run").metrics() if "dropped_words" in row]
    assert {row["stage"] for row in rows} == {"member-1.train", "member-2.train"}
    assert all(row["dropped_words"] > 0 for row in rows)


def test_bond_stops_early_by_steps_or_by_dev(tmp_path: Path) -> None:
    def steps(name: str, **more: Any) -> list[int]:
        train(tmp_path / name, "bond", ensemble={"members": 1}, self_training={"rounds": 0}, **more)
        return [r["step"] for r in Run(tmp_path / name).metrics() if "loss" in r or "dev" in r]

    assert steps("steps", early_stopping={"steps": 4}) == [4]
    still = {**TRAINING, "epochs": 5, "head_rate": 0.0}  # never gets better than at first
    patient = {"training": still, "early_stopping": {"steps": 1, "patience": 1}}
    assert steps("dev", dev=CORPUS, **patient) == [3, 6]


@pytest.mark.parametrize(
    ("recipe", "own"),
    [("roster", {"removal": {"interval": 12, "dropped": 0.0}}), ("bond", {}), ("nrces", {})],
)
def test_corpus_without_entity_trains_to_find_none(
    recipe: str, own: dict[str, Any], tmp_path: Path
) -> None:
    empty = Corpus(CORPUS.unlabelled().sentences, ("PER",))
    longer = {**TRAINING, "epochs": 8, "head_rate": 0.2}
    predictor = train(tmp_path / "run", recipe, corpus=empty, training=longer, **own)
    assert sum(len(sentence.entities) for sentence in predictor.predict(empty)) == 0


def test_type_with_one_mention_keeps_it(tmp_path: Path) -> None:
    # Two types, for the only one would always be certain; of one word each, which goes or stays.
    found = {
        entity.label: (number, entity)
        for number, sentence in enumerate(gold("train").sentences[: len(CORPUS)])
        for entity in sentence.entities
        if entity.end - entity.start == 1
    }
    (place, entity), (other_place, other) = list(found.values())[:2]
    sentences = list(CORPUS.unlabelled().sentences)
    assert place != other_place
    for number, only in ((place, entity), (other_place, other)):
        sentences[number] = replace(sentences[number], entities=(only,))

    def removed(name: str, rare: float) -> list[tuple[int, int]]:
        train(
            tmp_path / name, corpus=Corpus(tuple(sentences)), removal={"rare": rare},
            ensemble={"members": 1}, self_training={"rounds": 0},
        )  # fmt: skip
        rows = Run(tmp_path / name).metrics()
        return [(r["removed_types"], r["removed_outside"]) for r in rows if "removed_types" in r]

    kept = removed("kept", RARE)
    assert len(kept) > 1 and all(types == 0 for types, _ in kept)
    assert any(outside > 0 for _, outside in kept)
    assert any(types > 0 for types, _ in removed("gone", 1.0))  # no type is that rare


def test_defaults_are_those_of_the_papers() -> None:
    shown = resolve(RECIPES["roster"], {}).as_dict()
    assert shown["ensemble"]["members"] == 5
    assert shown["loss"]["q"] == 0.7
    assert shown["removal"]["threshold"] == 0.7
    own = resolve(RECIPES["bond"], {}).as_dict()["self_training"]
    assert (own["confidence"], own["interval"], own["targets"]) == (0.9, 450, "all")
