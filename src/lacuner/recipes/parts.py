"""Groups of settings that recipes share, and what recipes build from them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from lacuner.corpus.alignment import aligned
from lacuner.corpus.sentence import Corpus
from lacuner.encoders import build_encoder
from lacuner.evaluation.scores import Score, score_entities
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models import Model
from lacuner.models.batching import Examples
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.word_dropout import DROPOUT
from lacuner.objectives.loss import Objective
from lacuner.recipes.decision_offset import FROM_DEV, fit_offset, fixed_offset, is_gold, merit
from lacuner.recipes.encoder_file import is_encoder_file, read_encoder_file
from lacuner.recipes.reach import out_of_reach
from lacuner.recipes.training_settings import TrainingSettings, epochs_for
from lacuner.training import loop
from lacuner.training.events import Step
from lacuner.training.periodic import PeriodicView
from lacuner.training.run_folder import Run, Stage
from lacuner.training.state import keep_result, load_result

_WIDTHS = 10, 30  # the least and the most that a width found in the data may be


@dataclass(frozen=True)
class EncoderSettings:
    """Words to vectors.

    Attributes:
        name: `minilm`, `bilstm`, the name or folder of any Hugging Face model, or a TOML file that
            describes an encoder, see `recipes/encoder_file.py`.
        pooling: The vector of a word is that of its `first` or `last` piece, or their `mean`.
        freeze: `none`, `embeddings`, `all`, or so many of the lowest layers.
        shape: Add the shape of words (case, digits) to what the encoder reads (`input`) or says
            (`output`), or not (`off`); `auto` does for uncased encoders.
        window: Pieces in a window over a long sentence; none takes what the model can.
        vectors: A file of word vectors, for `bilstm`.
    """

    name: str = "minilm"
    pooling: str = "first"
    freeze: str | int = "embeddings"
    shape: str = "auto"
    window: int | None = None
    vectors: str | None = None


@dataclass(frozen=True)
class SpanSettings:
    """Vectors to scores of spans; see `lacuner.models.span_classifier`.

    Attributes:
        features: `endpoints`, `interaction` or `biaffine`.
        max_width: Words of the widest span; none takes it from the labels: the longest, at least
            10 and at most 30.
        hidden: Width of the head.
        dropout: Of the head.
    """

    features: str = "endpoints"
    max_width: int | None = None
    hidden: int = 256
    dropout: float = DROPOUT

    def arguments(self, corpus: Corpus) -> dict[str, Any]:
        """What the model is built with."""
        return {**asdict(self), "max_width": self.max_width or width_of(corpus)}


@dataclass(frozen=True)
class TaggerSettings:
    """Vectors to scores of tags; see `lacuner.models.token_tagger`.

    Attributes:
        scheme: `bio`, `bioes` or `io`.
        head: `softmax`, `crf` or `two_part`.
        dropout: Of the head.
    """

    scheme: str = "bio"
    head: str = "softmax"
    dropout: float = DROPOUT


@dataclass(frozen=True)
class DecodingSettings:
    """How scores become entities.

    Attributes:
        offset: Taken off the score of "no entity" before a span or word takes its best label: above
            0 finds more, below 0 less; none is 0. `dev` takes the best on dev, and without one 0.
    """

    offset: float | str | None = 0.0

    @classmethod
    def fitted(cls) -> DecodingSettings:
        """For recipes that expect gaps, which leave a shift to be mended."""
        return cls(FROM_DEV)

    @classmethod
    def unsaid(cls) -> DecodingSettings:
        """For recipes that decode as they learnt; it is no part of what describes a run."""
        return cls(None)


def encoder_of(settings: EncoderSettings, corpus: Corpus) -> Any:
    """The encoder that settings describe, with what a file adds to them if they name one.

    Raises:
        UsageError: There is no such encoder, or it does not take what is said.
        DataError: The file that describes it is not right.
    """
    name, arguments = settings.name, {k: v for k, v in asdict(settings).items() if k != "name"}
    if is_encoder_file(name):
        taken = [k for k, value in arguments.items() if k != "vectors" or value is not None]
        described = read_encoder_file(Path(name), taken)
        name, arguments = described.kind, arguments | described.arguments
    return build_encoder(name, corpus.sentences, **arguments)


@dataclass(frozen=True)
class SpanRecipeSettings:
    """What every recipe with a span classifier lets people choose."""

    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    model: SpanSettings = field(default_factory=SpanSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    decoding: DecodingSettings = field(default_factory=DecodingSettings)


@dataclass(frozen=True)
class RobustSpanSettings(SpanRecipeSettings):
    """The same for recipes that expect gaps, which leave a shift to be mended."""

    decoding: DecodingSettings = field(default_factory=DecodingSettings.fitted)


def train_span_classifier(
    corpus: Corpus, dev: Corpus | None, objective: Objective, settings: SpanRecipeSettings, run: Run
) -> SpanClassifier:
    """A span classifier, trained with an objective in the stage `train`."""
    offset = settings.decoding.offset
    torch.manual_seed(loop.step_seed(settings.training.seed, "weights"))
    encoder = encoder_of(settings.encoder, corpus)
    model = SpanClassifier(encoder, corpus.labels, **settings.model.arguments(corpus))
    fit(model, corpus, dev, objective, settings.training, run.stage("train"), offset=offset)
    return model


def width_of(corpus: Corpus) -> int:
    """The widest span worth looking at: the longest labelled one, at least 10, at most 30 words."""
    longest = max((e.end - e.start for s in corpus for e in s.entities), default=0)
    return min(max(longest, _WIDTHS[0]), _WIDTHS[1])


def calibrated(
    predictor: NeuralPredictor, dev: Corpus | None, offset: float | str | None = None
) -> NeuralPredictor:
    """The predictor with an offset, and with a temperature fitted on dev, if that is gold.

    Args:
        predictor: What is changed and returned.
        dev: What to fit on.
        offset: See `DecodingSettings`.
    """
    fixed = fixed_offset(offset, dev)
    if fixed is not None:
        predictor.offset = fixed
    elif dev is not None:
        predictor.offset = fit_offset(predictor, dev).offset
    if dev is not None and is_gold(dev):
        predictor.fit_temperature(dev)
    return predictor


def examples_of(model: Model, corpus: Corpus, run: Run) -> Examples:
    """The corpus for the training of a model; trainings of one run share what is tokenised."""
    kind = type(model.encoder)
    known = (items for of, by, items in run.tokenised if of is corpus and by is kind)
    examples = Examples(
        corpus.sentences,
        model.encoder,
        model.label_numbers,
        hidden=None if run.hidden is None else run.hidden.sentences,
        items=next(known, None),
    )
    run.tokenised[:] = [(corpus, kind, examples.items)]
    return examples


def fit(
    model: Model,
    corpus: Corpus,
    dev: Corpus | None,
    objective: Objective,
    settings: TrainingSettings,
    stage: Stage,
    *,
    view: PeriodicView | None = None,
    most_steps: int | None = None,
    offset: float | str | None = None,
) -> None:
    """Trains a model in a stage of the run; a stage that is finished is not trained again.

    The model is chosen on dev where there is one, else it is the last.

    Args:
        model: Gets the weights that were chosen.
        corpus: What to learn from.
        dev: What to choose on.
        objective: What to minimise.
        settings: How the loop runs.
        stage: Where the training is kept.
        view: What the objective knows of the whole corpus, renewed every so many steps.
        most_steps: End after so many steps, though the epochs would make more.
        offset: See `DecodingSettings`; the model is chosen with it.
    """
    if stage.is_finished:
        load_result(stage, model)
        return
    stage.run.report(out_of_reach(model, corpus, dev))
    examples = examples_of(model, corpus, stage.run)
    scorer = None if dev is None else _scorer(model, dev, fixed_offset(offset, dev))
    arguments = asdict(settings)
    arguments["epochs"] = epochs_for(len(examples), settings)
    arguments["most_steps"] = most_steps
    if view is not None:
        view.begin()
    for event in loop.train(model, examples, objective, stage, score=scorer, **arguments):
        stage.record(event)
        if view is not None and isinstance(event, Step):
            renewal = view.after(event.step)
            if renewal is not None:
                stage.record(renewal)
    keep_result(stage, model)
    if view is not None:
        view.clear()


def _scorer(model: Model, dev: Corpus, offset: float | None) -> loop.Scorer:
    """Scores a model on dev, with an offset or with the one that is best there."""

    def score() -> tuple[float, dict[str, Any]]:
        predictor = NeuralPredictor(model, offset=offset or 0.0)
        if offset is None:
            fit = fit_offset(predictor, dev)
            facts = {"offset": fit.offset, "unshifted": merit(fit.unshifted, dev)}
            return merit(fit.score, dev), {**_shares(fit.score), **facts}
        predicted = dev.with_sentences(predictor.predict(dev))
        total = score_entities(aligned(predicted, dev)).total
        return merit(total, dev), _shares(total)

    return score


def _shares(score: Score) -> dict[str, Any]:
    return {"precision": score.precision, "recall": score.recall}
