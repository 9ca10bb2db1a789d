"""Beginnings, ends and matches: what a span's score is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from lacuner import Sentence
from lacuner.errors import UsageError
from lacuner.inference.decode import decode
from lacuner.models.batch import Output
from lacuner.models.question_pointers import QuestionPointers
from tests.neural import HashedWords, batch_of

LABELS = ("A", "B")
LONG, SHORT = Sentence("1", ("u", "v", "w", "x", "y")), Sentence("2", ("u", "x"))


class AskedWords(HashedWords):
    """Hashed words, turned in another way for each of two questions."""

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        vectors = super().forward(inputs)
        return torch.stack([vectors, vectors.flip(-1)], 1)


def _model() -> QuestionPointers:
    torch.manual_seed(0)
    return QuestionPointers(AskedWords(), LABELS, max_width=3, hidden=8).eval()


def _said(model: QuestionPointers, *sentences: Sentence) -> Output:
    with torch.no_grad():
        output: Output = model(batch_of(sentences, LABELS, model.encoder))
    return output


@torch.no_grad()
def test_score_of_a_span_is_the_least_of_its_three_pointers() -> None:
    model = _model()
    output = _said(model, LONG)
    pointers = output.pointers
    assert pointers is not None
    vectors = model.encoder(model.encoder.collate(model.encoder.tokenise([LONG])))
    for start, width in ((0, 0), (1, 2), (3, 1)):
        end = start + width
        for label in range(2):
            words = vectors[0, label]
            begins, ends = model.start(words[start]), model.end(words[end])
            joint = model.match.start(words[start]) + model.match.end(words[end])
            fits = model.match.classify(torch.nn.functional.gelu(joint))
            least = min(float(begins), float(ends), float(fits))
            assert float(output.scores[0, start, width, 1 + label]) == pytest.approx(
                least, abs=1e-5
            )
            assert float(pointers.starts[0, start, label]) == pytest.approx(float(begins), abs=1e-5)
            assert float(pointers.ends[0, end, label]) == pytest.approx(float(ends), abs=1e-5)
    assert not output.scores[..., 0].any()


def test_sentence_gets_the_same_scores_alone_and_beside_a_longer_one() -> None:
    model = _model()
    both, alone = _said(model, LONG, SHORT), _said(model, SHORT)
    assert both.scores.shape == (2, 5, 3, 3) and alone.scores.shape == (1, 2, 2, 3)
    mask = alone.mask[0]
    assert torch.allclose(both.scores[1, :2, :2][mask], alone.scores[0][mask], atol=1e-6)


def _decoded(scores: Sequence[tuple[int, int, int, float]]) -> list[tuple[int, int, str]]:
    model = _model()
    output = _said(model, LONG)
    table = torch.full_like(output.scores, -5.0)
    table[..., 0] = 0.0
    for start, width, label, score in scores:
        table[0, start, width, label] = score
    said = Output(output.hidden, table, output.mask)
    return [entity.key for entity in decode(model, said)[0]]


def test_answers_are_spans_whose_least_pointer_says_yes() -> None:
    assert _decoded([(0, 1, 1, 0.1), (2, 0, 2, -0.1)]) == [(0, 2, "A")]
    assert _decoded([(0, 1, 1, 1.0), (1, 1, 2, 2.0)]) == [(1, 3, "B")]  # the surer of two
    assert _decoded([(0, 1, 1, 1.0), (0, 1, 2, 2.0)]) == [(0, 2, "B")]


@pytest.mark.parametrize("size", [{"max_width": 0}, {"hidden": 0}, {"dropout": 1.0}])
def test_impossible_size_is_refused(size: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        QuestionPointers(AskedWords(), LABELS, **size)
