"""O-values of a corpus made by hand: who is removed, who never is, and what is kept of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lacuner import Ambiguity, Entity, Sentence
from lacuner.errors import DataError
from lacuner.models.batching import Examples
from lacuner.models.token_tagger import TokenTagger
from lacuner.training.removed_words import ROWS, SUMMARY, read_removed, read_summary, write_removed
from lacuner.training.word_removal import (
    OutsideWords,
    RemovedWords,
    emptied_sentences,
    measured,
    outside_words,
    removed_rows,
)

# A word is its O-value.
SENTENCES = [
    Sentence("1", ("5", "1", "2", "9"), (Entity(1, 2, "A"),)),
    Sentence("2", ("0", "3"), complete=True),
    Sentence("3", ("-1", "8", "4"), outside=((0, 1),), rejected=((2, 3),)),
    Sentence("4", ("-3", "6", "7"), ambiguous=(Ambiguity(0, 1),)),
    Sentence("5", ("2.5", "1.5"), (Entity(1, 2, "A"),)),
]
HIDDEN = [
    Sentence(s.id, s.tokens, entities)
    for s, entities in zip(
        SENTENCES, [(Entity(2, 4, "A"),), (), (), (Entity(1, 2, "A"),), ()], strict=True
    )
]
SUMMARY_OF_TWO: dict[str, Any] = {
    "ell": 0.2, "auto": False, "candidates": 9, "removed": 2, "sentences": 2, "expected": None,
    "measured": None,
}  # fmt: skip
VALUES = [5, 1, 2, 9, 0, 3, -1, 8, 4, -3, 6, 7, 2.5, 1.5]


class _Opinion(nn.Module):
    """Scores of O are what the words say."""

    width = 1

    def tokenise(self, sentences: list[Sentence]) -> list[list[float]]:
        return [[float(word) for word in sentence.tokens] for sentence in sentences]

    def size(self, item: list[float]) -> int:
        return len(item)

    def collate(self, items: list[list[float]]) -> dict[str, Tensor]:
        longest = max(map(len, items))
        rows = [[*item, *[-99.0] * (longest - len(item))] for item in items]
        return {"words": torch.tensor(rows)[:, :, None]}

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        return inputs["words"]


def _words(head: str, shown: list[Sentence]) -> tuple[OutsideWords, Examples, TokenTagger]:
    encoder: Any = _Opinion()
    model = TokenTagger(encoder, ("A",), head=head, dropout=0.0)
    weights = {"head.weight": torch.tensor([[1.0], [0.0], [0.0]]), "head.bias": torch.zeros(3)}
    model.load_state_dict(weights, strict=False)
    examples = Examples(SENTENCES, encoder, model.label_numbers)
    return outside_words(model, examples, shown, batch_words=8), examples, model


@pytest.mark.parametrize("head", ["softmax", "crf"])
def test_words_that_somebody_vouches_for_are_never_candidates(head: str) -> None:
    words, _, _ = _words(head, SENTENCES)
    assert words.values.tolist() == VALUES
    assert np.flatnonzero(~words.outside).tolist() == [1, 9, 13]  # labelled, ambiguous, labelled
    assert np.flatnonzero(words.doubtful).tolist() == [0, 2, 3, 7, 10, 11, 12]
    assert not words.held_back.any()
    assert np.flatnonzero(words.removed(0.2)).tolist() == [2, 12]  # ⌈0.2 · 7⌉ smallest
    assert np.array_equal(words.removed(0.999), words.doubtful)


def test_entities_that_were_not_shown_are_held_back_and_stay_labelled() -> None:
    shown = [replace(SENTENCES[0], entities=()), *SENTENCES[1:]]
    words, _, _ = _words("softmax", shown)
    assert np.flatnonzero(words.held_back).tolist() == [1]
    assert not words.outside[1]


def test_removed_words_are_kept_read_back_and_found_in_batches(tmp_path: Path) -> None:
    words, examples, model = _words("softmax", SENTENCES)
    removed = words.removed(0.2)
    write_removed(tmp_path, removed_rows(words, removed, SENTENCES, HIDDEN), SUMMARY_OF_TWO)
    rows = list(read_removed(tmp_path))
    assert [(row.sentence.id, row.words, row.values) for row in rows] == [
        ("1", (2,), (2.0,)),
        ("5", (0,), (2.5,)),
    ]
    assert rows[0].sentence == SENTENCES[0] and rows[0].hidden == ((2, 4),)
    assert rows[0].is_hidden(2) and not rows[1].is_hidden(0)
    assert read_summary(tmp_path) == SUMMARY_OF_TWO
    batch = examples.batch([4, 2, 0])
    found = RemovedWords(rows, SENTENCES)(batch, model(batch))
    assert found.nonzero().tolist() == [[0, 0], [2, 2]]
    unknown = removed_rows(words, removed, SENTENCES, None)
    assert unknown[0].hidden is None and "hidden" not in unknown[0].as_dict()


def test_precision_and_recall_count_words_of_hidden_entities() -> None:
    words, _, _ = _words("softmax", SENTENCES)
    found = measured(words, words.removed(0.2), HIDDEN)
    assert found["hidden_words"] == 3
    assert found["precision"] == pytest.approx(1 / 2)
    assert found["recall"] == pytest.approx(1 / 3)
    assert found["grid"][0] == {"ell": 0.003125, "precision": 1.0, "recall": pytest.approx(1 / 3)}
    assert measured(words, np.zeros_like(words.doubtful), HIDDEN)["precision"] == 0


def test_sentences_without_any_word_left_are_found() -> None:
    words, _, _ = _words("softmax", SENTENCES)
    emptied = emptied_sentences(words, words.doubtful, SENTENCES)
    # The second and third keep words that somebody vouches for.
    assert [sentence.id for sentence in emptied] == ["1", "4", "5"]
    assert not emptied_sentences(words, words.removed(0.1), SENTENCES)


@pytest.mark.parametrize(
    "more",
    [
        "",
        ', "removed": [[0, 1.5]], "entities": 3',
        ', "removed": [], "entities": []',
        ', "removed": 3, "entities": []',
        ', "removed": [[0]], "entities": []',
        ', "removed": [[1, 1.5]], "entities": []',
        ', "removed": [[-1, 1.5]], "entities": []',
        ', "removed": [["0", 1.5]], "entities": []',
        ', "removed": [[0, "1.5"]], "entities": []',
        ', "removed": [[0, null]], "entities": []',
        ', "removed": [[0, 1.5]], "entities": [[0, 2, "A"]]',
        ', "removed": [[0, 1.5]], "entities": [], "hidden": 1',
        ', "removed": [[0, 1.5]], "entities": [], "hidden": [[0, null]]',
    ],
)
def test_damaged_rows_are_one_sentence(more: str, tmp_path: Path) -> None:
    (tmp_path / ROWS).write_text(f'{{"id": "1", "tokens": ["a"]{more}}}\n')
    with pytest.raises(DataError, match=r"line 1: the line holds no removed words: .*--overwrite"):
        list(read_removed(tmp_path))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (None, "it holds no summary"),
        ({"auto": None}, "'auto' is missing"),
        ({"removed": "3"}, "'removed' is missing or not what it should be"),
        ({"expected": 3}, "'expected' is missing or not"),
        ({"expected": {"precision": 1.0}}, "'recall' of 'expected' is missing"),
        ({"measured": {"precision": 1, "recall": 0.5}}, "'hidden_words' of 'measured' is missing"),
    ],
)
def test_damaged_summary_is_one_sentence(
    changed: dict[str, Any] | None, message: str, tmp_path: Path
) -> None:
    summary = [1] if changed is None else {**SUMMARY_OF_TWO, **changed}
    (tmp_path / SUMMARY).write_text(json.dumps(summary))
    with pytest.raises(DataError, match=rf"removed\.json: {message}.*--overwrite"):
        read_summary(tmp_path)
    for name in SUMMARY_OF_TWO:
        (tmp_path / SUMMARY).write_text(
            json.dumps({key: value for key, value in SUMMARY_OF_TWO.items() if key != name})
        )
        with pytest.raises(DataError, match=f"'{name}' is missing"):
            read_summary(tmp_path)
