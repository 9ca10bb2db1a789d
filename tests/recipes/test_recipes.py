"""Every recipe trains for real, learns, is saved whole, and resumes to the same weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lacuner
from lacuner import Corpus, Sentence
from lacuner.corpus.alignment import aligned
from lacuner.corpus.splits import concatenate
from lacuner.demo import gold
from lacuner.errors import UsageError
from lacuner.evaluation.scores import score_entities
from lacuner.labelling.masking import mask
from lacuner.recipes import RECIPES
from lacuner.training.loop import Interrupted
from lacuner.training.run_folder import Run
from tests.language_models import word_piece, write_bert

# Every sentence twice, so that no word is seen once only: those train the unknown word.
SMALL = concatenate([gold("train").with_sentences(gold("train").sentences[:30])] * 2)
NEURAL: dict[str, Any] = {
    "encoder": {"name": "bilstm"},
    "training": {"epochs": 15, "head_rate": 1e-2, "batch_size": 8},
}
STOPPABLE: dict[str, Any] = {**NEURAL["training"], "epochs": 2, "checkpoint_steps": 3}
FEWER_EPOCHS = {"training": {**NEURAL["training"], "epochs": 9}}
MORE_EPOCHS = {"training": {**NEURAL["training"], "epochs": 24}}
# Few models, so that tests of what takes many are quick.
FEW: dict[str, Any] = {
    "roster": {"ensemble": {"members": 2}, "self_training": {"epochs": 1}},
    "bond": {"early_stopping": {"patience": 15}, "self_training": {"epochs": 1}},
    "biaffine": {"context": {"layers": 1, "hidden": 32, "dropout": 0.0}},
}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("dictionary", {}),
    ("token_ce", NEURAL),
    ("token_ce", {**NEURAL, "model": {"head": "crf", "scheme": "bioes"}}),
    ("span_ce", NEURAL),
    ("span_ce", {**NEURAL, "model": {"features": "biaffine"}}),
    ("negative_sampling", NEURAL),
    ("weighted_negative_sampling", NEURAL),
    ("weighted_negative_sampling", {**NEURAL, "sampling": {"form": "printed"}}),
    ("nrces", NEURAL),
    ("scl_rai", NEURAL),
    ("scl_rai", {**NEURAL, "sampling": {"sampler": "weighted"}}),
    ("supervised", NEURAL),
    ("partial_crf", {**NEURAL, **FEWER_EPOCHS}),
    ("fuzzy_crf", {**NEURAL, **FEWER_EPOCHS}),
    ("weighted_partial_crf", {**NEURAL, **FEWER_EPOCHS, "folds": {"rounds": 1}}),
    ("expected_entity_ratio", {**NEURAL, **FEWER_EPOCHS}),
    ("bond", {**NEURAL, **FEW["bond"]}),
    ("roster", {**NEURAL, **FEW["roster"]}),
    ("refill", {**NEURAL, **MORE_EPOCHS}),
    ("auto_ner", NEURAL),
    ("pu_learning", NEURAL),
    ("biaffine", {**NEURAL, **MORE_EPOCHS, **FEW["biaffine"]}),
    ("mrc", {**NEURAL, **MORE_EPOCHS}),
    ("two_step", {**NEURAL, "exploration": {"n": 1}, "sampling": {"gamma": 0.1}}),
    ("two_step", {**NEURAL, "model": {"head": "softmax"}}),
]
SAMPLING = ("negative_sampling", "weighted_negative_sampling", "nrces", "scl_rai")


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny transformer for the recipe that needs one."""
    words = word_piece([" ".join(sentence.tokens) for sentence in SMALL], size=1500)
    folder = tmp_path_factory.mktemp("models") / "bert"
    return write_bert(folder, words, head=False, positions=160)


def _readable(recipe: str, settings: dict[str, Any], bert: Path) -> dict[str, Any]:
    """The settings with an encoder that the recipe can use: questions take a transformer."""
    if recipe != "mrc":
        return settings
    training = {**settings["training"], "encoder_rate": 3e-3, "head_rate": 5e-3}
    return {**settings, "training": training, "encoder": {"name": str(bert), "freeze": "none"}}


def test_variants_cover_every_recipe() -> None:
    assert {name for name, _ in VARIANTS} == set(RECIPES)


@pytest.mark.parametrize(
    ("recipe", "settings"), VARIANTS, ids=lambda v: v if isinstance(v, str) else ""
)
def test_recipe_learns_and_is_saved_whole(
    recipe: str, settings: dict[str, Any], tmp_path: Path, bert: Path
) -> None:
    settings = _readable(recipe, settings, bert)
    recogniser = lacuner.train(SMALL, recipe, dev=SMALL, out=tmp_path / "run", settings=settings)
    predicted = recogniser.predict(SMALL)
    assert score_entities(aligned(predicted, SMALL)).total.f1 > 0.7
    again = lacuner.load(tmp_path / "run").predict(SMALL)
    for first, second in zip(predicted, again, strict=True):
        assert [e.key for e in first.entities] == [e.key for e in second.entities]
        assert all(e.score is None or 0 <= e.score <= 1 for e in first.entities)


@pytest.mark.parametrize("recipe", sorted(RECIPES.keys() - {"dictionary"}))
def test_stopped_recipe_resumes_to_the_same_weights(
    recipe: str, tmp_path: Path, bert: Path
) -> None:
    settings = {**NEURAL, "training": STOPPABLE, **FEW.get(recipe, {})}
    settings = _readable(recipe, settings, bert)
    lacuner.train(SMALL, recipe, out=tmp_path / "whole", settings=settings)
    left = iter(range(5, -1, -1))
    with pytest.raises(Interrupted):
        lacuner.train(
            SMALL, recipe, out=tmp_path / "cut", settings=settings, stopped=lambda: next(left) == 0
        )
    lacuner.train(SMALL, recipe, out=tmp_path / "cut", settings=settings, resume=True)
    weights = Path("model") / "weights.safetensors"
    assert (tmp_path / "whole" / weights).read_bytes() == (tmp_path / "cut" / weights).read_bytes()


