"""`refill`: rounds that put labels back, resume, and leave alone what somebody vouches for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lacuner import Corpus, Entity, Sentence
from lacuner.corpus.reading import read
from lacuner.demo import gold
from lacuner.errors import UsageError
from lacuner.inference.predictor import NeuralPredictor
from lacuner.labelling.masking import mask
from lacuner.models.span_classifier import SpanClassifier
from lacuner.recipes.refill import REFILL
from lacuner.recipes.stages import resolve
from lacuner.refilling.filling import FillingSettings, is_added, wrong_labels
from lacuner.refilling.gap_estimate import GapEstimate
from lacuner.refilling.outcome import filled_file, read_changes, read_gaps
from lacuner.refilling.rounds import Round
from lacuner.training.run_folder import Run
from tests.recipes.staged_training import (
    TRAINING,
    Killed,
    killed_after,
    same,
    train_alone,
    weights,
)
from tests.training.tiny_training import NoisyWords

SOME = gold("train").with_sentences(gold("train").sentences[:48])
MASKED = mask(SOME, 0.5, np.random.default_rng(0))
ROUNDS = {"held_back": 0.3, "unit": "mention"}
STEPS = 12  # of a training


@pytest.fixture(autouse=True)
def tiny_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipes get an encoder that is as small as can be."""
    monkeypatch.setattr("lacuner.recipes.parts.build_encoder", lambda *a, **k: NoisyWords())


def _train(folder: Path, corpus: Corpus = MASKED.corpus, **arguments: Any) -> NeuralPredictor:
    return train_alone("refill", folder, corpus, **{"rounds": ROUNDS, **arguments})


# A round of folds: each half has 3 steps an epoch, and 3 epochs in place of 2.
@pytest.mark.parametrize("after", [3, STEPS, STEPS + 3, STEPS + 9 + 3, STEPS + 18 + 5])
def test_killed_run_resumes_to_the_same_weights_in_every_round(after: int, tmp_path: Path) -> None:
    whole = weights(_train(tmp_path / "whole"))
    with pytest.raises(Killed):
        _train(tmp_path / "cut", listeners=[killed_after(after)])
    seen: list[str] = []
    resumed = _train(tmp_path / "cut", resume=True, listeners=[lambda stage, _: seen.append(stage)])
    assert same(whole, weights(resumed))
    assert ("round-1.train" in seen) == (after <= STEPS)  # a finished round is not made again
    for name in ("filled.jsonl", "changes.jsonl", "gaps.json"):
        files = [tmp_path / run / "refill" / name for run in ("whole", "cut")]
        assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("after", [3, STEPS])
def test_of_lists_a_tagger_makes_the_first_round_and_resumes(after: int, tmp_path: Path) -> None:
    own = {**ROUNDS, "unit": "name", "count": 2}
    whole = weights(_train(tmp_path / "whole", rounds=own))
    with pytest.raises(Killed):
        _train(tmp_path / "cut", rounds=own, listeners=[killed_after(after)])
    assert same(whole, weights(_train(tmp_path / "cut", rounds=own, resume=True)))
    stages = tmp_path / "whole" / "stages"
    first, second = ((stages / f"round-{n}" / "verdicts.jsonl").read_bytes() for n in (1, 2))
    assert first.count(b"\n") == second.count(b"\n") == MASKED.corpus.entity_count
    _train(tmp_path / "chance")  # where mentions are missing, a model judges no label it learnt
    assert not (tmp_path / "chance" / "stages" / "round-1" / "verdicts.jsonl").read_bytes()


@pytest.mark.parametrize("unit", ["name", "mention"])
def test_members_look_together_and_resume(unit: str, tmp_path: Path) -> None:
    own = {**ROUNDS, "unit": unit, "members": 2}
    stages = set[str]()
    whole = weights(
        _train(tmp_path / "whole", rounds=own, listeners=[lambda stage, _: stages.add(stage)])
    )
    assert stages == {"round-1-1.train", "round-1-2.train", "train"}
    with pytest.raises(Killed):
        _train(tmp_path / "cut", rounds=own, listeners=[killed_after(STEPS + 3)])
    assert same(whole, weights(_train(tmp_path / "cut", rounds=own, resume=True)))
    assert not list((tmp_path / "whole" / "stages").glob("round-1-*/*.safetensors"))
    found = Round(Run(tmp_path / "whole").stage("round-1"), 1, FillingSettings())
    assert 0.4 < found.gaps.held_back / (2 * MASKED.corpus.entity_count) / 0.3 < 1.6  # by each
    given = {(n, e.span) for n, s in enumerate(MASKED.corpus) for e in s.entities}
    assert not given & {(one.sentence, one.span) for one in found.candidates}


