"""Which runs a study has, with which settings, and when two are the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lacuner.errors import UsageError
from lacuner.experiments.job import Job, plan_jobs
from lacuner.experiments.plan import RunPlan, encoder_fingerprint, plan_runs
from lacuner.experiments.results import Results
from lacuner.experiments.study import EncoderChoice
from lacuner.experiments.study_file import load_study
from tests.experiments.tiny_study import write_tiny

PRINTS = {"train": "a", "dev": "b", "test": "c", "encoder": "d"}


def _plans(folder: Path, changes: dict[str, str] | None = None) -> list[RunPlan]:
    return plan_runs(load_study(write_tiny(folder, changes)), "cpu")


def _jobs(folder: Path, changes: dict[str, str] | None = None) -> list[Job]:
    plans = _plans(folder, changes)
    return plan_jobs(plans, Results(folder / "r.jsonl"), data=None, runs=folder / "runs")


def test_supervised_sees_complete_labels_only(tmp_path: Path) -> None:
    plans = _plans(tmp_path, {"masking = [0.5]": "masking = [0.5, 0.8]"})
    rates = {name: [p.masking for p in plans if p.system.name == name]
             for name in ("cross-entropy", "ceiling", "names")}  # fmt: skip
    assert rates == {"cross-entropy": [0.5, 0.8], "ceiling": [0.0], "names": [0.5, 0.8]}
    study = load_study("distant")
    ceilings = {p.corpus.name for p in plan_runs(study, "full") if p.system.is_ceiling}
    assert ceilings == {"ec-gold", "news-gold"}


def test_seeds_come_one_after_the_other(tmp_path: Path) -> None:
    plans = _plans(tmp_path, {"seeds = [1]": "seeds = [1, 2]"})
    assert [plan.seed for plan in plans] == [1, 1, 1, 2, 2, 2]


def test_recipe_without_encoder_runs_once(tmp_path: Path) -> None:
    plans = _plans(tmp_path, {'["bilstm"]': '["bilstm", "minilm"]'})
    encoders = [p.encoder.name for p in plans if p.system.recipe == "dictionary"]
    assert encoders == ["none"]


def test_system_overrules_corpus_overrules_encoder_overrules_profile(tmp_path: Path) -> None:
    changes = {
        'recipe = "span_ce"': 'recipe = "span_ce"\nsettings.training = { clip = 3.0 }',
        "embedded = true": "embedded = true\nsettings.training = { clip = 4.0, patience = 7 }",
        "[profiles.cpu]": "[encoders.bilstm]\nmodel = 'bilstm'\n"
        "settings.training = { clip = 2.0, warmup = 0.2 }\n[profiles.cpu]",
        "batch_size = 8": "batch_size = 8, clip = 1.5, warmup = 0.3, weight_decay = 0.5",
    }
    training = _plans(tmp_path, changes)[0].settings["training"]
    assert (training["clip"], training["warmup"], training["weight_decay"]) == (3.0, 0.2, 0.5)
    assert training["patience"] == 7 and training["seed"] == 1
    ceiling = next(plan for plan in _plans(tmp_path, changes) if plan.system.is_ceiling)
    assert ceiling.settings["training"]["clip"] == 4.0
    jobs = _jobs(tmp_path, changes)
    assert [Job.from_json(job.to_json()) for job in jobs] == jobs


def test_setting_that_no_recipe_has_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Did you mean training\.epochs"):
        _plans(tmp_path, {"epochs = 1": "epoch = 1"})
    with pytest.raises(UsageError, match=r"'names' \(dictionary\).*min_count"):
        recipe = 'recipe = "dictionary"'
        _plans(tmp_path, {recipe: f"{recipe}\nsettings.min_cont = 2"})
    with pytest.raises(UsageError, match="Did you mean span_ce"):
        _plans(tmp_path, {'"span_ce"': '"span_xe"'})


def test_setting_of_a_corpus_may_be_given_label_by_label(tmp_path: Path) -> None:
    changes = {
        "embedded = true": "embedded = true\nsettings.prior = { share = { PER = 0.1, LOC = 0.2 } }",
        'recipe = "span_ce"': 'recipe = "pu_learning"',
    }
    prior = _plans(tmp_path, changes)[0].settings["prior"]
    assert prior["share"] == {"PER": 0.1, "LOC": 0.2}


def test_filters_choose_runs_and_name_what_is_not_there(tmp_path: Path) -> None:
    study = load_study(write_tiny(tmp_path))
    chosen = plan_runs(study, "cpu", only={"recipe": ["span_ce", "dictionary"], "seed": ["1"]})
    assert [plan.system.recipe for plan in chosen] == ["span_ce", "dictionary"]
    assert plan_runs(study, "cpu", only={"masking": ["0"]})[0].system.is_ceiling
    with pytest.raises(UsageError, match="Did you mean corpus"):
        plan_runs(study, "cpu", only={"corpora": ["demo"]})
    with pytest.raises(UsageError, match="There is no seed '4'"):
        plan_runs(study, "cpu", only={"seed": ["4"]})


def test_two_systems_of_one_name_must_not_meet(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Two systems are called 'names'"):
        _plans(tmp_path, {'"cross-entropy"': '"names"'})
    apart = {'name = "cross-entropy"': 'name = "names"\nmasking = [0.8]',
             'name = "names"\nrecipe': 'name = "names"\nmasking = [0.5]\nrecipe',
             "masking = [0.5]\n\n": "masking = [0.5, 0.8]\n\n"}  # fmt: skip
    assert len(_plans(tmp_path, apart)) == 3


def test_studies_compute_alike_on_every_machine(tmp_path: Path) -> None:
    trained = [
        plan.settings["training"] for plan in _plans(tmp_path) if "training" in plan.settings
    ]
    assert trained and {settings["precision"] for settings in trained} == {"no"}


def test_identity_is_that_of_what_the_result_depends_on(tmp_path: Path) -> None:
    plan = _plans(tmp_path)[0]
    same = plan.identity(PRINTS)
    assert plan.identity(dict(PRINTS)) == same
    others = [
        replace(plan, seed=2),
        replace(plan, masking=0.6),
        replace(plan, study="other"),
        replace(plan, profile=replace(plan.profile, name="full")),
        replace(plan, settings={**plan.settings, "model": {"hidden": 3}}),
    ]
    names = {other.identity(PRINTS) for other in others}
    names |= {plan.identity({**PRINTS, name: "x"}) for name in PRINTS}
    assert len(names) == len(others) + len(PRINTS) and same not in names


def test_identity_does_not_depend_on_where_an_encoder_lies(tmp_path: Path) -> None:
    study = load_study(write_tiny(tmp_path))
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        (folder / "config.json").write_text("{}")
    plans = [plan_runs(study, "cpu", encoders={"bilstm": str(folder)})[0] for folder in folders]
    assert [plan.settings["encoder"]["name"] for plan in plans] == [str(f) for f in folders]
    prints = [encoder_fingerprint(plan.encoder) for plan in plans]
    assert prints[0] == prints[1]
    assert plans[0].identity(PRINTS) == plans[1].identity(PRINTS)
    (folders[1] / "config.json").write_text("{ }")
    assert encoder_fingerprint(plans[1].encoder) != prints[0]
    assert encoder_fingerprint(EncoderChoice("x", "a-name-on-a-hub")) == "a-name-on-a-hub"


def test_systems_with_equal_settings_are_refused(tmp_path: Path) -> None:
    twin = '[[systems]]\nname = "twin"\nrecipe = "span_ce"\n\n[[systems]]\nname = "ceiling"'
    with pytest.raises(UsageError, match="are the same run"):
        _jobs(tmp_path, {'[[systems]]\nname = "ceiling"': twin})


def test_encoder_to_bring_says_so(tmp_path: Path) -> None:
    choice = "[encoders.zh]\nnote = 'Get it there.'\n[profiles.cpu]"
    changes = {'["bilstm"]': '["zh"]', "[profiles.cpu]": choice}
    with pytest.raises(UsageError, match=r"--encoder zh=FOLDER.*Get it there"):
        _jobs(tmp_path, changes)


def test_job_survives_the_way_to_another_process(tmp_path: Path) -> None:
    for job in _jobs(tmp_path):
        assert Job.from_json(job.to_json()) == job
