"""What the bench tells a run's own process, and what that says back: JSON lines, no pickle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import orjson

from lacuner.corpus.findings import Findings
from lacuner.errors import UsageError
from lacuner.experiments.material import read_material
from lacuner.experiments.plan import RunPlan, encoder_fingerprint
from lacuner.experiments.results import Results
from lacuner.experiments.study import CorpusEntry, Settings
from lacuner.settings import build

BUSY = 75  # exit code of a run that another process is making
INTERRUPTED = 130  # exit code of a run that somebody stopped, and that saved its state


@dataclass(frozen=True)
class Job:
    """A run, described so that another process can make it.

    Attributes:
        run: Its identity.
        recipe: A name of `lacuner recipes`.
        settings: All settings of the recipe.
        corpus: What it learns from and is scored on.
        data: The folder that the files of the corpus are relative to.
        masking: Rate at which labels are hidden.
        seed: Draws the hidden ones.
        train_sentences: How many training sentences to draw.
        dev_sentences: How many of dev to choose on.
        sample_seed: Draws both.
        fingerprints: Those of the corpus when the job was planned.
        facts: The part of the row that is known beforehand.
        title: What people are told that is running.
        folder: Where the run is kept while it is made.
        results: The file that gets the row.
        keep: Leave the folder when the row is written.
        probe: Follow the probabilities of spans.
        vectors: Keep the vectors of test spans.
    """

    run: str
    recipe: str
    settings: Settings
    corpus: CorpusEntry
    data: str | None
    masking: float
    seed: int
    train_sentences: int | None
    dev_sentences: int | None
    sample_seed: int
    fingerprints: dict[str, str | None]
    facts: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    folder: str = ""
    results: str = ""
    keep: bool = False
    probe: bool = False
    vectors: bool = False

    @property
    def lock(self) -> Path:
        """The file that whoever makes the run holds locked."""
        return Path(self.folder) / "run.lock"

    @property
    def log(self) -> Path:
        """Where its process writes what it has to say."""
        return Path(self.folder) / "log.txt"

    def to_json(self) -> bytes:
        """For the other process."""
        return orjson.dumps(asdict(self))

    @classmethod
    def from_json(cls, raw: bytes) -> Self:
        """What `to_json` wrote."""
        values = orjson.loads(raw)
        return cls(**{**values, "corpus": build(CorpusEntry, values["corpus"])})


def plan_jobs(
    plans: Iterable[RunPlan],
    results: Results,
    *,
    data: Path | None,
    runs: Path,
    keep: bool = False,
    findings: Findings | None = None,
) -> list[Job]:
    """The jobs of planned runs; reads every corpus once, to know its content.

    Args:
        plans: The runs.
        results: Where rows go.
        data: The folder of the corpora.
        runs: Where runs are kept while they are made.
        keep: Leave them there.
        findings: Told what reading had to say.

    Raises:
        UsageError: An encoder that the user has to bring, or two systems that are the same.
        DataError: A file of a corpus is not there or not right.
    """
    corpora: dict[str, dict[str, str | None]] = {}
    encoders: dict[str, str] = {}
    jobs: dict[str, Job] = {}
    for plan in plans:
        if plan.encoder.model is None:
            raise UsageError(
                f"The encoder {plan.encoder.name} is for you to bring: --encoder "
                f"{plan.encoder.name}=FOLDER, or leave out its runs by --only. {plan.encoder.note}"
            )
        if plan.encoder.name not in encoders:
            encoders[plan.encoder.name] = encoder_fingerprint(plan.encoder)
        if plan.corpus.name not in corpora:
            corpora[plan.corpus.name] = read_material(
                plan.corpus,
                data,
                train_sentences=plan.profile.train_sentences,
                dev_sentences=plan.profile.dev_sentences,
                sample_seed=plan.sample_seed,
                findings=findings,
            ).fingerprints()
        prints = corpora[plan.corpus.name]
        job = _job(plan, prints, encoders[plan.encoder.name], data, results, runs, keep)
        if job.run in jobs:
            raise UsageError(
                f"'{jobs[job.run].title}' and '{job.title}' are the same run: their settings do "
                "not differ."
            )
        jobs[job.run] = job
    return list(jobs.values())


def _job(
    plan: RunPlan,
    fingerprints: dict[str, str | None],
    encoder: str,
    data: Path | None,
    results: Results,
    runs: Path,
    keep: bool,
) -> Job:
    identity = plan.identity({**fingerprints, "encoder": encoder})
    facts = {
        "run": identity,
        "study": plan.study,
        "profile": plan.profile.name,
        "corpus": plan.corpus.name,
        "masking": plan.masking,
        "system": plan.system.name,
        "recipe": plan.system.recipe,
        "encoder": plan.encoder.name,
        "seed": plan.seed,
        "ceiling": plan.corpus.ceiling or plan.corpus.name,
        "published": plan.system.published,
        "fingerprints": {**fingerprints, "encoder": encoder},
        "settings": plan.public_settings,
    }
    words = [plan.corpus.name, f"{plan.masking:g}", plan.system.name, str(plan.seed)]
    name = "-".join("".join(c if c.isalnum() else "_" for c in word) for word in words)
    return Job(
        run=identity,
        recipe=plan.system.recipe,
        settings=plan.settings,
        corpus=plan.corpus,
        data=None if data is None else str(data.resolve()),
        masking=plan.masking,
        seed=plan.seed,
        train_sentences=plan.profile.train_sentences,
        dev_sentences=plan.profile.dev_sentences,
        sample_seed=plan.sample_seed,
        fingerprints=fingerprints,
        facts=facts,
        title=plan.describe(),
        folder=str((runs / f"{name}-{identity}").resolve()),
        results=str(results.path.resolve()),
        keep=keep,
        probe=plan.probe,
        vectors=plan.probe and plan.seed == plan.profile.seeds[0],
    )
