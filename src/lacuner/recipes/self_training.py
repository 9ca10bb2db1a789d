"""The stage `self_training`: a model learns from its own predictions, made sharper.

For every recipe with a network, on words and spans alike. `targets = "types"` is RoSTER's (Meng et
al. 2021, section 2.3), `"all"` and `"hard"` are those of BOND (Liang et al. 2020).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lacuner.augmentation.augmenter import RATE, TOP
from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Sentence
from lacuner.files import read_json, write_json
from lacuner.models import Model
from lacuner.models.batching import Examples
from lacuner.objectives.distillation import Distillation
from lacuner.recipes.circumstances import Circumstances
from lacuner.recipes.training_settings import steps_an_epoch
from lacuner.settings import check_range
from lacuner.training.loop import step_seed
from lacuner.training.periodic import PeriodicView, renewal_interval
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Stage
from lacuner.training.self_labels import SelfLabels, check_targets
from lacuner.training.state import load_result

ITSELF = "encoder"

_AUGMENTED = "augmented.json"


@dataclass(frozen=True)
class SelfTrainingSettings:
    """Learning from one's own predictions; see `docs/stages.md`.

    Attributes:
        rounds: How often; each begins with the model of the one before. 0 is no self-training.
        targets: `types` sharpens types and keeps the decision "entity or not", `all` sharpens all
            classes, `hard` takes the likeliest class.
        confidence: Least probability of an entity (`types`) or of a class, below which a word or
            span teaches nothing new.
        interval: Steps between two renewals of the labels; none makes six renewals.
        epochs: Of a round.
        encoder_rate: Learning rate of pretrained parameters.
        head_rate: Learning rate of all others.
    """

    rounds: int = 0
    targets: str = "types"
    confidence: float = 0.8
    interval: int | None = None
    epochs: int = 5
    encoder_rate: float = 1e-5
    head_rate: float = 1e-4

    def __post_init__(self) -> None:
        check_range(self, "self_training", ("rounds", "encoder_rate", "head_rate"), 0)
        check_range(self, "self_training", ("epochs", "interval"), 1)
        check_targets(self.targets, self.confidence)


@dataclass(frozen=True)
class AugmentationSettings:
    """Sentences said a little differently, for self-training; see `lacuner.augmentation`.

    Attributes:
        model: Name or folder of a masked language model; `encoder` takes the encoder itself, as
            `lacuner adapt` makes one; none does without.
        rate: Share of the words that are masked.
        top: How many guesses of the model are drawn among.
    """

    model: str | None = None
    rate: float = RATE
    top: int = TOP

    def __post_init__(self) -> None:
        check_range(self, "augmentation", ("rate",), 0, 1)
        check_range(self, "augmentation", ("top",), 1)

    def with_encoder(self, name: str) -> AugmentationSettings:
        """The same, with the encoder's own name where that is meant."""
        return replace(self, model=name) if self.model == ITSELF else self


def train_on_own_labels(
    model: Model,
    own: SelfTrainingSettings,
    augmentation: AugmentationSettings,
    given: Circumstances,
) -> None:
    """Trains a model further, round by round.

    Args:
        model: Has learnt already.
        own: How it goes on.
        augmentation: Where augmented sentences come from.
        given: What all stages work with. Of the labels of its corpus only those count here that
            somebody vouches for.
    """
    for number in range(1, own.rounds + 1):
        stage = given.run.stage(f"self_training-{number}")
        if stage.is_finished:
            load_result(stage, model)
            continue
        changed = given.changed(
            seed=step_seed(given.training.seed, "self_training", number),
            epochs=own.epochs,
            encoder_rate=own.encoder_rate,
            head_rate=own.head_rate,
        )
        _round(model, own, augmentation, changed, stage)


def _round(
    model: Model,
    own: SelfTrainingSettings,
    augmentation: AugmentationSettings,
    given: Circumstances,
    stage: Stage,
) -> None:
    training = given.training
    examples = given.examples(model)
    labels = SelfLabels(
        model,
        examples,
        targets=own.targets,
        confidence=own.confidence,
        batch_words=training.batch_words,
    )
    steps = own.epochs * steps_an_epoch(len(examples), training)
    view = PeriodicView(
        stage,
        renewal_interval(own.interval, steps),
        labels.make,
        lambda path: labels.use(path, first=view.path(0)),
    )
    augmented = _augmented(model, examples, augmentation, training.seed, stage)
    given.fit(model, Distillation(model, labels, augmented=augmented), stage, view)
    on_main(lambda: (stage.folder / _AUGMENTED).unlink(missing_ok=True))


def _augmented(
    model: Model, examples: Examples, settings: AugmentationSettings, seed: int, stage: Stage
) -> Examples | None:
    """The same sentences with other words, made once and kept while the stage lasts."""
    if settings.model is None:
        findings = Findings()
        findings.remark(
            "self-training goes without augmented sentences, as augmentation.model names no masked "
            "language model"
        )
        stage.run.report(findings)
        return None
    path = stage.folder / _AUGMENTED

    def make() -> None:
        from lacuner.augmentation import Augmenter

        augmenter = Augmenter(str(settings.model), rate=settings.rate, top=settings.top)
        words = [sentence.tokens for sentence in augmenter.augment(examples.sentences, seed)]
        write_json(words, path)

    if not on_main(path.exists):
        on_main(make)
    words: list[list[Any]] = read_json(path)
    sentences = [
        Sentence(sentence.id, tuple(tokens))
        for sentence, tokens in zip(examples.sentences, words, strict=True)
    ]
    return Examples(sentences, model.encoder, model.label_numbers)