def test_members_look_at_spans_of_one_width_though_not_all_saw_the_longest(tmp_path: Path) -> None:
    first, *rest = MASKED.corpus.sentences
    tokens = tuple(f"w{number}" for number in range(14))
    longest = Sentence(first.id, tokens, (Entity(0, 13, MASKED.corpus.labels[0]),))
    corpus = Corpus((longest, *rest), MASKED.corpus.labels)
    own = {"held_back": 0.5, "unit": "mention", "members": 3}
    predictor = _train(tmp_path / "run", corpus=corpus, rounds=own)
    assert isinstance(predictor.model, SpanClassifier) and predictor.model.max_width == 13


def test_outcome_is_the_given_labels_and_more_with_scores_and_measures(tmp_path: Path) -> None:
    training = {**TRAINING, "epochs": 12}
    lenient = {"sure": 0.3, "certain": 0.0, "wrong": 0.0}
    _train(tmp_path / "run", hidden=MASKED.hidden, training=training, filling=lenient)
    filled = read(filled_file(tmp_path / "run"))
    for given, now in zip(MASKED.corpus, filled, strict=True):
        assert set(given.entities) <= set(now.entities)
        added = set(now.entities) - set(given.entities)
        assert all(map(is_added, added)) and all(0 < (e.score or 0) < 1 for e in added)
    facts = read_gaps(tmp_path / "run")
    changes = read_changes(tmp_path / "run")
    count = filled.entity_count - MASKED.corpus.entity_count
    assert count == sum(change.action == "added" for change in changes) > 0
    last = facts["rounds"][-1]
    remarks = Run(tmp_path / "run").remarks
    assert any(f"round 2: {count:,} labels are put back" in remark for remark in remarks)
    assert last["added"] == count and last["measured"]["hidden"] == MASKED.hidden.entity_count
    right = sum(
        entity.key in {e.key for e in gone.entities}
        for now, gone in zip(filled, MASKED.hidden, strict=True)
        for entity in now.entities
        if is_added(entity)
    )
    assert last["measured"]["precision"] == pytest.approx(right / count)
    assert sum(row["given"] for row in facts["labels"].values()) == MASKED.corpus.entity_count
    assert facts["estimate"]["held_back"] > 0


def test_nothing_changes_in_complete_sentences(tmp_path: Path) -> None:
    half = SOME.with_sentences([*SOME.vouched().sentences[:24], *MASKED.corpus.sentences[24:]])
    _train(tmp_path / "run", corpus=half, filling={"sure": 0.2, "certain": 0.0, "doubt": 0.1})
    filled = read(filled_file(tmp_path / "run"))
    assert filled.sentences[:24] == half.sentences[:24]
    assert {change.id for change in read_changes(tmp_path / "run")} <= {
        sentence.id for sentence in half.sentences[24:]
    }


def test_each_half_is_looked_at_by_who_learnt_from_the_other(tmp_path: Path) -> None:
    stages = set[str]()
    _train(tmp_path / "run", listeners=[lambda stage, _: stages.add(stage)])
    assert stages == {"round-1.train", "round-2-1.train", "round-2-2.train", "train"}
    kept = {path.parent.name for path in tmp_path.rglob("result.safetensors")}
    assert kept == {"train"}  # of the rounds nothing but what they found
    stages.clear()
    _train(tmp_path / "list", rounds={**ROUNDS, "unit": "name"},
           listeners=[lambda stage, _: stages.add(stage)])  # fmt: skip
    assert stages == {"round-1.train", "train"}
    stages.clear()
    own = {**ROUNDS, "folds": 1, "count": 3}
    _train(tmp_path / "alone", rounds=own, listeners=[lambda stage, _: stages.add(stage)])
    assert stages == {"round-1.train", "round-2.train", "round-3.train", "train"}


