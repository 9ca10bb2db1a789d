"""`weighted_partial_crf`: models of other folds say which of the possible tags are probable.

Jie et al. 2019, "Better Modeling of Incomplete Annotations for Named Entity Recognition". At first
everything unlabelled is O. Then, round by round: the corpus is cut into folds, a model is trained
on all folds but one and asked about that one, and its answers, which never contradict a label, are
what the next round learns. `hard` answers are the best rows of tags; `soft` ones are probabilities
by which the rows that agree with the labels are weighed. The last model learns from all folds with
the last answers.

Every fold of every round is a stage of the run (`round-1.fold-2`); the answers of a round are a
stage, too (`round-1.answers`), after which the models of its folds are not needed any more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lacuner.corpus.sentence import Corpus
from lacuner.corpus.tag_set import TagSet
from lacuner.errors import UsageError
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.partial_crf import PartialCrfLikelihood
from lacuner.recipes.crf_tagger import CrfRecipeSettings, new_crf_tagger
from lacuner.recipes.decision_offset import offset_of
from lacuner.recipes.hidden_tags import Asked, HiddenTags
from lacuner.recipes.parts import calibrated, fit
from lacuner.recipes.recipe import Recipe
from lacuner.suggestions import unknown_name
from lacuner.training.loop import step_seed
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Run, Stage
from lacuner.training.state import drop_result

ANSWERS = ("hard", "soft")


@dataclass(frozen=True)
class FoldSettings:
    """How models of other folds are asked.

    Attributes:
        answers: `hard`, the best row of tags, or `soft`, the probabilities of tags.
        count: How many folds there are.
        rounds: How often all folds are trained; the paper does it ten times.
        shifted: Models answer with the offset that they decide with (`decoding.offset`).
    """

    answers: str = "soft"
    count: int = 2
    rounds: int = 3
    shifted: bool = True

    def __post_init__(self) -> None:
        if self.answers not in ANSWERS:
            raise UsageError(unknown_name("kind of answers", self.answers, ANSWERS))
        if self.count < 2 or self.rounds < 1:
            raise UsageError(
                f"folds.count ({self.count}) must be at least 2 and folds.rounds ({self.rounds}) "
                "at least 1."
            )


@dataclass(frozen=True)
class Settings(CrfRecipeSettings):
    """Settings of `weighted_partial_crf`."""

    folds: FoldSettings = field(default_factory=FoldSettings)


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """Rounds of folds, then one training on everything."""
    trainer = _Trainer(corpus, dev, settings, run)
    answers: Path | None = None
    for number in range(1, settings.folds.rounds + 1):
        answers = trainer.round(number, answers)
    model = trainer.fit(trainer.everything, answers, run.stage("train"))
    return calibrated(NeuralPredictor(model), dev, settings.decoding.offset)


class _Trainer:
    """The corpus in folds, and trainings on parts of it."""

    def __init__(self, corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> None:
        self._corpus = corpus.with_sentences(s for s in corpus if s.tokens)
        self._dev, self._settings = dev, settings
        self._run = run
        count = settings.folds.count
        if len(self._corpus) < count:
            raise UsageError(
                f"The corpus has {len(self._corpus)} sentences with words, too few for {count} "
                "folds."
            )
        rng = np.random.default_rng(step_seed(settings.training.seed, "folds"))
        order = rng.permutation(len(self._corpus)).tolist()
        self._folds = [sorted(order[fold::count]) for fold in range(count)]
        self.everything = list(range(len(self._corpus)))
        self._soft = settings.folds.answers == "soft"
        self._hidden_tags = HiddenTags(
            self._corpus,
            TagSet(corpus.labels, settings.model.scheme),
            soft=self._soft,
            batch_words=settings.training.batch_words,
        )

    def round(self, number: int, answers: Path | None) -> Path:
        """Trains a model for every fold and keeps what they say; what is finished is not repeated.

        Args:
            number: The round's, from 1.
            answers: Those of the round before.

        Returns:
            The file of the new answers.
        """
        part = self._run.within(f"round-{number}")
        part.hidden = None  # it is told for all sentences, and these are some
        done = part.stage("answers")
        path = done.folder / "tags.npy"
        stages = [part.stage(f"fold-{fold}") for fold in range(1, len(self._folds) + 1)]
        if not on_main(lambda: done.is_finished):
            asked = []
            for fold, stage in zip(self._folds, stages, strict=True):
                others = sorted(set(self.everything) - set(fold))
                model = self.fit(others, answers, stage)
                asked.append(Asked(model, self._offset(model), fold))
            on_main(lambda: self._hidden_tags.write(path, asked))
            on_main(done.finish)
        for stage in stages:
            drop_result(stage)
        return path

    def _offset(self, model: TokenTagger) -> float:
        settings = self._settings
        return (
            offset_of(model, self._dev, settings.decoding.offset) if settings.folds.shifted else 0.0
        )

    def fit(self, numbers: list[int], answers: Path | None, stage: Stage) -> TokenTagger:
        """A fresh model, trained on some sentences with the answers about them, if there are any.

        Args:
            numbers: The sentences.
            answers: The file; None takes everything unlabelled for O.
            stage: Where the training is kept.
        """
        model = new_crf_tagger(self._corpus, self._settings, stage.name)
        objective = PartialCrfLikelihood(model)
        corpus = self._corpus
        if answers is None:
            corpus = corpus.vouched()
        elif self._soft:
            beliefs = self._hidden_tags.beliefs(answers, numbers)
            objective = PartialCrfLikelihood(model, beliefs=beliefs)
        else:
            corpus = self._hidden_tags.as_corpus(answers)
        some = corpus.with_sentences(corpus.sentences[number] for number in numbers)
        offset = self._settings.decoding.offset
        fit(model, some, self._dev, objective, self._settings.training, stage, offset=offset)
        return model


WEIGHTED_PARTIAL_CRF = Recipe(
    name="weighted_partial_crf",
    title="CRF; models of other folds say what unlabelled words probably are",
    citation="Jie et al. 2019",
    settings=Settings,
    train=train,
    unit="token",
    stages=7,
    cost=4.0,
    robust_to=("missing",),
)
