"""The table of models, and models from their own description."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from lacuner import Corpus
from lacuner.errors import UsageError
from lacuner.models import MODELS, build_model
from tests.neural import HashedWords, batch_of


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("span_classifier", {}),
        ("span_classifier", {"max_width": 4, "features": "interaction", "hidden": 9}),
        ("span_classifier", {"features": "biaffine", "dropout": 0.5}),
        ("token_tagger", {}),
        ("token_tagger", {"scheme": "bioes", "head": "crf", "dropout": 0.0}),
        ("token_tagger", {"scheme": "io", "head": "two_part"}),
    ],
)
def test_model_is_rebuilt_from_its_description_and_weights(
    kind: str, arguments: dict[str, Any], small_corpus: Corpus
) -> None:
    labels = small_corpus.labels
    model = build_model(kind, HashedWords(), labels, **arguments)
    description = json.loads(json.dumps(model.description()))
    assert description["kind"] == kind
    assert arguments.items() <= description.items()
    again = build_model(encoder=HashedWords(), labels=labels, **description)
    again.load_state_dict(model.state_dict())
    batch = batch_of(small_corpus.sentences, labels, model.encoder)
    assert torch.equal(model.eval()(batch).scores, again.eval()(batch).scores)


def test_table_names_what_models_call_themselves() -> None:
    for kind in MODELS:
        assert build_model(kind, HashedWords(), ("A",)).description()["kind"] == kind


def test_unknown_model_names_the_close_one() -> None:
    with pytest.raises(UsageError, match="Did you mean span_classifier"):
        build_model("span_clasifier", HashedWords(), ("A",))


def test_unknown_argument_names_the_close_one() -> None:
    with pytest.raises(UsageError, match=r"'sheme'.*Did you mean scheme"):
        build_model("token_tagger", HashedWords(), ("A",), sheme="bio")
