"""A run is a folder: settings, labels, metrics, weights. Whatever is killed can be resumed.

    settings.toml      the fully resolved settings, and the recipe
    run.json           labels, versions, fingerprints of the corpora, what was found on the way
    metrics.jsonl      one object an event, in order of step
    stages/<name>/     the training state of each stage, and done.json when it is finished
    model/             what prediction needs

Nothing in it is a pickle. A state is a folder of its own; `latest.json` names the one that counts
and is replaced by renaming, so that a kill at any moment leaves the one before or the one after.
Of several processes only the main one writes; all of them must see the folder.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Corpus
from lacuner.errors import OutputExists, UsageError
from lacuner.files import read_json, write_json, written_aside
from lacuner.settings import to_toml
from lacuner.training.processes import is_main, on_main
from lacuner.training.provenance import fingerprint, selected_on, source_fingerprint, versions
from lacuner.training.replaced import Replaced

_LOGGER = logging.getLogger("lacuner")

Listener = Callable[[str, Any], None]


@dataclass(frozen=True)
class Stage:
    """One training within a run: where its state and its result are kept."""

    run: Run
    name: str

    @property
    def folder(self) -> Path:
        """Where it is kept."""
        return self.run.folder / "stages" / self.name

    @property
    def is_finished(self) -> bool:
        """Has it been trained to its end?"""
        return (self.folder / "done.json").exists()

    def finish(self) -> None:
        """Marks the stage as finished, and lets go of its training state."""
        write_json({"finished": True}, self.folder / "done.json")
        for path in self.folder.glob("state-*"):
            shutil.rmtree(path, ignore_errors=True)
        (self.folder / "latest.json").unlink(missing_ok=True)

    def record(self, event: Any) -> None:
        """Keeps an event of the loop in the metrics, and tells who listens."""
        self.run.record(self.name, event)


class Run:
    """The folder of a run.

    Args:
        folder: Where it is kept.
        listeners: Called with the stage's name and each event, in the main process.
        stopped: Asked after every step whether to save the state and stop.
        hidden: The training sentences with the entities that are missing in them, where somebody
            hid them on purpose: for measuring, never for learning.
        inside: Which of several trainings of a run it is for; see `within`.
        jobs: How many trainings that do not depend on each other may be made at once.

    Attributes:
        replaced: What was in the folder before, until something is learnt.
        tokenised: What a kind of encoder made of a corpus, for the next training of the same run.
    """

    def __init__(
        self,
        folder: Path,
        *,
        listeners: Iterable[Listener] = (),
        stopped: Callable[[], bool] = lambda: False,
        hidden: Corpus | None = None,
        inside: str = "",
        jobs: int = 1,
    ) -> None:
        self.folder = folder
        self.hidden = hidden
        self.inside, self.jobs = inside, jobs
        self.replaced = Replaced(folder)
        self.listeners = list(listeners)
        self.stopped = stopped
        self.tokenised: list[tuple[Corpus, type[Any], list[Any]]] = []

    def within(self, name: str) -> Run:
        """The same run for one of several trainings: its stages are named after that."""
        part = copy(self)
        part.inside = f"{self.inside}{name}."
        return part

    @classmethod
    def create(
        cls,
        folder: Path,
        recipe: str,
        settings: dict[str, Any],
        corpus: Corpus,
        dev: Corpus | None,
        *,
        resume: bool = False,
        overwrite: bool = False,
        listeners: Iterable[Listener] = (),
        stopped: Callable[[], bool] = lambda: False,
        hidden: Corpus | None = None,
        encoder: str | None = None,
        jobs: int = 1,
    ) -> Run:
        """A new run, or the one that is there, if it may be resumed and is the same.

        Raises:
            OutputExists: The folder is there, and neither resume nor overwrite was said. (A run
                that was refused before its first step is replaced without asking.)
            UsageError: A run to resume that had other settings, labels or sentences, or that
                another release of Lacuner began and did not finish.
        """
        facts: dict[str, Any] = {
            "labels": list(corpus.labels),
            "corpus": fingerprint(corpus),
            "dev": None if dev is None else fingerprint(dev),
            "selected_on": selected_on(dev),
        }
        if encoder is not None:
            facts["encoder"] = encoder
        run = cls(folder, listeners=listeners, stopped=stopped, hidden=hidden, jobs=jobs)
        run.begin({"recipe": recipe, **settings}, facts, resume=resume, overwrite=overwrite)
        return run

    def begin(
        self, settings: dict[str, Any], facts: dict[str, Any], *, resume: bool, overwrite: bool
    ) -> None:
        """Makes the folder, or takes up the one that is there; `create` does so for a corpus."""
        made_with = {"versions": versions(), "source": source_fingerprint()}
        facts = {"recipe": settings["recipe"], **facts, **made_with}
        toml = to_toml(settings)
        on_main(lambda: self._begin(facts, toml, resume=resume, overwrite=overwrite))

    def _begin(self, facts: dict[str, Any], toml: str, *, resume: bool, overwrite: bool) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError(f"{self.folder} is a file; a run needs a folder.")
        if self.folder.exists() and resume:
            self._check_same(facts, toml)
            if not self.is_finished:
                self._check_versions(facts)
            return
        taken = self.folder.exists() and any(self.folder.iterdir())
        if taken and not overwrite and not self._never_began():
            raise OutputExists(self.folder)
        if taken and not (self.folder / "run.json").exists():
            raise UsageError(
                f"{self.folder} holds something else than a run, which is not replaced. Choose "
                "another folder."
            )
        if taken:
            self.replaced.put_aside()
        with written_aside(self.folder, overwrite=True) as aside:
            (aside / "stages").mkdir(parents=True)
            (aside / "settings.toml").write_text(toml, "utf-8")
            write_json(facts, aside / "run.json")

    def _never_began(self) -> bool:
        """Is this what a wrong setting leaves, a run that was refused before its first step?"""
        paths = {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*")}
        return "run.json" in paths and not any(
            (self.folder / path).is_file() for path in paths - {"run.json", "settings.toml"}
        )

    def _check_same(self, facts: dict[str, Any], toml: str) -> None:
        settings = self.folder / "settings.toml"
        if not settings.exists():
            raise UsageError(f"{self.folder} holds no run that could be resumed.")
        before = read_json(self.folder / "run.json")
        for what in ("recipe", "labels", "corpus", "dev", "encoder"):
            if before.get(what) != facts.get(what):
                raise UsageError(
                    f"The run in {self.folder} had another {what} ({_short(before.get(what))}, now "
                    f"{_short(facts.get(what))}). Resume it with what it was begun with, or choose "
                    "another folder."
                )
        if settings.read_text("utf-8") != toml:
            raise UsageError(
                f"The run in {self.folder} had other settings; see {settings}. Resume it with "
                "those, or choose another folder."
            )

    def _check_versions(self, now: dict[str, Any]) -> None:
        """Refuses what another release began; tells and keeps every other difference."""
        before = read_json(self.folder / "run.json")
        here, there = now["versions"], before["versions"]
        if there.get("lacuner") != here.get("lacuner"):
            raise UsageError(
                f"The run in {self.folder} was begun with another version of Lacuner "
                f"({there.get('lacuner')}, now {here.get('lacuner')}) and would not go on as it "
                "began. Resume it with that version, or begin anew with --overwrite."
            )
        changed = [
            f"{name} {there[name]}, now {here[name]}"
            for name in there.keys() & here.keys()
            if there[name] != here[name]
        ]
        if before.get("source", now["source"]) != now["source"]:
            changed.append(f"the code of Lacuner {before['source']}, now {now['source']}")
        if changed:
            difference = f"begun with {'; '.join(sorted(changed))}"
            _LOGGER.warning(
                "The run in %s was %s: it goes on, but its weights may not be those of an "
                "uninterrupted run.", self.folder, difference,
            )  # fmt: skip
            before["resumed"] = list(dict.fromkeys([*before.get("resumed", []), difference]))
            write_json(before, self.folder / "run.json")

    def report(self, findings: Findings) -> None:
        """Logs what a training loses or remarks, and keeps it in run.json; the same only once."""
        if not is_main() or not (findings.counts or findings.remarks):
            return
        facts = read_json(self.folder / "run.json")
        kept = facts.setdefault("findings", [])
        if findings.as_dict() not in kept:
            findings.log()
            kept.append(findings.as_dict())
            write_json(facts, self.folder / "run.json")

    @property
    def remarks(self) -> list[str]:
        """What was remarked on the way."""
        found = read_json(self.folder / "run.json").get("findings", [])
        return [remark for findings in found for remark in findings["remarks"]]

    def stage(self, name: str) -> Stage:
        """The stage of that name."""
        stage = Stage(self, self.inside + name)
        on_main(lambda: stage.folder.mkdir(parents=True, exist_ok=True))
        return stage

    @property
    def model_folder(self) -> Path:
        """Where the finished model is."""
        return self.folder / "model"

    @property
    def is_finished(self) -> bool:
        """Is there a model?"""
        return (self.model_folder / "predictor.json").exists()

    def record(self, stage: str, event: Any) -> None:
        """Appends an event to the metrics, and tells who listens."""
        if not is_main():
            return
        self.replaced.let_go()
        row = event.as_row()
        if row is not None:
            with open(self.folder / "metrics.jsonl", "ab") as file:
                file.write(orjson.dumps({"stage": stage, **row}) + b"\n")
        for listener in self.listeners:
            listener(stage, event)

    def forget_metrics_after(self, stage: str, step: int) -> None:
        """Drops what was recorded after the state that a stage resumes from."""
        path = self.folder / "metrics.jsonl"
        kept = [r for r in self.metrics() if r["stage"] != stage or r["step"] <= step]
        with written_aside(path, overwrite=True) as aside:
            aside.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in kept))

    def metrics(self) -> list[dict[str, Any]]:
        """All recorded events; a line that a kill cut off is left out."""
        path = self.folder / "metrics.jsonl"
        rows = []
        for line in path.read_bytes().splitlines() if path.exists() else []:
            try:
                rows.append(orjson.loads(line))
            except orjson.JSONDecodeError:
                continue
        return rows


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else text[:57] + "…"
