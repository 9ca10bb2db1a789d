"""A look inside runs: the weights of every epoch, the right spans, their probabilities."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import lacuner
from lacuner.corpus.findings import Findings
from lacuner.demo import gold
from lacuner.experiments import probe_figures
from lacuner.experiments.figures import study_figures
from lacuner.experiments.probes import (
    Snapshots,
    choose_in_gold,
    choose_in_train,
    look_at,
    o_values_by_epoch,
    probabilities_by_epoch,
)
from lacuner.experiments.results import HIDDEN, LABELLED, NO_ENTITY, O_VALUE, Results
from lacuner.experiments.tables import make_tables
from lacuner.inference.predictor import NeuralPredictor
from lacuner.labelling.masking import Masked, mask
from lacuner.models.span_classifier import SpanClassifier
from lacuner.training.events import Evaluation
from lacuner.training.loop import Interrupted
from tests.experiments.tiny_study import row
from tests.neural import HashedWords

SETTINGS = {
    "encoder": {"name": "bilstm"},
    "training": {"epochs": 3, "batch_size": 8, "head_rate": 1e-2},
}


@pytest.fixture(scope="module")
def masked() -> Masked:
    train = gold("train").with_sentences(gold("train").sentences[:40])
    return mask(train, 0.5, np.random.default_rng(1))


def _predictor(widest: int = 4) -> NeuralPredictor:
    torch.manual_seed(0)
    return NeuralPredictor(SpanClassifier(HashedWords(), ("LOC", "PER"), max_width=widest))


def test_snapshots_are_the_weights_at_the_end_of_each_epoch(masked: Masked, tmp_path: Path) -> None:
    run = tmp_path / "run"
    snapshots = Snapshots(run, tmp_path / "kept")
    recogniser = lacuner.train(
        masked.corpus,
        "span_ce",
        out=run,
        settings=SETTINGS,
        listeners=[snapshots],
        hidden=masked.hidden,
    )
    assert [epoch for epoch, _ in snapshots.epochs()] == [1, 2], "nothing follows the last epoch"
    # The same training, stopped after its first epoch, has these weights.
    asked = iter(range(1, 100))
    with pytest.raises(Interrupted):
        lacuner.train(
            masked.corpus,
            "span_ce",
            out=tmp_path / "stopped",
            settings=SETTINGS,
            stopped=lambda: next(asked) == 5,
            hidden=masked.hidden,
        )
    state = tmp_path / "stopped" / "stages" / "train" / "state-5" / "model.safetensors"
    assert snapshots.epochs()[0][1].read_bytes() == state.read_bytes()
    predictor = recogniser.predictor
    assert isinstance(predictor, NeuralPredictor)
    before = {name: t.clone() for name, t in predictor.model.state_dict().items()}
    chosen = choose_in_train(masked, 4, np.random.default_rng(0))
    found = probabilities_by_epoch(predictor, chosen, snapshots.epochs())
    assert found["epochs"] == [1, 2] and set(found) == {"epochs", LABELLED, HIDDEN, NO_ENTITY}
    assert found[LABELLED]["mean"][0] != found[LABELLED]["mean"][1]
    for name, tensor in predictor.model.state_dict().items():
        assert torch.equal(tensor, before[name]), "the model is left as it was"


def test_best_epoch_is_kept_at_once(tmp_path: Path) -> None:
    stage = tmp_path / "run" / "stages" / "train"
    stage.mkdir(parents=True)
    (stage / "best-9.safetensors").write_bytes(b"best")
    snapshots = Snapshots(tmp_path / "run", tmp_path / "kept")
    snapshots("train", Evaluation(9, 3.0, 0.5, True))
    snapshots("train", Evaluation(12, 4.0, 0.4, False))
    ((epoch, path),) = snapshots.epochs()
    assert epoch == 3 and path.read_bytes() == b"best"


def test_chosen_spans_are_what_their_group_says(masked: Masked) -> None:
    chosen = choose_in_train(masked, 4, np.random.default_rng(0))
    left = {s.id: {e.span for e in s.entities} for s in masked.corpus}
    gone = {s.id: {e.span for e in s.entities} for s in masked.hidden}
    counts = dict.fromkeys((LABELLED, HIDDEN, NO_ENTITY), 0)
    for (number, start, end), group in zip(chosen.places, chosen.groups, strict=True):
        name, span = chosen.sentences[number].id, (start, end)
        counts[group] += 1
        assert 0 < end - start <= 4
        assert (span in left[name]) == (group == LABELLED)
        assert (span in gone[name]) == (group == HIDDEN)
    assert min(counts.values()) > 10
    assert len(set(map(tuple, chosen.places))) == len(chosen.places)


def test_probabilities_and_vectors_are_those_of_the_spans() -> None:
    test = gold("test").with_sentences(gold("test").sentences[:12])
    predictor = _predictor()
    chosen = choose_in_gold(test, 4, np.random.default_rng(0))
    found, vectors = look_at(predictor, chosen)
    assert vectors is not None and len(vectors) == len(found) == len(chosen.groups)
    assert chosen.groups.count(NO_ENTITY) == len(chosen.groups) / 2
    for number in (0, len(found) - 1):
        place, start, end = chosen.places[number]
        ((_, _, alone),) = predictor.outputs([chosen.sentences[place]])
        expected = 1 - alone.scores[0, start, end - start - 1].softmax(-1)[0]
        assert found[number] == pytest.approx(float(expected), abs=1e-5)
        assert alone.spans is not None
        same = alone.spans[0, start, end - start - 1].numpy()
        assert vectors[number] == pytest.approx(same, abs=1e-5)


def test_figures_show_groups_and_the_mean_over_seeds(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results = Results(tmp_path / "tiny.jsonl")
    flat = {"mean": [0.5, 0.5, 0.5], "low": [0.4] * 3, "high": [0.6] * 3}
    results.add_probe("a", {"epochs": [1, 2, 3], LABELLED: flat, HIDDEN: flat, NO_ENTITY: flat})
    rising = {"mean": [0.7, 0.9], "low": [0.4] * 2, "high": [1.0] * 2}
    results.add_probe("b", {"epochs": [1, 2], LABELLED: rising, HIDDEN: rising, NO_ENTITY: rising})
    (table,) = make_tables([row("a", 0.5, seed=1), row("b", 0.5, seed=2)], {})
    figure = probe_figures.probabilities(table, ("conll03", 0.5), results)
    assert figure is not None
    (axes,) = figure.axes
    assert np.asarray(axes.lines[0].get_ydata()) == pytest.approx([0.6, 0.7])
    assert {text.get_text() for text in axes.texts} == {
        "labelled: 0.70", "hidden: 0.70", "no entity: 0.70"
    }  # fmt: skip


def test_map_of_spans_needs_scikit_learn_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    results = Results(tmp_path / "tiny.jsonl")
    vectors = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32)
    results.add_vectors("a", vectors, ["PER"] * 10 + [NO_ENTITY] * 20)
    kept = results.vectors("a")
    assert kept is not None and kept[0] == pytest.approx(vectors, abs=1e-2)
    assert results.vectors("b") is None
    (table,) = make_tables([row("a", 0.5)], {})
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    findings = Findings()
    assert study_figures(table, results, findings) == {}
    assert "lacuner[bench]" in findings.remarks[0]
    monkeypatch.setattr(probe_figures, "project", lambda found: found[:, :2])
    figure = probe_figures.span_map(table, ("conll03", 0.5), results)
    assert figure is not None
    sizes = [len(dots.get_offsets()) for dots in figure.axes[0].collections]  # type: ignore[arg-type]
    assert sizes == [20, 10]


def test_o_values_of_words_are_followed_by_group(masked: Masked, tmp_path: Path) -> None:
    run = tmp_path / "run"
    snapshots = Snapshots(run, tmp_path / "kept")
    recogniser = lacuner.train(
        masked.corpus, "token_ce", out=run, settings=SETTINGS, listeners=[snapshots]
    )
    predictor = recogniser.predictor
    assert isinstance(predictor, NeuralPredictor)
    found = o_values_by_epoch(predictor, masked, snapshots.epochs())
    assert found["of"] == O_VALUE and found["epochs"] == [1, 2]
    # The mean of hidden words after the last kept epoch, word by word.
    predictor.model.load_state_dict(load_file(snapshots.epochs()[-1][1]), strict=False)
    values = []
    for sentence, gone in zip(masked.corpus, masked.hidden, strict=True):
        ((_, _, output),) = predictor.outputs([sentence])
        for entity in gone.entities:
            values += output.scores[0, entity.start : entity.end, 0].tolist()
    assert found[HIDDEN]["mean"][-1] == pytest.approx(np.mean(values), abs=1e-4)
    # They have a figure of their own.
    results = Results(tmp_path / "tiny.jsonl")
    results.add_probe("a", found)
    (table,) = make_tables([row("a", 0.5)], {})
    figures = study_figures(table, results)
    assert set(figures) == {"o-values-conll03-0.5"}


def test_only_the_stage_that_ends_as_the_model_is_kept(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path, tmp_path / "kept")
    weights = tmp_path / "stages" / "explore" / "best-3.safetensors"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"")
    snapshots("explore", Evaluation(epoch=1.0, step=3, score=0.5, best=True))
    assert snapshots.epochs() == []
