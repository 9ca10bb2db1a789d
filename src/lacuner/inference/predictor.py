"""From sentences to sentences with entities: what every trained run can do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import torch

from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.files import write_json
from lacuner.inference.calibration import TemperatureFit
from lacuner.inference.decode import RANKINGS, decode
from lacuner.inference.retrieval import Retrieval
from lacuner.inference.saved_model import load_model, save_model
from lacuner.models import Model
from lacuner.models.batch import Batch, Output
from lacuner.models.batching import Examples
from lacuner.models.distribution import outputs, shifted, silent_classes

_CHUNK = 4096  # sentences that are sorted by length together


class Predictor(Protocol):
    """Labels sentences. `save` writes it to a folder that does not exist; the kind reads it back.

    Attributes:
        labels: The labels it knows.
    """

    labels: tuple[str, ...]

    def predict(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences in order, with the predicted entities in place of their own labels."""
        ...

    def save(self, folder: Path) -> None:
        """Writes it to a folder."""
        ...


class NeuralPredictor:
    """A model, and how its scores become entities.

    Args:
        model: The model.
        thresholds: Least probability of an entity, by label.
        temperature: By which scores are divided, so that probabilities are honest.
        nested: Keep entities inside others.
        batch_size: Sentences in a batch.
        batch_words: Most places for words in a batch, padding included.
        device: Where to compute; None takes a GPU if there is one.
        retrieval: A second opinion on the labels of spans.
        offset: Taken off the scores of "no entity": above 0 more entities are found, below fewer.
        ranking: Spans that overlap compete by the `probability` of their label or by its `score`.
    """

    def __init__(
        self,
        model: Model,
        *,
        thresholds: dict[str, float] | None = None,
        temperature: float = 1.0,
        nested: bool = False,
        batch_size: int = 64,
        batch_words: int = 4096,
        device: str | None = None,
        retrieval: Retrieval | None = None,
        offset: float = 0.0,
        ranking: str = RANKINGS[0],
    ) -> None:
        self.model = model
        self.labels = model.labels
        self.thresholds = dict(thresholds or {})
        self.temperature = temperature
        self.nested = nested
        self.retrieval = retrieval
        self.offset = offset
        self.ranking = ranking
        self.batch_size = batch_size
        self.batch_words = batch_words
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))

    def predict(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences in order, with the predicted entities in place of their own labels."""
        rest = iter(sentences)
        while chunk := list(islice(rest, _CHUNK)):
            yield from self.predict_at(chunk, [self.offset])[0]

    def predict_at(
        self, sentences: Sequence[Sentence], offsets: Sequence[float]
    ) -> list[list[Sentence]]:
        """The sentences as they are labelled with each of several offsets, for one pass."""
        bare = [sentence.unlabelled() for sentence in sentences]
        found = [bare.copy() for _ in offsets]
        for numbers, _, output in self.outputs(bare):
            temperature = self.temperature
            if self.retrieval is not None:
                output, temperature = self.retrieval.blend(output, temperature), 1.0
            for labelled, offset in zip(found, offsets, strict=True):
                decoded = decode(
                    self.model,
                    output,
                    thresholds=self.thresholds,
                    temperature=temperature,
                    nested=self.nested,
                    offset=offset,
                    ranking=self.ranking,
                )
                for number, entities in zip(numbers, decoded, strict=True):
                    if entities:
                        labelled[number] = bare[number].with_entities(entities)
        return found

    def outputs(self, sentences: Sequence[Sentence]) -> Iterator[tuple[list[int], Batch, Output]]:
        """What the model says of sentences, in batches of similar length, with their numbers.

        Dropout is off. A retrieval has no say in it.
        """
        some = [number for number, sentence in enumerate(sentences) if sentence.tokens]
        examples = Examples(sentences, self.model.encoder, self.model.label_numbers)
        for numbers, batch, output in outputs(
            self.model,
            examples,
            batch_size=self.batch_size,
            batch_words=self.batch_words,
            device=self.device,
        ):
            yield [some[number] for number in numbers], batch, output

    def fit_temperature(self, gold: Corpus) -> None:
        """Finds the temperature that makes probabilities honest on gold sentences."""
        fit = TemperatureFit(self.model)
        silent = silent_classes(self.model)
        for _, batch, output in self.outputs(gold.sentences):
            fit.add(shifted(output, self.offset, silent=silent), batch)
        self.temperature = fit.temperature()

    def save(self, folder: Path) -> None:
        """Writes model and decoding to a folder."""
        save_model(self.model, folder)
        facts: dict[str, Any] = {
            "kind": "neural",
            "thresholds": self.thresholds,
            "temperature": self.temperature,
            "nested": self.nested,
            "offset": self.offset,
            "ranking": self.ranking,
        }
        if self.retrieval is not None:
            self.retrieval.save(folder)
            facts["alpha"] = self.retrieval.alpha
        write_json(facts, folder / "predictor.json")

    @classmethod
    def load(cls, folder: Path, facts: dict[str, Any]) -> NeuralPredictor:
        """Reads what `save` wrote."""
        return cls(
            load_model(folder),
            thresholds=facts.get("thresholds", {}),
            temperature=facts.get("temperature", 1.0),
            nested=facts.get("nested", False),
            offset=facts.get("offset", 0.0),
            ranking=facts.get("ranking", RANKINGS[0]),
            retrieval=Retrieval.load(folder, facts["alpha"]) if "alpha" in facts else None,
        )
