"""`refill`: rounds that put labels back, resume, and leave alone what somebody vouches for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lacuner import Ambiguity, Corpus, Entity, Sentence
from lacuner.corpus.reading import read
from lacuner.demo import gold
from lacuner.errors import UsageError
from lacuner.inference.predictor import NeuralPredictor
from lacuner.labelling.masking import mask
from lacuner.recipes.gaps_by_name import settled
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
ROUNDS = {"held_back": 0.3, "unit": "mention", "members": 2}
STEPS = 12  # of a training


@pytest.fixture(autouse=True)
def tiny_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipes get an encoder that is as small as can be."""
    monkeypatch.setattr("lacuner.recipes.parts.build_encoder", lambda *a, **k: NoisyWords())


def _train(folder: Path, corpus: Corpus = MASKED.corpus, **arguments: Any) -> NeuralPredictor:
    return train_alone("refill", folder, corpus, **{"rounds": ROUNDS, **arguments})


# The short training has one of two epochs, 6 steps; then two models look, and the last one learns.
@pytest.mark.parametrize("after", [3, 6 + 4, 6 + STEPS + 3, 6 + 2 * STEPS + 5])
def test_killed_run_resumes_to_the_same_weights(after: int, tmp_path: Path) -> None:
    whole = weights(_train(tmp_path / "whole"))
    with pytest.raises(Killed):
        _train(tmp_path / "cut", listeners=[killed_after(after)])
    seen: list[str] = []
    resumed = _train(tmp_path / "cut", resume=True, listeners=[lambda stage, _: seen.append(stage)])
    assert same(whole, weights(resumed))
    looked = after <= 6 + 2 * STEPS  # a finished round is not made again
    assert ("member-2.train" in seen) == looked
    for name in ("filled.jsonl", "changes.jsonl", "gaps.json"):
        files = [tmp_path / run / "refill" / name for run in ("whole", "cut")]
        assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("after", [3, STEPS + 3, 2 * STEPS + 3])
def test_of_lists_noise_robust_taggers_look_and_judge(after: int, tmp_path: Path) -> None:
    own = {**ROUNDS, "unit": "name"}
    whole = weights(_train(tmp_path / "whole", rounds=own))
    with pytest.raises(Killed):
        _train(tmp_path / "cut", rounds=own, listeners=[killed_after(after)])
    assert same(whole, weights(_train(tmp_path / "cut", rounds=own, resume=True)))
    judged = tmp_path / "whole" / "stages" / "round-1" / "verdicts.jsonl"
    assert judged.read_bytes().count(b"\n") == MASKED.corpus.entity_count
    _train(tmp_path / "chance")  # where mentions are missing, nobody judges what is there
    assert not (tmp_path / "chance" / "stages" / "round-1" / "verdicts.jsonl").read_bytes()


@pytest.mark.parametrize("unit", ["name", "mention"])
def test_from_each_model_others_are_held_back(unit: str, tmp_path: Path) -> None:
    stages = set[str]()
    own = {**ROUNDS, "unit": unit}
    _train(tmp_path / "run", rounds=own, listeners=[lambda stage, _: stages.add(stage)])
    opening = {"opening.train"} if unit == "mention" else set()
    assert stages == {"member-1.train", "member-2.train", "train", *opening}
    kept = {path.parent.name for path in tmp_path.rglob("result.safetensors")}
    assert kept == {"train"}  # of the round nothing but what was found
    found = Round(Run(tmp_path / "run").stage("round-1"), 1, FillingSettings())
    assert 0.4 < found.gaps.held_back / (2 * MASKED.corpus.entity_count) / 0.3 < 1.6  # by each
    given = {(n, e.span) for n, s in enumerate(MASKED.corpus) for e in s.entities}
    assert not given & {(one.sentence, one.span) for one in found.candidates}


def test_the_last_model_learns_what_is_believed(tmp_path: Path) -> None:
    """It learns from probabilities, not from the labels that are written for people."""
    plain = weights(_train(tmp_path / "plain"))
    others = weights(_train(tmp_path / "others", filling={"sure": 0.3, "doubt": 0.2}))
    assert same(plain, others)
    changed = Round(Run(tmp_path / "plain").stage("round-1"), 1, FillingSettings()).beliefs
    array = np.load(changed)
    assert array.shape == (sum(map(len, MASKED.corpus)), 1 + 4 * len(MASKED.corpus.labels))
    assert array.astype(float).sum(1) == pytest.approx(np.ones(len(array)), abs=5e-3)


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
    assert any(f"{count:,} labels are put back" in remark for remark in remarks)
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


def test_labels_of_a_list_that_are_not_believed_are_taken_out(tmp_path: Path) -> None:
    half = SOME.with_sentences([*SOME.vouched().sentences[:24], *MASKED.corpus.sentences[24:]])
    many = {**ROUNDS, "unit": "name", "held_back": 0.6}  # so that verdicts count
    _train(tmp_path / "kept", corpus=half, rounds=many, filling={"wrong": 0.0})
    judging = Round(Run(tmp_path / "kept").stage("round-1"), 1, FillingSettings())
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


def test_doubts_of_a_list_are_unknown_to_the_last_model() -> None:
    words = ("Ada", "of", "Oslo", "and", "Holt", "left")
    doubt, some = Ambiguity(2, 3, (), "refill:1:doubt"), Ambiguity(4, 5, ("PER", "LOC"), "a list")
    labelled = Sentence("a", words, (Entity(0, 1, "PER"),), ambiguous=(doubt, some))
    complete = Sentence("b", words, complete=True)
    now, same_one = settled(Corpus((labelled, complete), ("LOC", "PER")))
    assert now.outside == ((1, 2), (3, 4), (5, 6)) and now.ambiguous == (some,)
    assert now.entities == labelled.entities and same_one == complete


def test_a_single_sentence_can_be_learnt(tmp_path: Path) -> None:
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
    assert seen == {"opening.train", "member-1.train", "member-2.train", "train"}
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
        {"held_back": 0.0},
        {"held_back": 1.0},
        {"unit": "word"},
        {"members": 0},
    ],
)
def test_impossible_rounds_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="rounds"):
        resolve(REFILL, {"rounds": wrong})