@pytest.mark.parametrize("recipe", SAMPLING)
def test_stopped_recipe_counts_missampling_as_if_it_had_not_been(
    recipe: str, tmp_path: Path
) -> None:
    masked = mask(SMALL, 0.5, np.random.default_rng(0))
    settings = {**NEURAL, "training": STOPPABLE}

    def train(name: str, **options: Any) -> list[dict[str, Any]]:
        lacuner.train(
            masked.corpus, recipe, out=tmp_path / name, settings=settings, hidden=masked.hidden,
            **options,
        )  # fmt: skip
        return [row for row in Run(tmp_path / name).metrics() if "drawn" in row]

    whole = train("whole")
    assert [row["epoch"] for row in whole] == [1.0, 2.0]
    assert all(0 < row["missampled"] < row["drawn"] for row in whole)
    left = iter(range(5, -1, -1))
    with pytest.raises(Interrupted):
        train("cut", stopped=lambda: next(left) == 0)
    assert train("cut", resume=True) == whole


def test_hidden_labels_of_other_words_are_refused(tmp_path: Path) -> None:
    masked = mask(SMALL, 0.5, np.random.default_rng(0))
    first, *rest = masked.hidden.sentences
    other = masked.hidden.with_sentences([Sentence(first.id, ("Other",)), *rest])
    with pytest.raises(UsageError, match=f"sentence '{first.id}' belong to other words"):
        lacuner.train(masked.corpus, "nrces", out=tmp_path / "run", hidden=other)


def test_hidden_labels_of_another_corpus_are_refused_and_absent_sentences_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    masked = mask(SMALL, 0.5, np.random.default_rng(0))
    named = [replace(one, id=f"other-{one.id}") for one in masked.hidden.sentences]
    other = masked.hidden.with_sentences(named)
    with pytest.raises(UsageError, match=r"none of the sentences .* belong to another corpus"):
        lacuner.train(masked.corpus, "nrces", out=tmp_path / "run", hidden=other)
    assert not (tmp_path / "run").exists()
    part = masked.hidden.with_sentences(masked.hidden.sentences[2:])
    settings = {**NEURAL, "training": STOPPABLE}
    with caplog.at_level("WARNING", logger="lacuner"):
        lacuner.train(masked.corpus, "nrces", out=tmp_path / "run", hidden=part, settings=settings)
    assert "the hidden labels do not have: none counts as hidden there: 2 (first" in caplog.text
    assert "the hidden labels do not have" in (tmp_path / "run" / "run.json").read_text()
    caplog.clear()
    lacuner.train(
        masked.corpus, "nrces", out=tmp_path / "all", hidden=masked.hidden, settings=settings
    )
    assert "the hidden labels do not have" not in caplog.text


def test_share_of_retrieval_can_be_changed_after_training(tmp_path: Path) -> None:
    settings = {**NEURAL, "training": {**NEURAL["training"], "epochs": 8}}
    recogniser = lacuner.train(SMALL, "scl_rai", out=tmp_path / "run", settings=settings)
    found = [
        lacuner.load(tmp_path / "run", alpha=alpha).predict(SMALL).entity_count
        for alpha in (0.0, 0.5, 0.9)
    ]
    assert recogniser.predict(SMALL).entity_count == found[1]
    assert found[0] < found[1] < found[2]  # the centres of labels only ever ask for more
    lacuner.train(SMALL, "dictionary", out=tmp_path / "other")
    with pytest.raises(UsageError, match="no retrieval"):
        lacuner.load(tmp_path / "other", alpha=0.5)


def test_finished_run_is_not_trained_again(tmp_path: Path) -> None:
    settings = {**NEURAL, "training": {**NEURAL["training"], "epochs": 1}}
    lacuner.train(SMALL, "span_ce", out=tmp_path / "run", settings=settings)

    def refuse(stage: str, event: Any) -> None:
        raise AssertionError("trained again")

    lacuner.train(
        SMALL, "span_ce", out=tmp_path / "run", settings=settings, resume=True, listeners=[refuse]
    )


def test_supervised_wants_somebody_to_vouch(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="60 of 60 sentences are not known to be complete"):
        lacuner.train(SMALL.vouched(complete=False), "supervised", out=tmp_path / "run")


@pytest.mark.parametrize(
    ("corpus", "recipe", "settings", "message"),
    [
        (SMALL, "span_c", {}, "Did you mean span_ce"),
        (SMALL, "span_ce", {"training": {"epoch": 3}}, r"Did you mean training\.epochs"),
        (Corpus((Sentence("1", ("a",)),)), "span_ce", {}, "no label"),
        (Corpus((Sentence("1", ()),), ("PER",)), "span_ce", {}, "no words"),
        (Corpus((Sentence("1", ("a",)),), ("PER",)), "dictionary", {}, "no name to learn"),
    ],
)
def test_wrong_use_is_one_sentence(
    corpus: Corpus, recipe: str, settings: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        lacuner.train(corpus, recipe, out=tmp_path / "run", settings=settings)


def test_corpus_without_entities_trains_and_finds_nothing_to_choose(tmp_path: Path) -> None:
    empty = Corpus(SMALL.unlabelled().sentences[:8], ("PER",))
    settings = {**NEURAL, "training": {**NEURAL["training"], "epochs": 1}}
    recogniser = lacuner.train(empty, "span_ce", dev=empty, out=tmp_path / "run", settings=settings)
    assert recogniser.labels == ("PER",)
