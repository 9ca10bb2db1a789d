"""What a training works with, for the stages that follow it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lacuner.corpus.sentence import Corpus
from lacuner.models import Model
from lacuner.models.batching import Examples
from lacuner.objectives.loss import Objective
from lacuner.recipes.parts import examples_of, fit
from lacuner.recipes.training_settings import TrainingSettings
from lacuner.training.periodic import PeriodicView
from lacuner.training.run_folder import Run, Stage


@dataclass(frozen=True)
class Circumstances:
    """The same for all stages of a run.

    Attributes:
        corpus: What to learn from.
        dev: What to choose on; may be None.
        training: How the recipe trains; stages change what they have other settings for.
        offset: What the recipe decodes with; models are chosen with it.
        run: Whose stages they are.
    """

    corpus: Corpus
    dev: Corpus | None
    training: TrainingSettings
    offset: float | str | None
    run: Run

    def examples(self, model: Model) -> Examples:
        """The corpus for a model."""
        return examples_of(model, self.corpus, self.run)

    def changed(
        self,
        *,
        seed: int,
        epochs: int | None,
        encoder_rate: float | None,
        head_rate: float | None,
    ) -> Circumstances:
        """With other settings of training; None leaves one as it is."""
        given = {"epochs": epochs, "encoder_rate": encoder_rate, "head_rate": head_rate}
        changes = {name: value for name, value in given.items() if value is not None}
        training: TrainingSettings = replace(self.training, seed=seed, **changes)  # type: ignore[arg-type]
        return replace(self, training=training)

    def fit(
        self, model: Model, objective: Objective, stage: Stage, view: PeriodicView | None = None
    ) -> None:
        """Trains a model in a stage."""
        fit(
            model,
            self.corpus,
            self.dev,
            objective,
            self.training,
            stage,
            view=view,
            offset=self.offset,
        )
