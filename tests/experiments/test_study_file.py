"""Studies are read whole or refused with a sentence, and those that ship fit the recipes."""

from __future__ import annotations

from pathlib import Path

import pytest

from lacuner.errors import DataError, LacunerError, UsageError
from lacuner.experiments.plan import plan_runs
from lacuner.experiments.published import find_figure, published_figures
from lacuner.experiments.study_file import load_study, shipped_studies
from tests.experiments.tiny_study import write_tiny

# Not at all rates with all encoders; not on all corpora.
PARTLY_PUBLISHED = ("two-step", "two-step-lexicon", "every-method")
SHIPPED = sorted(shipped_studies())


def test_studies_of_the_issue_ship() -> None:
    wanted = {"masked-conll", "distant", "nrces-ablation", "nrces-w", "scl-rai-ablation",
              "missampling", "demo"}  # fmt: skip
    assert wanted <= set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_study_fits_the_recipes(name: str) -> None:
    study = load_study(name)
    assert study.name == name and study.title
    assert {"cpu", "full"} <= set(study.profiles)
    for profile, own in study.profiles.items():
        plans = plan_runs(study, profile)
        assert plans
        used = {plan.system.name for plan in plans}
        corpora = set(own.corpora or study.corpora)
        assert used == {
            s.name
            for s in study.systems
            if s.profiles is None or profile in s.profiles
            if s.corpora is None or corpora & set(s.corpora)
        }


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_study_names_figures_that_are_published(name: str) -> None:
    study = load_study(name)
    plans = [plan for profile in study.profiles for plan in plan_runs(study, profile)]
    for system in study.systems:
        if system.published is None:
            continue
        places = {
            (plan.corpus.name, plan.masking, plan.encoder.name)
            for plan in plans
            if plan.system == system
        }
        found = [place for place in places if find_figure(system.published, *place)]
        assert found, system.name
        if name not in PARTLY_PUBLISHED:
            assert len(found) == len(places), (system.name, places - set(found))


def test_published_figures_are_percentages_with_a_source() -> None:
    figures = [figure for by_place in published_figures().values() for figure in by_place.values()]
    assert len(figures) > 40
    for figure in figures:
        assert 1 < figure.f1 < 100 and figure.on in ("dev", "test")
        assert figure.source and figure.encoder


def test_published_figures_are_those_of_the_papers() -> None:
    for name, corpus, rate, f1 in (
        ("nrces", "conll03", 0.8, 87.18),
        ("weighted negative sampling", "conll03", 0.9, 60.57),
        ("negative sampling", "news", 0.0, 85.39),
        ("scl-rai with negative sampling", "ec", 0.0, 71.24),
        ("two-step, lebert", "weibo", 0.5, 65.73),
        ("two-step, no angle, characters", "weibo", 0.7, 9.83),
    ):
        figure = find_figure(name, corpus, rate)
        assert figure is not None and figure.f1 == f1
    figure = find_figure("two-step", "resume", 0.7, "flat")
    assert figure is not None and figure.f1 == 68.58
    assert find_figure("two-step", "resume", 0.7, "bert") is None
    assert find_figure("nrces", "conll03", 0.55) is None
    assert find_figure(None, "conll03", 0.5) is None


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('title = "For', 'titel = "For', "Did you mean title"),
        ("embedded = true", "embeded = true", "Did you mean"),
        ("embedded = true", "", "no training file"),
        ("embedded = true", 'gold = ["a.conll"]', "no test file"),
        ("embedded = true", 'embedded = true\ntest = "a"', "has no files"),
        ("masking = [0.5]", "masking = [1.5]", "below 1"),
        ("masking = [0.5]", 'masking = "0.5"', "masking"),
        ("seeds = [1]", "seeds = []", "needs an encoder and a seed"),
        ('recipe = "span_ce"', 'recipe = "span_ce"\ncorpora = ["dem"]', "Did you mean demo"),
        (
            'recipe = "span_ce"',
            'recipe = "span_ce"\nmasking = [0.6]',
            "There is no rate of masking",
        ),
        ('name = "ceiling"\n', "", "needs a name"),
        ("[profiles.cpu]", "[profiles.cpu]\nprofile = 3", "There is no setting"),
        ("[[systems]]", "[[system]]", "There is no setting"),
    ],
)
def test_slip_in_a_study_is_named(tmp_path: Path, before: str, after: str, message: str) -> None:
    with pytest.raises(DataError, match=r"tiny\.toml") as caught:
        load_study(write_tiny(tmp_path, {before: after}))
    assert message in str(caught.value)


def test_masking_of_distant_labels_is_refused(tmp_path: Path) -> None:
    files = 'gold = ["a"]\ndistant = ["b"]\ntest = "c"'
    with pytest.raises(LacunerError, match="only gold labels"):
        load_study(write_tiny(tmp_path, {"embedded = true": files}))


def test_study_that_is_not_there_names_the_close_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean masked-conll"):
        load_study("masked-conl")
    with pytest.raises(DataError, match="no such file"):
        load_study(tmp_path / "mine.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("name = ")
    with pytest.raises(DataError, match="no TOML"):
        load_study(broken)


def test_study_in_the_docs_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "bench.md").read_text("utf-8")
    mine = tmp_path / "mine.toml"
    mine.write_text(page.split("```toml\n")[1].split("```")[0])
    study = load_study(mine)
    assert len(plan_runs(study, "cpu")) == len(plan_runs(study, "full")) == 9
