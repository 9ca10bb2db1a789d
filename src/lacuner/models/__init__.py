"""Vectors to scores of spans or tags. `MODELS` lists what there is."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

from lacuner.encoders.contract import Encoder
from lacuner.errors import UsageError
from lacuner.models.question_pointers import QuestionPointers
from lacuner.models.span_classifier import SpanClassifier
from lacuner.models.tie_or_break import TieOrBreak
from lacuner.models.token_tagger import TokenTagger
from lacuner.suggestions import unknown_name

Model = SpanClassifier | TokenTagger | TieOrBreak | QuestionPointers

MODELS: dict[
    str, type[SpanClassifier] | type[TokenTagger] | type[TieOrBreak] | type[QuestionPointers]
] = {
    "span_classifier": SpanClassifier,
    "token_tagger": TokenTagger,
    "tie_or_break": TieOrBreak,
    "question_pointers": QuestionPointers,
}


def build_model(kind: str, encoder: Encoder, labels: Sequence[str], **arguments: Any) -> Model:
    """Builds a model by its name.

    Args:
        kind: One of `MODELS`.
        encoder: Words to vectors.
        labels: The labels, in the order of their numbers from 1.
        arguments: What that model takes besides.

    Raises:
        UsageError: There is no such model, or it takes no such argument.

    Example:
        A model from its own description:
        `build_model(encoder=encoder, labels=model.labels, **model.description())`.
    """
    if kind not in MODELS:
        raise UsageError(unknown_name("model", kind, MODELS))
    known = [
        name for name in signature(MODELS[kind]).parameters if name not in ("encoder", "labels")
    ]
    for name in arguments:
        if name not in known:
            raise UsageError(unknown_name(f"argument of {kind}", name, known))
    return MODELS[kind](encoder, labels, **arguments)
