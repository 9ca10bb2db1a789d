"""The stage `ensemble`: several models of one recipe, and a fresh one that learns their mean.

Members differ by their seed. Their predictions of the training corpus go to disk in half precision;
once all are there, the members themselves are not needed any more. Meng et al. 2021, "RoSTER",
section 2.2; for every recipe with a network.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from lacuner.corpus.sentence import Corpus
from lacuner.encoders.contract import Encoder
from lacuner.files import read_json, write_json
from lacuner.models import Model, build_model
from lacuner.objectives.distillation import Distillation
from lacuner.objectives.soft_labels import as_predicted
from lacuner.recipes.circumstances import Circumstances
from lacuner.recipes.parts import examples_of
from lacuner.settings import check_range
from lacuner.training.corpus_array import Layout
from lacuner.training.loop import step_seed
from lacuner.training.predictions import Predictions, write_predictions
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Run, Stage
from lacuner.training.side_by_side import train_side_by_side
from lacuner.training.state import load_result

_DESCRIPTION = "model.json"

TrainMember = Callable[[Any, Run], Model]
"""Trains a model with settings in a part of the run; it can be pickled."""


@dataclass(frozen=True)
class EnsembleSettings:
    """Several models, and one that learns their mean; see `docs/stages.md`.

    Attributes:
        members: How many models are trained; 1 is no ensemble.
        keep_members: Leave the members and their predictions in the run folder after distillation.
        epochs: Of the model that learns from them; none takes that of `training`.
        encoder_rate: Its learning rate of pretrained parameters; none takes that of `training`.
        head_rate: Its learning rate of all others; none takes that of `training`.
    """

    members: int = 1
    keep_members: bool = True
    epochs: int | None = None
    encoder_rate: float | None = None
    head_rate: float | None = None

    def __post_init__(self) -> None:
        check_range(self, "ensemble", ("members", "epochs"), 1)
        check_range(self, "ensemble", ("encoder_rate", "head_rate"), 0)


def train_ensemble(
    train_member: TrainMember,
    new_encoder: Callable[[], Encoder],
    settings: Any,
    ensemble: EnsembleSettings,
    given: Circumstances,
) -> Model:
    """Trains the members, as many at once as the run has jobs, then the one that learns from them.

    Args:
        train_member: Trains one of them.
        new_encoder: Builds an encoder like theirs, for the model that learns from them.
        settings: Those of the recipe, with `training` among them.
        ensemble: Those of the ensemble.
        given: What all stages work with.

    Returns:
        The model that learnt from them.
    """
    stage = given.run.stage("ensemble")
    files = [stage.folder / f"member-{number}.npy" for number in range(1, ensemble.members + 1)]
    if not stage.is_finished:
        members = {
            _name(number): _Member(train_member, _own(settings, given, number), given.corpus, file)
            for number, file in enumerate(files, 1)
            if not on_main(file.exists)
        }
        train_side_by_side(members, given.run)
    torch.manual_seed(step_seed(given.training.seed, "ensemble"))
    model = build_model(
        encoder=new_encoder(),
        labels=given.corpus.labels,
        **read_json(stage.folder / _DESCRIPTION),
    )
    if stage.is_finished:
        load_result(stage, model)
    else:
        teachers = Predictions(files, Layout.of(model, given.examples(model)))
        objective = Distillation(model, lambda b, o: as_predicted(teachers.mean(b, o)))  # eq. 6
        changed = given.changed(
            seed=given.training.seed,
            epochs=ensemble.epochs,
            encoder_rate=ensemble.encoder_rate,
            head_rate=ensemble.head_rate,
        )
        changed.fit(model, objective, stage)
    if not ensemble.keep_members:
        on_main(lambda: _forget_members(stage, files))
    return model


@dataclass(frozen=True)
class _Member:
    """Trains one of them, and writes what it predicts of the corpus to a file."""

    train: TrainMember
    settings: Any
    corpus: Corpus
    file: Path

    def __call__(self, run: Run) -> None:
        model = self.train(self.settings, run)
        examples = examples_of(model, self.corpus, run)
        words = self.settings.training.batch_words

        def keep() -> None:
            write_json(model.description(), self.file.parent / _DESCRIPTION)
            layout = Layout.of(model, examples)
            write_predictions(self.file, model, examples, layout, batch_words=words)

        on_main(keep)


def _own(settings: Any, given: Circumstances, number: int) -> Any:
    """The settings of a member: its seed is its own."""
    seed = step_seed(given.training.seed, "member", number)
    return replace(settings, training=replace(given.training, seed=seed))


def _forget_members(stage: Stage, files: list[Path]) -> None:
    """Removes weights and predictions; that the stages are finished stays on record."""
    for number, file in enumerate(files, 1):
        file.unlink(missing_ok=True)
        for folder in stage.folder.parent.glob(f"{_name(number)}.*"):
            for path in folder.iterdir():
                if path.name != "done.json":
                    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _name(number: int) -> str:
    return f"member-{number}"
