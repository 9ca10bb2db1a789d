"""The run folder."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from lacuner import Corpus
from lacuner.errors import OutputExists, UsageError
from lacuner.files import read_json, write_json
from lacuner.training.events import Step
from lacuner.training.provenance import fingerprint, selected_on
from lacuner.training.run_folder import Run


def test_run_that_is_there_is_kept_unless_told(small_corpus: Corpus, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = Run.create(folder, "span_ce", {"a": 1}, small_corpus, None)
    run.forget_metrics_after("train", 0)  # what a training does first
    with pytest.raises(OutputExists):
        Run.create(folder, "span_ce", {"a": 1}, small_corpus, None)
    assert Run.create(folder, "span_ce", {"a": 1}, small_corpus, None, resume=True).folder == folder
    Run.create(folder, "span_ce", {"a": 2}, small_corpus, None, overwrite=True)
    assert "a = 2" in (folder / "settings.toml").read_text()


def test_run_that_was_refused_before_its_first_step_is_replaced(
    small_corpus: Corpus, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    Run.create(folder, "span_ce", {"a": "wrong"}, small_corpus, None).stage("train")
    Run.create(folder, "span_ce", {"a": "right"}, small_corpus, None)
    assert "right" in (folder / "settings.toml").read_text()
    stranger = tmp_path / "no_run"
    stranger.mkdir()
    (stranger / "thesis.txt").write_text("mine")
    with pytest.raises(OutputExists):
        Run.create(stranger, "span_ce", {"a": 1}, small_corpus, None)


def test_run_resumes_only_with_what_it_was_begun_with(small_corpus: Corpus, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    Run.create(folder, "span_ce", {"a": 1}, small_corpus, None)
    more_labels = Corpus(small_corpus.sentences, ("NEW",))
    fewer = small_corpus.with_sentences(small_corpus.sentences[:-1])
    for recipe, settings, corpus, dev, what in (
        ("token_ce", {"a": 1}, small_corpus, None, "recipe"),
        ("span_ce", {"a": 1}, more_labels, None, "labels"),
        ("span_ce", {"a": 1}, fewer, None, "corpus"),
        ("span_ce", {"a": 1}, small_corpus, fewer, "dev"),
        ("span_ce", {"a": 2}, small_corpus, None, "settings"),
    ):
        with pytest.raises(UsageError, match=what):
            Run.create(folder, recipe, settings, corpus, dev, resume=True)


def test_folder_of_something_else_is_not_resumed(small_corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds no run"):
        Run.create(tmp_path, "span_ce", {}, small_corpus, None, resume=True)
    with pytest.raises(OutputExists):
        Run.create(tmp_path, "span_ce", {}, small_corpus, None)


@pytest.fixture
def begun(small_corpus: Corpus, tmp_path: Path) -> Run:
    """A run that was begun and not finished."""
    return Run.create(tmp_path / "run", "span_ce", {}, small_corpus, None)


def _change(run: Run, what: str, value: str) -> None:
    facts = read_json(run.folder / "run.json")
    holder = facts if what == "source" else facts["versions"]
    holder[what] = value
    write_json(facts, run.folder / "run.json")


def test_run_of_another_release_is_resumed_only_if_finished(
    begun: Run, small_corpus: Corpus
) -> None:
    _change(begun, "lacuner", "0.0.9")
    with pytest.raises(UsageError, match=r"another version of Lacuner \(0\.0\.9, now"):
        Run.create(begun.folder, "span_ce", {}, small_corpus, None, resume=True)
    begun.model_folder.mkdir()
    (begun.model_folder / "predictor.json").write_text("{}")
    assert Run.create(begun.folder, "span_ce", {}, small_corpus, None, resume=True).is_finished


@pytest.mark.parametrize(("what", "named"), [("torch", "torch 1.0"), ("source", "the code of")])
def test_run_resumed_with_other_code_says_so_and_keeps_it(
    begun: Run, small_corpus: Corpus, caplog: pytest.LogCaptureFixture, what: str, named: str
) -> None:
    _change(begun, what, "1.0")
    for _ in range(2):
        Run.create(begun.folder, "span_ce", {}, small_corpus, None, resume=True)
    assert len(caplog.records) == 2
    assert named in caplog.text and "may not be those of an uninterrupted run" in caplog.text
    (difference,) = read_json(begun.folder / "run.json")["resumed"]
    assert named in difference


def test_run_resumed_with_the_same_code_says_nothing(
    begun: Run, small_corpus: Corpus, caplog: pytest.LogCaptureFixture
) -> None:
    Run.create(begun.folder, "span_ce", {}, small_corpus, None, resume=True)
    assert not caplog.records
    assert "resumed" not in read_json(begun.folder / "run.json")


def test_fingerprint_changes_with_any_label(small_corpus: Corpus) -> None:
    first = small_corpus.sentences[0]
    changed = small_corpus.with_sentences(
        (replace(first, complete=True), *small_corpus.sentences[1:])
    )
    assert fingerprint(small_corpus) == fingerprint(Corpus(small_corpus.sentences))
    assert fingerprint(small_corpus) != fingerprint(changed)


def test_metrics_survive_a_line_that_was_cut_off(small_corpus: Corpus, tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", "span_ce", {}, small_corpus, None)
    rows = b'{"stage":"train","step":1}\n{"stage":"train","step":2}\n{"stage":"tra'
    (run.folder / "metrics.jsonl").write_bytes(rows)
    assert [row["step"] for row in run.metrics()] == [1, 2]
    run.forget_metrics_after("train", 1)
    assert [row["step"] for row in run.metrics()] == [1]


def test_run_says_what_the_model_is_chosen_on(small_corpus: Corpus) -> None:
    assert "nothing" in selected_on(None)
    assert "nobody vouches" in selected_on(small_corpus)
    assert selected_on(small_corpus.vouched()) == "dev, gold"


def test_folder_that_holds_something_else_is_not_replaced(
    small_corpus: Corpus, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.txt").write_text("of years")
    with pytest.raises(UsageError, match="something else than a run"):
        Run.create(tmp_path / "data", "span_ce", {}, small_corpus, None, overwrite=True)
    with pytest.raises(UsageError, match="is a file"):
        Run.create(tmp_path / "data" / "mine.txt", "span_ce", {}, small_corpus, None)
    assert (tmp_path / "data" / "mine.txt").read_text() == "of years"


def _finished(folder: Path, corpus: Corpus) -> None:
    Run.create(folder, "span_ce", {"a": 1}, corpus, None)
    (folder / "metrics.jsonl").write_text("{}\n")


def test_run_that_is_replaced_is_given_back_if_nothing_is_learnt(
    small_corpus: Corpus, tmp_path: Path
) -> None:
    _finished(tmp_path / "run", small_corpus)
    run = Run.create(tmp_path / "run", "span_ce", {"a": 2}, small_corpus, None, overwrite=True)
    with pytest.raises(UsageError), run.replaced.given_back_on_failure():
        raise UsageError("There is no such encoder.")
    assert "a = 1" in (tmp_path / "run" / "settings.toml").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("fails", [True, False])
def test_run_that_is_replaced_goes_once_something_is_learnt(
    fails: bool, small_corpus: Corpus, tmp_path: Path
) -> None:
    _finished(tmp_path / "run", small_corpus)
    run = Run.create(tmp_path / "run", "span_ce", {"a": 2}, small_corpus, None, overwrite=True)
    failing = pytest.raises(UsageError) if fails else nullcontext()
    with failing, run.replaced.given_back_on_failure():
        if fails:
            run.within("part").record("train", Step(1, 9, 0.1, 0.5, {}, 0.1))
            raise UsageError("The loss is no number any more.")
    assert "a = 2" in (tmp_path / "run" / "settings.toml").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
