"""`refill`: Lacuner's own. The other methods guard against missing labels; this one puts them back.

A tenth of the labels is held back. Then, in two rounds, or one for labels of a list:

1. A fresh model learns from the labels there are: in the first round by a loss that does not
   believe that what has no label is no entity (that of NRCES; of labels from a list, which are also
   wrong, that of RoSTER's taggers); later, when few are missing, by cross-entropy, and from half of
   the corpus each, so that no model confirms what it remembers.
2. It looks at all spans without a label, later at those of the other half. How the labels that were
   held back come back tells how many are missing, and how likely each of these spans is one of them
   (`refilling.gap_estimate`). Of the other half it also says how likely each given label is right;
   so does, of all, the tagger, which does not learn them by heart.
3. Where that is sure, the span gets a label; where it is in doubt, nothing is learnt from it;
   everything else is a negative. A given label that is most unlikely is taken out.

Several models (`rounds.members`) make one round together: each is judged by labels that were held
back from it, and their mean says what is put back.

The last model learns from all labels that were given and all that were put back. No gold is needed
anywhere; a dev set, if there is one, chooses the epoch of the last model and its offset.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.labelling.holding_back import gap_unit, hold_back
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.cross_entropy import SpanCrossEntropy
from lacuner.objectives.nrces import NoiseRobustCrossEntropy
from lacuner.recipes import roster
from lacuner.recipes.decision_offset import is_gold
from lacuner.recipes.parts import (
    EncoderSettings,
    RobustSpanSettings,
    calibrated,
    train_span_classifier,
    width_of,
)
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.training_settings import epochs_for
from lacuner.refilling.candidates import Candidate
from lacuner.refilling.filling import FillingSettings
from lacuner.refilling.looking import look_at
from lacuner.refilling.outcome import keep_outcome
from lacuner.refilling.rounds import Look, Round, RoundSettings
from lacuner.refilling.verdicts import Verdict
from lacuner.training.loop import step_seed
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Run
from lacuner.training.side_by_side import train_side_by_side
from lacuner.training.state import drop_result

_SLOWER = 0.5  # of the encoder's rate, for the robust loss of taggers: docs/roster.md
_FEW_EPOCHS = 8  # at most, for taggers: from then on they know the labels of a small list by heart
_ALL_TYPES = roster.RemovalSettings(rare=0.0)  # later rounds judge types; a rare one would be lost


@dataclass(frozen=True)
class HidingEncoderSettings(EncoderSettings):
    """Words to vectors, some of them hidden.

    Attributes:
        hide: Share of the pieces (or words) that the encoder does not see in training, so that it
            learns in which contexts names stand, and not names by heart.
    """

    hide: float = 0.25


@dataclass(frozen=True)
class Settings(RobustSpanSettings):
    """Settings of `refill`."""

    encoder: HidingEncoderSettings = field(default_factory=HidingEncoderSettings)
    rounds: RoundSettings = field(default_factory=RoundSettings)
    filling: FillingSettings = field(default_factory=FillingSettings)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """All rounds, then the last training; what a kill leaves of any is taken up."""
    filled = corpus if is_gold(corpus) else _refilled(corpus, settings, run)
    model = train_span_classifier(filled, dev, SpanCrossEntropy(), settings, run)
    return calibrated(NeuralPredictor(model), dev, settings.decoding.offset)


def _refilled(corpus: Corpus, settings: Settings, run: Run) -> Corpus:
    """The corpus with the labels that the last round puts back."""
    own = settings.rounds
    unit = gap_unit(corpus) if own.unit == "auto" else own.unit
    by_list = unit == "name"
    count = own.count or (1 if by_list or own.members > 1 else 2)
    rounds = [
        Round(run.stage(f"round-{number}"), number, settings.filling)
        for number in range(1, count + 1)
    ]
    shown = _shown(corpus, settings, unit)
    taught, made = shown, list[Round]()
    for this in rounds:
        if not on_main(this.is_finished):
            if own.members > 1:
                _make_together(this, corpus, settings, run, unit)
            else:
                _make(this, corpus, shown, taught, settings, run, by_list=by_list)
        made.append(this)
        if this.gaps.hardly_any:
            break
        taught = this.filled(shown)
    on_main(lambda: keep_outcome(run.folder, corpus, made, run.hidden))
    return made[-1].filled(corpus)


def _shown(corpus: Corpus, settings: Settings, unit: str, *member: int) -> Corpus:
    """The corpus as models see it: some labels are held back."""
    seed = step_seed(settings.training.seed, "held back", *member)
    return hold_back(corpus, settings.rounds.held_back, seed, unit=unit)


def _make(
    this: Round,
    corpus: Corpus,
    shown: Corpus,
    taught: Corpus,
    settings: Settings,
    run: Run,
    *,
    by_list: bool,
) -> None:
    """One round: models learn from `taught`, and look for labels that `shown` misses."""
    own, seed = settings.rounds, step_seed(settings.training.seed, "round", this.number)
    rng = np.random.default_rng(seed)
    is_first = this.number == 1
    found: list[Candidate] = []
    verdicts: list[Verdict] = []
    parts = _parts(corpus, 1 if is_first else own.folds, rng)
    trainings = dict[str, Callable[[Run], SpanClassifier | TokenTagger]]()
    for name, learnt, _ in parts:
        settings_now = _with_seed(settings, step_seed(seed, name))
        trainings[this.name + name] = (
            partial(_first_model, taught, settings_now, by_list=by_list)
            if is_first
            else partial(_later_model, taught, learnt, settings_now)
        )
    train_side_by_side(trainings, run)
    for (name, training), (_, learnt, looked_at) in zip(trainings.items(), parts, strict=True):
        model = training(run.within(name))  # it is finished, and there to be read
        look = partial(
            look_at,
            [model],
            [shown.sentences[number] for number in looked_at],
            [corpus.sentences[number] for number in looked_at],
            batch_words=settings.training.batch_words,
            judging=learnt != looked_at or isinstance(model, TokenTagger),
        )
        candidates, judged = on_main(look)
        found += [replace(one, sentence=looked_at[one.sentence]) for one in candidates]
        verdicts += [one.of_sentence(looked_at[one.given.sentence]) for one in judged]
    found.sort(key=lambda one: (one.sentence, one.start))
    verdicts.sort(key=lambda one: (one.given.sentence, one.given.start))
    looks = [Look.of(found, corpus, shown)]
    on_main(lambda: this.keep(found, verdicts, looks, _given(corpus), rng))
    run.report(this.findings(corpus))
    for name in trainings:
        drop_result(run.within(name).stage("train"))


def _make_together(this: Round, corpus: Corpus, settings: Settings, run: Run, unit: str) -> None:
    """The only round, by several models: from each of them other labels are held back.

    Each is judged by what it has not seen; what they say together, of whom nearly all have seen a
    label, decides.
    """
    seed = step_seed(settings.training.seed, "round", this.number)
    # One width for all, though some are not shown the longest label.
    width = settings.model.max_width or width_of(corpus)
    settings = replace(settings, model=replace(settings.model, max_width=width))
    names = [f"{this.name}-{member}" for member in range(1, settings.rounds.members + 1)]
    looking = partial(look_at, batch_words=settings.training.batch_words)
    models, looks = list[SpanClassifier | TokenTagger](), list[Look]()
    seen = {n: _shown(corpus, settings, unit, number) for number, n in enumerate(names, 1)}
    trainings = {
        name: partial(
            _first_model,
            shown,
            _with_seed(settings, step_seed(seed, name)),
            by_list=unit == "name",
        )
        for name, shown in seen.items()
    }
    train_side_by_side(trainings, run)
    for name, shown in seen.items():
        model = trainings[name](run.within(name))
        alone = partial(looking, [model], shown.sentences, corpus.sentences, judging=False)
        looks.append(Look.of(on_main(alone)[0], corpus, shown))
        models.append(model)
    judging = isinstance(models[0], TokenTagger)
    together = partial(looking, models, corpus.sentences, corpus.sentences, judging=judging)
    found, verdicts = on_main(together)
    rng = np.random.default_rng(seed)
    on_main(lambda: this.keep(found, verdicts, looks, _given(corpus), rng))
    run.report(this.findings(corpus))
    for name in names:
        drop_result(run.within(name).stage("train"))


def _with_seed(settings: Settings, seed: int) -> Settings:
    return replace(settings, training=replace(settings.training, seed=seed))


def _given(corpus: Corpus) -> int:
    """How many labels there are where some may be missing."""
    return sum(len(sentence.entities) for sentence in corpus if not sentence.complete)


def _parts(
    corpus: Corpus, folds: int, rng: np.random.Generator
) -> list[tuple[str, list[int], list[int]]]:
    """Which sentences each model of a round learns from, and which it looks at; a name for it."""
    numbers = np.array([number for number, sentence in enumerate(corpus) if sentence.tokens])
    if folds == 1 or len(numbers) < folds:
        return [("", numbers.tolist(), numbers.tolist())]
    fold = rng.permutation(len(numbers)) % folds
    return [
        (f"-{part + 1}", numbers[fold != part].tolist(), numbers[fold == part].tolist())
        for part in range(folds)
    ]


def _first_model(
    corpus: Corpus, settings: Settings, run: Run, *, by_list: bool
) -> SpanClassifier | TokenTagger:
    """A model that does not believe all labels, nor that what has none is no entity."""
    if not by_list:
        return train_span_classifier(corpus, None, NoiseRobustCrossEntropy(), settings, run)
    training = replace(
        settings.training,
        encoder_rate=_SLOWER * settings.training.encoder_rate,
        epochs=min(_FEW_EPOCHS, epochs_for(len(corpus), settings.training)),
    )
    own = roster.Settings(encoder=settings.encoder, training=training, removal=_ALL_TYPES)
    return roster.noise_robust_tagger(corpus, None, own, run)


def _later_model(
    corpus: Corpus, numbers: list[int], settings: Settings, run: Run
) -> SpanClassifier:
    """A model that learnt from some sentences; from few it learns a little longer."""
    if settings.rounds.folds > 1:
        longer = 1 + 1 / settings.rounds.folds
        epochs = math.ceil(longer * epochs_for(len(corpus), settings.training))
        corpus = corpus.with_sentences(corpus.sentences[number] for number in numbers)
        settings = replace(settings, training=replace(settings.training, epochs=epochs))
        run.hidden = None
    return train_span_classifier(corpus, None, SpanCrossEntropy(), settings, run)


REFILL = Recipe(
    name="refill",
    title="span classifier; missing labels are put back in rounds, then learnt",
    citation="ours",
    settings=Settings,
    train=train,
    unit="span",
    stages=4,
    cost=3.5,
    robust_to=("missing", "wrong"),
)
