"""`pu_learning`: unlabelled words are a mixture whose share of entities is known, or estimated.

Peng et al. 2019, "Distantly Supervised Named Entity Recognition using Positive-Unlabeled Learning":
a binary classifier a label over words, a bounded non-negative risk, and the share of words that
belong to the label, the class prior. Where nobody gives it, it is estimated from the incomplete
labels (`recipes/class_prior.py`): the public code takes it from gold.

    risk.form=confidence    Conf-MPU (Zhou et al. 2022): one classifier of all labels. A first model
                            says how surely each word belongs to any entity, a second one learns the
                            labels with that.

The classifiers share one encoder; in the paper each has its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Ambiguity, Corpus, Entity
from lacuner.errors import UsageError
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models.batch import Batch, Output
from lacuner.models.token_tagger import TokenTagger
from lacuner.models.word_dropout import DROPOUT
from lacuner.objectives.positive_unlabelled import (
    THRESHOLD,
    ConfidenceRisk,
    PositiveUnlabelledRisk,
    Prior,
    check_risk,
)
from lacuner.recipes.class_prior import FOLDS, estimate_priors, labelled_shares, vouched_shares
from lacuner.recipes.decision_offset import offset_of
from lacuner.recipes.parts import (
    DecodingSettings,
    EncoderSettings,
    calibrated,
    encoder_of,
    examples_of,
    fit,
)
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.training_settings import TrainingSettings
from lacuner.suggestions import unknown_name
from lacuner.training.corpus_array import Layout
from lacuner.training.loop import step_seed
from lacuner.training.predictions import Predictions, write_predictions
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Run

FORMS = ("binary", "confidence")
GAMMA, WARMUP = 5.0, 2
ENTITY = "ENTITY"
_PLAUSIBLE = 0.5  # share of the words that may be in entities


@dataclass(frozen=True)
class HeadSettings:
    """Vectors to scores of IO tags.

    Attributes:
        dropout: Of the head.
    """

    dropout: float = DROPOUT


@dataclass(frozen=True)
class PriorSettings:
    """Which share of the words belongs to entities of a label.

    Attributes:
        share: One number for every label, or one a label (`prior.share.PER=0.05`); none takes that
            of the sentences that somebody vouches for, and where these are few, estimates it from
            the labels that there are.
        folds: In how many parts the corpus is cut for the estimate.
    """

    share: float | dict[str, float] | None = None
    folds: int = FOLDS


@dataclass(frozen=True)
class RiskSettings:
    """The risk; see `lacuner.objectives.positive_unlabelled`.

    Attributes:
        form: `binary`, one classifier a label, or `confidence`, Conf-MPU.
        gamma: How much more labelled words count than their share.
        warmup: Epochs that begin with cross-entropy in place of the bounded loss.
        threshold: Words that surely belong to an entity by more than that are no negatives, for
            `confidence`.
    """

    form: str = FORMS[0]
    gamma: float = GAMMA
    warmup: int = WARMUP
    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UsageError(unknown_name("form of the risk", self.form, FORMS))
        check_risk(self.gamma, self.warmup, self.threshold)


@dataclass(frozen=True)
class Settings:
    """Settings of `pu_learning`."""

    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    model: HeadSettings = field(default_factory=HeadSettings)
    prior: PriorSettings = field(default_factory=PriorSettings)
    risk: RiskSettings = field(default_factory=RiskSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    decoding: DecodingSettings = field(default_factory=DecodingSettings.fitted)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """The priors, and one training; with confidences, two."""
    priors = _priors(corpus, settings, run)
    if settings.risk.form == "confidence":
        model = _train_with_confidence(corpus, dev, priors, settings, run)
    else:
        model = _train_binary(corpus, dev, priors, settings, run, "train")
    return calibrated(NeuralPredictor(model), dev, settings.decoding.offset)


def _priors(corpus: Corpus, settings: Settings, run: Run) -> list[Prior]:
    """The priors of all labels, given or estimated; the run keeps what was estimated."""
    labelled, given = labelled_shares(corpus), settings.prior.share
    if not any(labelled.values()):  # every word is vouched for, or nothing is labelled
        return [Prior(0.0, 0.0) for _ in corpus.labels]
    vouched = vouched_shares(corpus)
    if given is None and vouched is not None:
        shares = {label: max(vouched[label], labelled[label]) for label in corpus.labels}
    elif given is None:
        shares = estimate_priors(
            corpus,
            lambda stage: _new_tagger(corpus, corpus.labels, settings, stage),
            settings.training,
            run,
            settings.prior.folds,
        )
        shares = {label: max(shares[label], labelled[label]) for label in corpus.labels}
        findings = Findings()
        said = ", ".join(f"{label} {share:.4f}" for label, share in shares.items())
        findings.remark(f"class priors, estimated from the incomplete labels: {said}")
        total = sum(shares.values())
        if total > _PLAUSIBLE:
            findings.remark(
                f"by these priors {total:.0%} of the words are in entities, which is hardly right: "
                "the labels are too few to estimate by. Give them (prior.share)",
                warns=True,
            )
        run.report(findings)
    else:
        shares = _given(given, corpus.labels)
    return [_checked(label, shares[label], labelled[label]) for label in corpus.labels]


def _given(given: float | Mapping[str, float], labels: Sequence[str]) -> dict[str, float]:
    if not isinstance(given, Mapping):
        return dict.fromkeys(labels, given)
    for label in given:
        if label not in labels:
            raise UsageError(unknown_name("label in prior.share", label, labels))
    missing = [label for label in labels if label not in given]
    if missing:
        raise UsageError(
            f"prior.share says nothing of {', '.join(missing)}. Give one number for all labels, "
            "one for each, or none to have them estimated."
        )
    return dict(given)


def _checked(label: str, share: float, labelled: float) -> Prior:
    try:
        return Prior(share, labelled)
    except UsageError as error:
        raise UsageError(f"prior.share of {label}: {error}") from None


def _new_tagger(
    corpus: Corpus, labels: Sequence[str], settings: Settings, stage: str
) -> TokenTagger:
    torch.manual_seed(step_seed(settings.training.seed, "weights", stage))
    encoder = encoder_of(settings.encoder, corpus)
    return TokenTagger(encoder, labels, scheme="io", **asdict(settings.model))


def _train_binary(
    corpus: Corpus,
    dev: Corpus | None,
    priors: Sequence[Prior],
    settings: Settings,
    run: Run,
    stage: str,
) -> TokenTagger:
    model = _new_tagger(corpus, corpus.labels, settings, stage)
    risk = settings.risk
    objective = PositiveUnlabelledRisk(model, priors, gamma=risk.gamma, warmup=risk.warmup)
    offset = settings.decoding.offset
    fit(model, corpus, dev, objective, settings.training, run.stage(stage), offset=offset)
    return model


def _train_with_confidence(
    corpus: Corpus, dev: Corpus | None, priors: Sequence[Prior], settings: Settings, run: Run
) -> TokenTagger:
    """First how surely each word belongs to an entity, then which."""
    layout = Layout([len(sentence) for sentence in corpus if sentence.tokens])
    done = run.stage("confidences")
    path = done.folder / "chances.npy"
    if not on_main(lambda: done.is_finished):
        whole = Prior(
            min(1.0, sum(prior.share for prior in priors)),
            sum(prior.labelled for prior in priors),
        )
        merged, merged_dev = _as_one_label(corpus), None if dev is None else _as_one_label(dev)
        first = _train_binary(merged, merged_dev, [whole], settings, run, "entity_or_not")
        on_main(lambda: _write_confidences(path, first, merged, merged_dev, settings, run, layout))
        on_main(done.finish)
    chances = Predictions([path], layout)

    def confidence(batch: Batch, output: Output) -> Tensor:
        return chances.mean(batch, output)[..., 1]

    model = _new_tagger(corpus, corpus.labels, settings, "train")
    risk = settings.risk
    objective = ConfidenceRisk(
        model,
        priors,
        confidence,
        gamma=risk.gamma,
        warmup=risk.warmup,
        threshold=risk.threshold,
    )
    offset = settings.decoding.offset
    fit(model, corpus, dev, objective, settings.training, run.stage("train"), offset=offset)
    return model


def _write_confidences(
    path: Path,
    first: TokenTagger,
    corpus: Corpus,
    dev: Corpus | None,
    settings: Settings,
    run: Run,
    layout: Layout,
) -> None:
    """What the first model says of all words, with the offset that it decides with."""
    examples = examples_of(first, corpus, run)
    offset = offset_of(first, dev, settings.decoding.offset)
    words = settings.training.batch_words
    write_predictions(path, first, examples, layout, batch_words=words, offset=offset)


def _as_one_label(corpus: Corpus) -> Corpus:
    """The corpus with one label in place of all."""
    return Corpus(
        tuple(
            sentence.with_labels(
                dict.fromkeys(Entity(*entity.span, ENTITY) for entity in sentence.entities),
                dict.fromkeys(Ambiguity(*found.span) for found in sentence.ambiguous),
            )
            for sentence in corpus
        ),
        (ENTITY,),
    )


PU_LEARNING = Recipe(
    name="pu_learning",
    title="binary classifiers of words; unlabelled ones are a mixture with a known share",
    citation="Peng et al. 2019; with risk.form=confidence, Zhou et al. 2022",
    settings=Settings,
    train=train,
    unit="token",
    stages=3,
    cost=2.0,
    robust_to=("missing",),
)
