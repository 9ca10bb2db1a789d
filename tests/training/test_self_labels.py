"""The labels that a model gives a tiny corpus itself, against the equations by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lacuner import Entity, Sentence
from lacuner.models.batching import Examples
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.soft_labels import SoftLabels
from lacuner.training.self_labels import SelfLabels

# Sixteenths, which half precision keeps exactly: the chances of O, A and B.
BEGINNING = {"Ada": (2, 10, 4), "rain": (12, 2, 2), "Oslo": (1, 3, 12), "May": (5, 6, 5)}
LATER = {"Ada": (4, 8, 4), "rain": (14, 1, 1), "Oslo": (8, 2, 6), "May": (1, 12, 3)}
SENTENCES = [
    Sentence("1", ("Ada", "rain", "Oslo"), (Entity(0, 1, "B"),)),  # nobody vouches for it
    Sentence("2", ("May",)),
    Sentence("3", ("rain", "Oslo"), outside=((1, 2),)),
    Sentence("4", ("rain", "Oslo"), (Entity(0, 1, "A"),), complete=True),
]
Chances = dict[str, tuple[int, int, int]]


class _Opinion(nn.Module):
    """Says of each word what a table says, which may be another one later; of padding that of B."""

    width = 3
    chances = BEGINNING

    def tokenise(self, sentences: list[Sentence]) -> list[list[str]]:
        return [list(sentence.tokens) for sentence in sentences]

    def size(self, item: list[str]) -> int:
        return len(item)

    def collate(self, items: list[list[str]]) -> dict[str, Tensor]:
        longest = max(map(len, items))
        rows = [[*map(sorted(BEGINNING).index, item), *[-1] * longest][:longest] for item in items]
        return {"words": torch.tensor(rows)}

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        table = [self.chances[word] for word in sorted(self.chances)]
        return (torch.tensor([*table, (1, 1, 14)]) / 16).log()[inputs["words"]]


class _Trained:
    """A tagger that has an opinion, and the labels that it makes of the corpus.

    Args:
        folder: Where its predictions go.
        later: Whether it has looked a second time, with another opinion than at first.
        arguments: Those of `SelfLabels`.
    """

    def __init__(self, folder: Path, *, later: bool = False, **arguments: Any) -> None:
        encoder: Any = _Opinion()
        self.model = TokenTagger(encoder, ("A", "B"), scheme="io", dropout=0.5)
        self.model.load_state_dict({"head.weight": torch.eye(3), "head.bias": torch.zeros(3)})
        self.examples = Examples(SENTENCES, encoder, self.model.label_numbers)
        self.labels = SelfLabels(self.model, self.examples, batch_words=100, **arguments)
        first = latest = folder / "view-0.npy"
        self.counts = [self.labels.make(first, 0)]
        if later:
            encoder.chances, latest = LATER, folder / "view-1.npy"
            self.counts.append(self.labels.make(latest, 1))
        self.labels.use(latest, first=first)

    def of(self, *numbers: int) -> SoftLabels:
        """The labels of a batch of these sentences."""
        batch = self.examples.batch(numbers)
        return self.labels(batch, self.model(batch))


def _sharp(word: str, chances: Chances, classes: slice = slice(None)) -> list[float]:
    """p² / g, normalised, with g summed over the eight words of the corpus."""
    spoken = [chances[token] for sentence in SENTENCES for token in sentence.tokens]
    frequencies = [sum(each[number] for each in spoken) / 16 for number in range(3)]
    pairs = list(zip(chances[word], frequencies, strict=True))[classes]
    squares = [(chance / 16) ** 2 / frequency for chance, frequency in pairs]
    return [square / sum(squares) for square in squares]


def _close(found: Tensor, expected: Any) -> bool:
    return torch.allclose(found, torch.tensor(expected, dtype=torch.float), atol=1e-5)


def test_all_classes_are_squared_over_their_frequency_and_normalised(tmp_path: Path) -> None:
    trained = _Trained(tmp_path, targets="all", confidence=0.8)
    labels = trained.of(0)
    # Ada once, rain three times, Oslo three times, May once: 46, 31 and 51 sixteenths.
    ada = [2**2 / 46, 10**2 / 31, 4**2 / 51]
    assert _close(labels.entity[0, 0], 1 - ada[0] / sum(ada))
    for place, word in enumerate(SENTENCES[0].tokens):
        none, *types = _sharp(word, BEGINNING)
        assert _close(labels.entity[0, place], 1 - none)
        assert _close(labels.types[0, place], [chance / sum(types) for chance in types])
    assert labels.entity_weight.tolist() == [[1, 1, 1]]
    assert _close(labels.type_weight, labels.entity.tolist())
    may = trained.of(1)
    assert max(_sharp("May", BEGINNING)) < 0.8  # of which nothing is learnt
    assert may.entity_weight.tolist() == may.type_weight.tolist() == [[0]]


def test_types_are_those_of_now_and_entities_those_of_the_beginning(tmp_path: Path) -> None:
    labels = _Trained(tmp_path, later=True, targets="types", confidence=0.7).of(0)
    assert _close(labels.entity, [[14 / 16, 4 / 16, 15 / 16]])  # not 12, 2 and 8 of now
    for place, word in enumerate(SENTENCES[0].tokens):
        assert _close(labels.types[0, place], _sharp(word, LATER, slice(1, None)))
    assert labels.entity_weight.tolist() == [[1, 1, 1]]
    assert labels.type_weight.tolist() == [[1, 0, 0]]  # an entity by 12, 2 and 8 sixteenths now


def test_all_classes_forget_the_beginning(tmp_path: Path) -> None:
    labels = _Trained(tmp_path, later=True, targets="all", confidence=0.0).of(0)
    for place, word in enumerate(SENTENCES[0].tokens):
        assert _close(labels.entity[0, place], 1 - _sharp(word, LATER)[0])


def test_hard_labels_are_the_likeliest_class(tmp_path: Path) -> None:
    labels = _Trained(tmp_path, later=True, targets="hard", confidence=0.6).of(0, 1)
    # Of Oslo it is O; sharpened it would be B, which is rarer.
    assert labels.entity.tolist()[0] == [1, 0, 0]
    assert labels.types[0, 0].tolist() == labels.types[1, 0].tolist() == [1, 0]
    assert labels.entity_weight.tolist()[0] == [0, 1, 0]  # 8, 14 and 8 sixteenths
    assert labels.entity_weight[1, 0] == labels.type_weight[1, 0] == 1  # 12 sixteenths


@pytest.mark.parametrize("targets", ["types", "all", "hard"])
def test_labels_that_somebody_vouches_for_are_not_overruled(targets: str, tmp_path: Path) -> None:
    labels = _Trained(tmp_path, targets=targets, confidence=1.0).of(0, 2, 3)
    # Outside, and in a complete sentence: Oslo is O and rain is A, whatever the model says.
    assert labels.entity[1, 1] == labels.entity[2, 1] == 0
    assert labels.entity[2, 0] == 1
    assert labels.types[2, 0].tolist() == [1, 0]
    assert labels.entity_weight[1, 1] == labels.entity_weight[2, 0] == labels.entity_weight[2, 1]
    assert labels.entity_weight[2, 0] == 1
    assert labels.type_weight[2, 0] == 1
    assert labels.type_weight[1, 1] == labels.type_weight[2, 1] == 0
    # Nobody vouches for Ada as B: the model has it as A.
    assert labels.types[0, 0].argmax() == 0
    assert labels.type_weight[0, 0] == 0


@pytest.mark.parametrize("targets", ["types", "all"])
def test_frequencies_are_those_of_the_corpus_whatever_the_batch(
    targets: str, tmp_path: Path
) -> None:
    trained = _Trained(tmp_path, targets=targets, confidence=0.0)
    together = trained.of(1, 3, 2, 0)
    classes = slice(0 if targets == "all" else 1, None)
    for row, number in enumerate((1, 3, 2, 0)):
        alone = trained.of(number)
        length = len(SENTENCES[number])
        assert torch.equal(together.entity[row, :length], alone.entity[0])
        assert torch.equal(together.types[row, :length], alone.types[0])
    *_, a, b = _sharp("May", BEGINNING, classes)
    assert _close(together.types[0, 0], [a / (a + b), b / (a + b)])


def test_expected_entities_are_counted_without_padding(tmp_path: Path) -> None:
    trained = _Trained(tmp_path, later=True, targets="all", confidence=0.0)
    # 31 + 51 and 29 + 28 sixteenths are no O.
    assert trained.counts == [{"expected_entities": 5}, {"expected_entities": 4}]
