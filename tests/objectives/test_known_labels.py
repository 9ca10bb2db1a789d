"""What somebody vouches for, in words and spans."""

from __future__ import annotations

import torch

from lacuner import Entity, Sentence
from lacuner.models.batch import Batch, Output
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.known_labels import known_classes
from tests.neural import HashedWords, batch_of, output_of

WORDS = ("a", "b", "c")
GOLD = Sentence("1", WORDS, (Entity(0, 1, "A"),), complete=True)
DISTANT = Sentence("2", WORDS, (Entity(0, 1, "A"),), outside=((2, 3),))


def _batch() -> Batch:
    return batch_of([GOLD, DISTANT], ("A",))


def test_labels_of_complete_sentences_and_words_outside_are_known() -> None:
    model = TokenTagger(HashedWords(), ("A",), scheme="io")
    batch = _batch()
    numbers, known = known_classes(model, output_of(torch.zeros(2, 3, 2), batch.words), batch)
    assert numbers.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert known.tolist() == [[True] * 3, [False, False, True]]


def test_spans_of_complete_sentences_and_spans_with_a_word_outside_are_known() -> None:
    model = SpanClassifier(HashedWords(), ("A",), max_width=2)
    batch = _batch()
    mask = torch.ones(2, 3, 2, dtype=torch.bool)
    mask[:, 2, 1] = False
    output = Output(torch.zeros(2, 3, 1), torch.zeros(2, 3, 2, 2), mask)
    numbers, known = known_classes(model, output, batch)
    assert numbers[0].tolist() == [[1, 0], [0, 0], [0, 0]]
    assert known[0][mask[0]].all()
    assert known[1].tolist() == [[False, False], [False, True], [True, False]]
