"""Weights of a corpus made by hand, from a model whose opinion is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn

from lacuner import Entity, Sentence
from lacuner.models.batch import Batch
from lacuner.models.batching import Examples
from lacuner.models.token_tagger import TokenTagger
from lacuner.training.label_removal import LabelRemoval

SENTENCES = [
    Sentence("1", ("sure-O", "sure-A", "sure-A"), (Entity(1, 2, "A"),)),  # the second A is missing
    Sentence("2", ("sure-A", "sure-O"), (Entity(0, 1, "B"), Entity(1, 2, "B"))),  # both are wrong
    Sentence("3", ("sure-A", "sure-O"), (Entity(1, 2, "A"),), complete=True),  # vouched for
]


class _Opinion(nn.Module):
    """Says of each word the scores of O, A and B that its name asks for."""

    width = 3
    scores: ClassVar = {"sure-O": (9.0, 0.0, 0.0), "sure-A": (0.0, 9.0, 0.0)}

    def tokenise(self, sentences: list[Sentence]) -> list[list[str]]:
        return [list(sentence.tokens) for sentence in sentences]

    def size(self, item: list[str]) -> int:
        return len(item)

    def collate(self, items: list[list[str]]) -> dict[str, Tensor]:
        longest = max(map(len, items))
        padded = [[*item, *["sure-O"] * (longest - len(item))] for item in items]
        return {"words": torch.tensor([[self.scores[word] for word in row] for row in padded])}

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        return inputs["words"]


def _removal(dropped: float) -> tuple[LabelRemoval, Examples, Any]:
    encoder: Any = _Opinion()
    model = TokenTagger(encoder, ("A", "B"), scheme="io", dropout=0.0)
    model.load_state_dict({"head.weight": torch.eye(3), "head.bias": torch.zeros(3)})
    examples = Examples(SENTENCES, model.encoder, model.label_numbers)
    return LabelRemoval(model, examples, dropped=dropped, seed=1, batch_words=100), examples, model


def _weights(removal: LabelRemoval, batch: Batch, model: TokenTagger) -> list[list[list[int]]]:
    found: list[list[list[int]]] = removal.weights(batch, model(batch)).int().tolist()
    return found


def test_missing_labels_are_removed_vouched_and_rare_ones_stay(tmp_path: Path) -> None:
    removal, examples, model = _removal(dropped=0.0)
    counts = removal.make(tmp_path / "view.npy", 3)
    assert counts == {"dropped_words": 0, "removed_outside": 1, "removed_types": 0}
    removal.use(tmp_path / "view.npy")
    first, second, third = _weights(removal, examples.batch([0, 1, 2]), model)
    assert first == [[1, 1], [1, 1], [0, 1]]  # the missing A no longer counts as O
    # Both words of B are contradicted, but a type that would lose all of them keeps all.
    assert second[:2] == [[1, 1], [1, 1]]
    assert third[:2] == [[1, 1], [1, 1]]


def test_type_with_support_loses_what_is_contradicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # If it were an entity, "sure-O" would be B: one of two words of B has support now.
    monkeypatch.setitem(_Opinion.scores, "sure-O", (9.0, 0.0, 5.0))
    removal, examples, model = _removal(dropped=0.0)
    assert removal.make(tmp_path / "view.npy", 3)["removed_types"] == 1
    removal.use(tmp_path / "view.npy")
    assert _weights(removal, examples.batch([1]), model) == [[[1, 0], [1, 1]]]


def test_at_the_beginning_all_labels_count_but_the_dropped(tmp_path: Path) -> None:
    removal, examples, model = _removal(dropped=1.0)
    assert removal.make(tmp_path / "view.npy", 0) == {
        "dropped_words": 2, "removed_outside": 0, "removed_types": 0,
    }  # fmt: skip
    removal.use(tmp_path / "view.npy")
    assert _weights(removal, examples.batch([0]), model) == [[[0, 1], [1, 1], [0, 1]]]
    assert _weights(removal, examples.batch([2]), model) == [[[1, 1], [1, 1]]]
