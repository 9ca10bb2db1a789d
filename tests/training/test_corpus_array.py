"""Arrays over a corpus: what is scattered is gathered, whatever the batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from lacuner import Sentence
from lacuner.models import Model
from lacuner.models.batching import Examples
from lacuner.models.distribution import log_probabilities
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.token_tagger import TokenTagger
from lacuner.training.corpus_array import Layout, read_array
from lacuner.training.predictions import Predictions, write_predictions
from tests.neural import HashedWords

SENTENCES = [
    Sentence(str(number), tuple(f"{number}w{word}" for word in range(length)))
    for number, length in enumerate([4, 1, 0, 7, 3])
]


def _model(kind: str) -> Model:
    torch.manual_seed(len(kind))
    if kind == "spans":
        return SpanClassifier(HashedWords(), ("A", "B"), max_width=3, hidden=8)
    head = "crf" if kind == "crf" else "softmax"
    return TokenTagger(HashedWords(), ("A", "B"), head=head)


@pytest.mark.parametrize("kind", ["words", "crf", "spans"])
def test_predictions_of_any_batch_are_those_of_the_model(kind: str, tmp_path: Path) -> None:
    model = _model(kind)
    examples = Examples(SENTENCES, model.encoder, model.label_numbers)
    layout = Layout.of(model, examples)
    write_predictions(tmp_path / "p.npy", model, examples, layout, batch_words=12)
    predictions = Predictions([tmp_path / "p.npy"], layout)
    model.eval()
    for numbers in ([2, 0], [1], [3, 1, 0]):
        batch = examples.batch(numbers)
        output = model(batch)
        found = predictions.mean(batch, output)
        said = log_probabilities(model, output).exp().detach()
        assert torch.allclose(found[output.mask], said[output.mask], atol=1e-3)
        assert torch.allclose(found[output.mask].sum(-1), torch.ones(int(output.mask.sum())))


def test_predictions_are_half_precision_mapped_and_no_pickle(tmp_path: Path) -> None:
    model = _model("spans")
    examples = Examples(SENTENCES, model.encoder, model.label_numbers)
    layout = Layout.of(model, examples)
    write_predictions(tmp_path / "p.npy", model, examples, layout, batch_words=100)
    array = read_array(tmp_path / "p.npy")
    assert isinstance(array, np.memmap) and array.dtype == np.float16
    assert array.shape == (4 * 3 + 1 * 1 + 7 * 3 + 3 * 3, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["p.npy"]


def test_mean_and_frequencies_of_several_files_by_hand(tmp_path: Path) -> None:
    model = TokenTagger(HashedWords(), ("A",), scheme="io")
    examples = Examples([SENTENCES[0]], model.encoder, model.label_numbers)
    layout = Layout.of(model, examples)
    for name, first in (("a", 0.5), ("b", 0.25)):
        np.save(tmp_path / f"{name}.npy", np.array([[first, 1 - first]] * 4, dtype=np.float16))
    predictions = Predictions([tmp_path / "a.npy", tmp_path / "b.npy"], layout)
    batch = examples.batch([0])
    assert predictions.mean(batch, model(batch))[0].tolist() == [[0.375, 0.625]] * 4
    assert predictions.frequencies().tolist() == [2.0, 2.0]
