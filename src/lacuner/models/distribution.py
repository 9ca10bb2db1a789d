"""What a model believes: the probability of each class at each place, for whole corpora, too.

A place is a word of a tagger or a span of a span classifier; its first class is always "no entity".
Methods that learn from a model's predictions need nothing else, whichever kind it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from lacuner.models import Model
from lacuner.models.batch import Batch, Output
from lacuner.models.batching import Examples, batches_by_size
from lacuner.models.token_tagger import TokenTagger

TINY = 1e-30  # below which a probability has no logarithm here


def log_probabilities(model: Model, output: Output) -> Tensor:
    """The logarithm of the probability of each class.

    For a CRF these are the marginals of each word, so that gradients reach its scores of
    neighbours, too. Tags of spans that are no entity are one class with O.

    Returns:
        [batch, words, widths, classes] of spans, [batch, words, classes] of tags.
    """
    if isinstance(model, TokenTagger) and model.crf is not None:
        logs = model.crf.marginals(output.scores, output.mask).clamp(min=TINY).log()
    else:
        logs = functional.log_softmax(output.scores, -1)
    silent = silent_classes(model)
    if not silent:
        return logs
    none = torch.cat([logs[..., :1], logs[..., -silent:]], -1).logsumexp(-1, keepdim=True)
    return torch.cat([none, logs[..., 1:-silent]], -1)


def silent_classes(model: Model) -> int:
    """How many scores of a place, the last ones, say "no entity" as the first does."""
    return model.silent if isinstance(model, TokenTagger) else 0


def shifted(output: Output, offset: float, *, silent: int = 0) -> Output:
    """The output with an offset taken off the scores of "no entity".

    Args:
        output: What a model says.
        offset: The offset.
        silent: How many scores, the last ones, say "no entity", too.
    """
    labels = output.scores.shape[-1] - 1 - silent
    none, label, more = torch.split(output.scores, [1, labels, silent], -1)
    return replace(output, scores=torch.cat([none - offset, label, more - offset], -1))


def class_count(model: Model) -> int:
    """How many classes a place has, "no entity" among them."""
    if isinstance(model, TokenTagger):
        return len(model.tag_set) - model.silent
    return 1 + len(model.labels)


def outputs(
    model: Model,
    examples: Examples,
    *,
    batch_size: int = 64,
    batch_words: int = 4096,
    device: torch.device | None = None,
    offset: float = 0.0,
) -> Iterator[tuple[list[int], Batch, Output]]:
    """What a model says of examples, in batches of similar length, with their numbers.

    Dropout is off meanwhile.

    Args:
        model: The model.
        examples: Of which it speaks.
        batch_size: Sentences in a batch.
        batch_words: Most places for words in a batch, padding included.
        device: Where to compute; None leaves the model where it is.
        offset: Taken off the scores of "no entity".
    """
    if device is not None:
        model.to(device)
    silent = silent_classes(model)
    for numbers, batch, (output,) in _walk([model], examples, batch_size, batch_words):
        yield numbers, batch, shifted(output, offset, silent=silent) if offset else output


def mean_outputs(
    models: Sequence[Model],
    examples: Examples,
    *,
    batch_size: int = 64,
    batch_words: int = 4096,
) -> Iterator[tuple[list[int], Batch, Output]]:
    """What several models say of examples together: their mean probabilities are the scores.

    Args:
        models: Models of one kind, without a CRF, whose encoders read sentences alike.
        examples: Of which they speak.
        batch_size: Sentences in a batch.
        batch_words: Most places for words in a batch, padding included.
    """
    for numbers, batch, said in _walk(models, examples, batch_size, batch_words):
        if len(said) == 1:
            yield numbers, batch, said[0]
            continue
        logs = [log_probabilities(m, output) for m, output in zip(models, said, strict=True)]
        mean = torch.stack(logs).logsumexp(0) - math.log(len(logs))
        yield numbers, batch, replace(said[0], scores=mean)


def _walk(
    models: Sequence[Model], examples: Examples, batch_size: int, batch_words: int
) -> Iterator[tuple[list[int], Batch, list[Output]]]:
    """What each model says of each batch."""
    place = next(models[0].parameters()).device
    were_training = [model.training for model in models]
    for model in models:
        model.eval()
    try:
        with torch.inference_mode():
            for numbers in batches_by_size(
                examples.lengths, batch_size, max_words=batch_words, sizes=examples.sizes
            ):
                batch = examples.batch(numbers).to(place)
                yield numbers, batch, [model(batch) for model in models]
    finally:
        for model, was_training in zip(models, were_training, strict=True):
            model.train(was_training)