def test_labels_that_the_other_half_does_not_believe_are_taken_out(tmp_path: Path) -> None:
    half = SOME.with_sentences([*SOME.vouched().sentences[:24], *MASKED.corpus.sentences[24:]])
    many = {**ROUNDS, "held_back": 0.6}  # so that verdicts count
    _train(tmp_path / "kept", corpus=half, rounds=many, filling={"wrong": 0.0})
    judging = Round(Run(tmp_path / "kept").stage("round-2"), 2, FillingSettings())
    assert len(judging.verdicts) == sum(len(sentence.entities) for sentence in half.sentences[24:])
    beliefs = [one.chance(judging.gaps) * one.given.certainty for one in judging.verdicts]
    wrong = float(np.quantile(beliefs, 0.3))
    out = wrong_labels(judging.verdicts, judging.gaps, FillingSettings(wrong=wrong))
    assert out
    _train(tmp_path / "run", corpus=half, rounds=many, filling={"wrong": wrong})
    filled, changed = read(filled_file(tmp_path / "run")), read_changes(tmp_path / "run")
    assert filled.sentences[:24] == half.sentences[:24]  # somebody vouches for these
    for one in out:
        left = filled.sentences[one.given.sentence].entities
        assert not any(e.key == one.given.key and not is_added(e) for e in left)
    removed = [change for change in changed if change.action == "removed"]
    assert len(removed) == len(out) == read_gaps(tmp_path / "run")["rounds"][-1]["removed"]
    assert not read_gaps(tmp_path / "run")["rounds"][0]["removed"]  # its model has seen them
    alone = {**many, "folds": 1}
    _train(tmp_path / "alone", corpus=half, rounds=alone, filling={"wrong": 1.0})
    assert not any(change.action == "removed" for change in read_changes(tmp_path / "alone"))


def test_a_single_sentence_has_no_halves(tmp_path: Path) -> None:
    one = Corpus((Sentence("a", ("Ada", "slept"), (Entity(0, 1, "PER"),)),), ("PER",))
    _train(tmp_path / "run", corpus=one)


def test_gold_is_learnt_without_rounds(tmp_path: Path) -> None:
    seen: list[str] = []
    _train(tmp_path / "run", corpus=SOME.vouched(), listeners=[lambda s, _: seen.append(s)])
    assert set(seen) == {"train"} and not (tmp_path / "run" / "refill").exists()


def test_where_hardly_any_is_missing_labels_are_learnt_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = GapEstimate(0.0, 0.1, 0.0, 0.5, 20)
    monkeypatch.setattr("lacuner.refilling.rounds.estimate_gaps", lambda *_, **__: few)
    seen, many = set[str](), {**ROUNDS, "held_back": 0.6}
    _train(tmp_path / "run", rounds=many, listeners=[lambda stage, _: seen.add(stage)])
    assert seen == {"round-1.train", "train"}
    assert read(filled_file(tmp_path / "run")).entity_count == MASKED.corpus.entity_count
    assert not read_changes(tmp_path / "run")
    assert any("learnt as they are" in remark for remark in Run(tmp_path / "run").remarks)


def test_rejected_spans_and_words_outside_stay_so(tmp_path: Path) -> None:
    known = MASKED.corpus.with_sentences(
        Sentence(s.id, s.tokens, s.entities, outside=_without_entities(s)) for s in MASKED.corpus
    )
    settings = {"sure": 0.2, "certain": 0.0, "doubt": 0.1, "wrong": 0.0}
    _train(tmp_path / "run", corpus=known, filling=settings)
    assert read(filled_file(tmp_path / "run")).entity_count == known.entity_count
    assert not read_changes(tmp_path / "run")


def _without_entities(sentence: Sentence) -> tuple[tuple[int, int], ...]:
    taken = {word for e in sentence.entities for word in range(e.start, e.end)}
    return tuple((word, word + 1) for word in range(len(sentence)) if word not in taken)


def test_a_corpus_of_few_labels_is_still_learnt_and_says_that_gaps_are_not_known(
    tmp_path: Path,
) -> None:
    few = Corpus(
        (
            Sentence("a", ("Ada", "slept", "."), (Entity(0, 1, "PER"),)),
            Sentence("b", ("Who", "?")),
            Sentence("empty", ()),
        ),
        ("PER",),
    )
    _train(tmp_path / "run", corpus=few)
    assert read_gaps(tmp_path / "run")["estimate"]["missing"] is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"count": 0},
        {"folds": 0},
        {"held_back": 0.0},
        {"held_back": 1.0},
        {"unit": "word"},
        {"members": 0},
        {"members": 2, "count": 2},
    ],
)
def test_impossible_rounds_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="rounds"):
        resolve(REFILL, {"rounds": wrong})
