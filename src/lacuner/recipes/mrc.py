"""`mrc`: a question a label in front of the sentence, whose answers are the entities.

Li et al. 2020, "A Unified MRC Framework for Named Entity Recognition": the encoder reads question
and sentence together, and says where answers begin, where they end, and which beginning belongs to
which end. What has no label is no answer: the paper is supervised.

    [questions]
    PER = "Which person is named? People, families, characters of books."

Three things differ: spans are at most `model.max_width` words wide; where labels or spans of one
sentence compete, the surest wins (the public code takes for every beginning the nearest end); and
question and sentence are told apart by the separator between them alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import torch

from lacuner.corpus.sentence import Corpus
from lacuner.encoders.question_reader import QuestionReader
from lacuner.errors import UsageError
from lacuner.inference.predictor import NeuralPredictor
from lacuner.models.question_pointers import QuestionPointers
from lacuner.models.word_dropout import DROPOUT
from lacuner.objectives.pointers import WEIGHTS, PointerCrossEntropy
from lacuner.recipes.parts import (
    DecodingSettings,
    EncoderSettings,
    calibrated,
    encoder_of,
    fit,
    width_of,
)
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.training_settings import TrainingSettings
from lacuner.suggestions import unknown_name
from lacuner.training.loop import step_seed
from lacuner.training.run_folder import Run

# What the labels of common corpora stand for; any other label is taken for a word.
_NAMES = {
    "PER": "person",
    "LOC": "location",
    "ORG": "organisation",
    "GPE": "country or city",
    "MISC": "other name",
}


@dataclass(frozen=True)
class PointerSettings:
    """Vectors to pointers; see `lacuner.models.question_pointers`.

    Attributes:
        max_width: Words of the widest span; none takes it from the labels: the longest, at least
            10 and at most 30.
        hidden: Width of the layer that matches beginnings and ends.
        dropout: Of the head.
    """

    max_width: int | None = None
    hidden: int = 256
    dropout: float = DROPOUT


@dataclass(frozen=True)
class LossSettings:
    """How much beginnings, ends and matches count.

    Attributes:
        start: Beginnings.
        end: Ends.
        match: Pairs of both.
    """

    start: float = WEIGHTS[0]
    end: float = WEIGHTS[1]
    match: float = WEIGHTS[2]


@dataclass(frozen=True)
class Settings:
    """Settings of `mrc`.

    Attributes:
        questions: What to ask for a label, such as a description of it; a label without one gets a
            question made of its name.
        nested: Find entities inside others.
    """

    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    questions: dict[str, str] = field(default_factory=dict)
    model: PointerSettings = field(default_factory=PointerSettings)
    loss: LossSettings = field(default_factory=LossSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    decoding: DecodingSettings = field(default_factory=DecodingSettings.unsaid)
    nested: bool = False


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """One training, in which every sentence is read once for each label."""
    torch.manual_seed(step_seed(settings.training.seed, "weights"))
    questions = questions_for(corpus.labels, settings.questions)
    encoder = QuestionReader(encoder_of(settings.encoder, corpus), questions)
    width = settings.model.max_width or width_of(corpus)
    arguments = {**asdict(settings.model), "max_width": width}
    model = QuestionPointers(encoder, corpus.labels, **arguments)
    objective = PointerCrossEntropy(**asdict(settings.loss))
    offset = settings.decoding.offset
    fit(model, corpus, dev, objective, settings.training, run.stage("train"), offset=offset)
    return calibrated(NeuralPredictor(model, nested=settings.nested), dev, offset)


def questions_for(labels: Sequence[str], given: Mapping[str, str]) -> list[str]:
    """A question for every label, in their order.

    Args:
        labels: The labels.
        given: Those that somebody wrote.

    Raises:
        UsageError: A question for a label that there is not, or one without words.

    Example:
        >>> questions_for(["LOC", "job_title"], {})
        ['Which location is mentioned in the text ?', 'Which job title is mentioned in the text ?']
    """
    for label, question in given.items():
        if label not in labels:
            raise UsageError(unknown_name("label in questions", label, labels))
        if not question.strip():
            raise UsageError(f"questions.{label} is empty; without it a question would be made.")
    return [given.get(label, _default_question(label)) for label in labels]


def _default_question(label: str) -> str:
    name = _NAMES.get(label, label.replace("_", " ").replace("-", " ").lower())
    return f"Which {name} is mentioned in the text ?"


MRC = Recipe(
    name="mrc",
    title="a question a label, answered by spans of the sentence; for complete labels",
    citation="Li et al. 2020",
    settings=Settings,
    train=train,
    unit="span",
    distils=False,  # three pointers a label are more than a distribution over labels
    cost=4.0,  # once for every label
)
