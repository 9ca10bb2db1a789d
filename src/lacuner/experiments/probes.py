"""A look inside a run: what it thinks of spans or words, epoch by epoch, and where it puts them.

The loop tells its listeners nothing of the model. It does save the weights at the end of every
epoch, so a listener can keep those files, and the spans are scored afterwards, on the model of the
finished run with the weights of each epoch put in. Nothing of it touches the training. The weights
of the last epoch are at hand only where that was the best one: nothing happens after it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.torch import load_file

from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.experiments.results import HIDDEN, LABELLED, NO_ENTITY, O_VALUE
from lacuner.inference.predictor import NeuralPredictor
from lacuner.labelling.masking import Masked
from lacuner.training.events import Evaluation, Step

_SPANS = 150  # of each group whose probabilities are followed
_DRAWN = 500  # of entities, and as many others, whose vectors are kept
_TRIES = 20  # draws for each span that is no entity


class Snapshots:
    """A listener that keeps the weights of every epoch of the stage `train`.

    Args:
        run: The run folder.
        kept: Where to.
    """

    def __init__(self, run: Path, kept: Path) -> None:
        self._run, self._kept = run, kept
        self._due: tuple[int, float, Path] | None = None
        kept.mkdir(parents=True, exist_ok=True)

    def __call__(self, stage: str, event: Any) -> None:
        """Notices the end of an epoch; its state is on disk when the next step is over."""
        if stage != "train":
            return
        folder = self._run / "stages" / stage
        if isinstance(event, Evaluation) and event.best:
            self._keep(event.epoch, folder / f"best-{event.step}.safetensors")
            self._due = None
        elif isinstance(event, Step):
            if self._due is not None and event.step > self._due[0]:
                self._keep(self._due[1], self._due[2])
                self._due = None
            if abs(event.epoch - round(event.epoch)) < 1e-9:
                weights = folder / f"state-{event.step}" / "model.safetensors"
                self._due = (event.step, event.epoch, weights)

    def _keep(self, epoch: float, weights: Path) -> None:
        path = self._kept / f"{round(epoch):04d}.safetensors"
        if path.exists() or not weights.exists():
            return
        try:
            os.link(weights, path)
        except OSError:  # a file system without links
            shutil.copyfile(weights, path)

    def epochs(self) -> list[tuple[int, Path]]:
        """The epochs whose weights are there."""
        return [(int(path.stem), path) for path in sorted(self._kept.glob("*.safetensors"))]


@dataclass(frozen=True)
class ChosenSpans:
    """Spans to look at.

    Attributes:
        sentences: Where they stand.
        places: Sentence, start and end of each.  # [spans, 3]
        groups: The group of each.
    """

    sentences: tuple[Sentence, ...]
    places: NDArray[np.int64]
    groups: tuple[str, ...]


def choose_in_train(masked: Masked, widest: int, rng: np.random.Generator) -> ChosenSpans:
    """Labelled entities, hidden ones, and spans that are neither, as many of each.

    Args:
        masked: What the run learns from, and what was hidden.
        widest: Words of the widest span that the model scores.
        rng: Draws them.
    """
    left, gone = _entities(masked.corpus), _entities(masked.hidden)
    drawn = [
        (LABELLED, _draw(left, widest, _SPANS, rng)),
        (HIDDEN, _draw(gone, widest, _SPANS, rng)),
        (NO_ENTITY, _others(masked.corpus, {*left, *gone}, widest, _SPANS, rng)),
    ]
    return _chosen(masked.corpus, drawn)


def choose_in_gold(gold: Corpus, widest: int, rng: np.random.Generator) -> ChosenSpans:
    """Entities, grouped by their label, and as many spans that are none."""
    labels = _entities(gold)
    entities = _draw(labels, widest, _DRAWN, rng)
    others = _others(gold, set(labels), widest, len(entities), rng)
    drawn = [(labels[place], [place]) for place in entities]
    return _chosen(gold, [*drawn, (NO_ENTITY, others)])


def probabilities_by_epoch(
    predictor: NeuralPredictor, chosen: ChosenSpans, epochs: Sequence[tuple[int, Path]]
) -> dict[str, Any]:
    """How probable it was, after each epoch, that a span is an entity.

    Returns:
        `epochs`, and for each group the `mean` and the quartiles `low` and `high` of its spans.
    """
    return _followed(
        predictor, epochs, lambda: look_at(predictor, chosen)[0], np.array(chosen.groups)
    )


def o_values_by_epoch(
    predictor: NeuralPredictor, masked: Masked, epochs: Sequence[tuple[int, Path]]
) -> dict[str, Any]:
    """The score of the tag O of every word of train, after each epoch.

    Two-step learning (IJSWIS 20(1), 2024), Figure 2.

    Returns:
        As `probabilities_by_epoch`, and `of`, what the numbers are.
    """
    sentences = [sentence for sentence in masked.corpus if sentence.tokens]
    gone = [sentence for sentence in masked.hidden if sentence.tokens]
    groups = np.full(sum(map(len, sentences)), NO_ENTITY, dtype=object)
    begin = 0
    for sentence, hidden in zip(sentences, gone, strict=True):
        for group, entities in ((HIDDEN, hidden.entities), (LABELLED, sentence.entities)):
            for entity in entities:
                groups[begin + entity.start : begin + entity.end] = group
        begin += len(sentence)

    def look() -> NDArray[np.float64]:
        found: dict[int, NDArray[np.float64]] = {}
        for numbers, _, output in predictor.outputs(sentences):
            for row, number in enumerate(numbers):
                scores = output.scores[row, : len(sentences[number]), 0]
                found[number] = scores.double().cpu().numpy()
        return np.concatenate([found[number] for number in range(len(sentences))])

    return {"of": O_VALUE, **_followed(predictor, epochs, look, groups)}


def _followed(
    predictor: NeuralPredictor,
    epochs: Sequence[tuple[int, Path]],
    look: Callable[[], NDArray[np.float64]],
    groups: NDArray[Any],
) -> dict[str, Any]:
    """Mean and quartiles of each group of values that `look` sees, by epoch."""
    own = {name: tensor.clone() for name, tensor in predictor.model.state_dict().items()}
    rows = []
    for _, weights in epochs:
        predictor.model.load_state_dict(load_file(weights), strict=False)
        rows.append(look())
    predictor.model.load_state_dict(own)
    values = np.stack(rows) if rows else np.zeros((0, len(groups)))  # [epochs, places]
    found: dict[str, Any] = {"epochs": [epoch for epoch, _ in epochs]}
    for group in dict.fromkeys(groups.tolist()):
        own_values = values[:, groups == group]
        low, high = np.quantile(own_values, [0.25, 0.75], axis=1)
        mean = own_values.mean(axis=1)
        found[group] = {"mean": mean.tolist(), "low": low.tolist(), "high": high.tolist()}
    return found


def look_at(
    predictor: NeuralPredictor, chosen: ChosenSpans
) -> tuple[NDArray[np.float64], NDArray[np.float32] | None]:
    """The probability of every chosen span to be an entity [spans], and its vector [spans, width].

    The vectors are None for a model that has none.
    """
    by_sentence: dict[int, list[int]] = {}
    for number, (sentence, _, _) in enumerate(chosen.places):
        by_sentence.setdefault(int(sentence), []).append(number)
    probabilities = np.zeros(len(chosen.places))
    vectors: dict[int, NDArray[np.float32]] = {}
    for numbers, _, output in predictor.outputs(chosen.sentences):
        scores = output.scores.softmax(-1)  # [batch, words, widths, 1 + labels]
        for row, sentence in enumerate(numbers):
            for number in by_sentence.get(sentence, ()):
                _, start, end = chosen.places[number]
                probabilities[number] = 1 - float(scores[row, start, end - start - 1, 0])
                if output.spans is not None:
                    vectors[number] = (
                        output.spans[row, start, end - start - 1].float().cpu().numpy()
                    )
    if len(vectors) < len(chosen.places):
        return probabilities, None
    return probabilities, np.stack([vectors[number] for number in range(len(vectors))])


Span = tuple[int, int, int]  # sentence, start, end


def _entities(corpus: Corpus) -> dict[Span, str]:
    return {
        (number, entity.start, entity.end): entity.label
        for number, sentence in enumerate(corpus)
        for entity in sentence.entities
    }


def _draw(
    spans: Sequence[Span] | dict[Span, str], widest: int, most: int, rng: np.random.Generator
) -> list[Span]:
    fitting = [span for span in spans if span[2] - span[1] <= widest]
    order = rng.permutation(len(fitting))[:most]
    return [fitting[number] for number in sorted(order)]


def _others(
    corpus: Corpus, entities: set[Span], widest: int, most: int, rng: np.random.Generator
) -> list[Span]:
    """Spans that are no entity, drawn until there are enough."""
    found: dict[Span, None] = {}
    sentences = [number for number, sentence in enumerate(corpus) if sentence.tokens]
    for _ in range(_TRIES * most if sentences else 0):
        if len(found) == most:
            break
        number = sentences[rng.integers(len(sentences))]
        length = len(corpus.sentences[number])
        start = int(rng.integers(length))
        end = start + 1 + int(rng.integers(min(widest, length - start)))
        if (number, start, end) not in entities:
            found[number, start, end] = None
    return list(found)


def _chosen(corpus: Corpus, drawn: Sequence[tuple[str, Sequence[Span]]]) -> ChosenSpans:
    """Only the sentences that hold a span, renumbered."""
    spans = [span for _, group in drawn for span in group]
    used = {number: place for place, number in enumerate(sorted({span[0] for span in spans}))}
    places = [(used[number], start, end) for number, start, end in spans]
    return ChosenSpans(
        tuple(corpus.sentences[number] for number in used),
        np.array(places, dtype=np.int64).reshape(-1, 3),
        tuple(name for name, group in drawn for _ in group),
    )
