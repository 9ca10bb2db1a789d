"""The trained recogniser: texts, words or a corpus in, entities out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from lacuner.corpus.raw_text import sentences_of_text
from lacuner.corpus.sentence import Corpus, Entity, Sentence
from lacuner.errors import DataError, UsageError
from lacuner.files import read_json
from lacuner.inference.dictionary import DictionaryPredictor
from lacuner.inference.predictor import NeuralPredictor, Predictor

PREDICTORS: dict[str, type[NeuralPredictor] | type[DictionaryPredictor]] = {
    "neural": NeuralPredictor,
    "dictionary": DictionaryPredictor,
}


@dataclass(frozen=True, slots=True)
class Found:
    """An entity of a text.

    Attributes:
        start: Its first character.
        end: The character after its last.
        text: Its words as they stand in the text.
        label: Its type.
        score: How sure the recogniser is, between 0 and 1; None when it cannot say.
    """

    start: int
    end: int
    text: str
    label: str
    score: float | None


class Recogniser:
    """What `lacuner.load` returns.

    Example:
        >>> recogniser = lacuner.load("run")  # doctest: +SKIP
        >>> recogniser("Maren Holt left Bergen.")  # doctest: +SKIP
        [Found(start=0, end=10, text='Maren Holt', label='PER', score=0.98), …]
    """

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it knows."""
        return self.predictor.labels

    @overload
    def __call__(self, text: str) -> list[Found]: ...
    @overload
    def __call__(self, text: list[str] | tuple[str, ...]) -> list[list[Found]]: ...
    def __call__(self, text: str | list[str] | tuple[str, ...]) -> list[Found] | list[list[Found]]:
        """The entities of a text, or of each of several texts."""
        if isinstance(text, str):
            return next(self.find([text]))
        return list(self.find(text))

    def find(self, texts: Iterable[str]) -> Iterator[list[Found]]:
        """Yields the entities of each text; any number of texts, of any length."""
        owners: deque[int] = deque()  # which text each sentence under way belongs to
        count = 0

        def sentences() -> Iterator[Sentence]:
            nonlocal count
            for text in texts:
                for sentence in sentences_of_text(text, str(count)):
                    owners.append(count)
                    yield sentence
                count += 1

        number, found = 0, list[Found]()
        for sentence in self.predictor.predict(sentences()):
            owner = owners.popleft()
            while number < owner:
                yield found
                number, found = number + 1, []
            found += _found(sentence)
        while number < count:
            yield found
            number, found = number + 1, []

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[Entity]]:
        """The entities of sentences that are words already."""
        given = (Sentence(str(number), tuple(words)) for number, words in enumerate(sentences))
        return [list(sentence.entities) for sentence in self.predictor.predict(given)]

    def predict(self, corpus: Corpus) -> Corpus:
        """The same sentences with predicted entities in place of their labels."""
        return Corpus(
            tuple(self.predictor.predict(corpus)), (*corpus.labels, *self.predictor.labels)
        )

    def stream(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Labels a stream of sentences in memory that does not grow with it."""
        return self.predictor.predict(sentences)


def _found(sentence: Sentence) -> Iterator[Found]:
    assert sentence.text is not None and sentence.offsets is not None  # made from text
    for entity in sentence.entities:
        start, end = sentence.offsets[entity.start][0], sentence.offsets[entity.end - 1][1]
        yield Found(
            sentence.begin + start,
            sentence.begin + end,
            sentence.text[start:end],
            entity.label,
            entity.score,
        )


def load(run: str | Path, *, alpha: float | None = None, offset: float | None = None) -> Recogniser:
    """The recogniser of a finished run, or of a model folder.

    Args:
        run: The folder.
        alpha: How much retrieval has to say, for a run of `scl_rai`; None takes what it was
            trained with.
        offset: What is taken off the scores of "no entity": above 0 finds more entities, below 0
            fewer; None takes what the run was trained with.

    Raises:
        DataError: The folder holds no finished run.
        UsageError: A share for a run without retrieval, or one that is none, or an offset for a
            run without scores.
    """
    folder = Path(run)
    if (folder / "model").is_dir():
        folder = folder / "model"
    if not (folder / "predictor.json").exists():
        unfinished = (folder / "settings.toml").exists()
        raise DataError(
            folder,
            "the run is not finished" if unfinished else "there is no finished run",
            right="'lacuner train … --resume' finishes it" if unfinished else None,
        )
    facts = read_json(folder / "predictor.json")
    kind = PREDICTORS.get(facts.get("kind"))
    if kind is None:
        raise DataError(folder, f"there is no predictor of the kind {facts.get('kind')!r}")
    predictor = kind.load(folder, facts)
    if alpha is not None:
        retrieval = getattr(predictor, "retrieval", None)
        if retrieval is None:
            raise UsageError(f"The run in {run} has no retrieval that could have a share (alpha).")
        retrieval.alpha = alpha
    if offset is not None:
        if not isinstance(predictor, NeuralPredictor):
            raise UsageError(f"The run in {run} has no scores that could be shifted (offset).")
        predictor.offset = offset
    return Recogniser(predictor)
