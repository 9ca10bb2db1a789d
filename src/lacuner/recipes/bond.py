"""`bond`: stop before the noise is learnt, then let the model teach itself.

Liang et al. 2020, "BOND: BERT-Assisted Open-Domain Named Entity Recognition with Distant
Supervision". Stage I is a tagger for which every missing label is O, stopped early. Stage II is
self-training (`recipes/self_training.py`): the student becomes its own teacher every so many steps,
and learns from places where the teacher's sharpened prediction is sure. The paper's public code
feeds raw scores to the KL term; here it gets log-probabilities.

    hard labels          self_training.targets=hard
    without stage II     self_training.rounds=0
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.recipes import token_ce
from lacuner.recipes.parts import calibrated
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.self_training import SelfTrainingSettings
from lacuner.settings import check_range
from lacuner.training.run_folder import Run


@dataclass(frozen=True)
class EarlyStoppingSettings:
    """When stage I ends.

    Attributes:
        steps: After so many, where there is no dev to tell.
        patience: With dev: after so many epochs without a better one; `training.patience` is not
            asked.
    """

    steps: int = 400
    patience: int = 2

    def __post_init__(self) -> None:
        check_range(self, "early_stopping", ("steps", "patience"), 1)


@dataclass(frozen=True)
class Settings(token_ce.Settings):
    """Settings of `bond`: those of `token_ce`, and when to stop and how to go on."""

    early_stopping: EarlyStoppingSettings = field(default_factory=EarlyStoppingSettings)
    self_training: SelfTrainingSettings = field(
        default_factory=lambda: SelfTrainingSettings(
            rounds=1, targets="all", confidence=0.9, interval=450
        )
    )


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """Stage I: cross-entropy on tags, stopped early."""
    early = settings.early_stopping
    patient = replace(settings, training=replace(settings.training, patience=early.patience))
    most_steps = early.steps if dev is None else None
    model = token_ce.train_tagger(corpus, dev, patient, run, most_steps)
    return calibrated(NeuralPredictor(model), dev, settings.decoding.offset)


BOND = Recipe(
    name="bond",
    title="token tagger stopped early, then teacher and student with soft labels",
    citation="Liang et al. 2020",
    settings=Settings,
    train=train,
    unit="token",
    explores=True,
    stages=2,
    cost=2.0,
    robust_to=("missing", "wrong"),
)
