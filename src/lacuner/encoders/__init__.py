"""Words to vectors: every encoder looks alike to a model.

`ENCODERS` lists those that have a name of their own; any other name is a folder or a name on the
Hugging Face hub. torch and transformers are imported only when an encoder is built.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lacuner.encoders.embedded import HUB_NAME, INSTALL, minilm_place
from lacuner.errors import DataError, UsageError
from lacuner.suggestions import unknown_name

if TYPE_CHECKING:
    from lacuner.corpus.sentence import Sentence

DEFAULT_ENCODER = "minilm"


@dataclass(frozen=True)
class EncoderEntry:
    """A line of the table.

    Attributes:
        kind: `transformer` or `bilstm`.
        title: What it is, in a few words.
    """

    kind: str
    title: str


ENCODERS = {
    "minilm": EncoderEntry(
        "transformer", "all-MiniLM-L6-v2, English, uncased, 6 layers of 384: the default, offline"
    ),
    "bilstm": EncoderEntry(
        "bilstm", "word vectors from a file or learned, a character CNN, a BiLSTM; any language"
    ),
}


def build_encoder(name: str, sentences: Iterable[Sentence], **arguments: Any) -> Any:
    """Builds an encoder for training.

    Args:
        name: A name of `ENCODERS`, a folder, or a name on the Hugging Face hub.
        sentences: The training corpus, from which vocabularies come.
        arguments: Those of `TransformerEncoder` and `TransformerEncoder.from_pretrained`, or of
            `BiLSTMEncoder.build`. One that belongs to the other kind is refused, unless it is None
            or says what is the default there.

    Raises:
        UsageError: There is no such encoder or argument.
        DataError: A file of vectors, or the weights of the default, are not right.

    Example:
        >>> encoder = build_encoder("minilm", corpus.sentences, pooling="mean")  # doctest: +SKIP
    """
    kind = ENCODERS[name].kind if name in ENCODERS else "transformer"
    arguments = _fitting(name, kind, arguments)
    if kind == "bilstm":
        from lacuner.encoders.bilstm import BiLSTMEncoder

        return BiLSTMEncoder.build(sentences, **arguments)
    return _transformer(name, arguments)


def load_encoder(description: dict[str, Any], folder: Path) -> Any:
    """The encoder that `encoder.save(folder)` described, without weights; these are the model's.

    It needs neither the folder that the encoder once came from nor a net.

    Raises:
        DataError: The description or the folder is damaged.
    """
    from lacuner.encoders.bilstm import BiLSTMEncoder
    from lacuner.encoders.transformer import TransformerEncoder

    kinds: dict[str, Any] = {"transformer": TransformerEncoder, "bilstm": BiLSTMEncoder}
    arguments = dict(description)
    kind = arguments.pop("kind", None)
    if kind not in kinds:
        raise DataError(folder, f"there is no kind of encoder '{kind}'")
    try:
        return kinds[kind].load(arguments, folder)
    except (TypeError, KeyError) as error:
        raise DataError(folder, f"its description is damaged: {error}") from None


def _transformer(name: str, arguments: dict[str, Any]) -> Any:
    from lacuner.encoders.transformer import TransformerEncoder

    place = minilm_place() if name == "minilm" else name
    try:
        encoder = TransformerEncoder.from_pretrained(place, known=list(ENCODERS), **arguments)
    except UsageError as error:
        if place == HUB_NAME and name == "minilm":
            raise UsageError(
                f"The default encoder is not installed ({INSTALL}) and cannot be fetched: {error}"
            ) from None
        raise
    encoder.name = name
    return encoder


def _fitting(name: str, kind: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments that this kind takes."""
    own, other = _parameters(kind), _parameters("bilstm" if kind != "bilstm" else "transformer")
    fitting = {}
    for key, value in arguments.items():
        if key in own:
            fitting[key] = value
        elif key not in other:
            raise UsageError(unknown_name("argument of an encoder", key, sorted({**own, **other})))
        elif value is not None and value != other[key]:
            raise UsageError(f"'{key}' is nothing that the encoder '{name}' knows.")
    return fitting


def _parameters(kind: str) -> dict[str, Any]:
    """Names and defaults of what a person may say about a kind of encoder."""
    from lacuner.encoders.bilstm import BiLSTMEncoder
    from lacuner.encoders.transformer import TransformerEncoder

    functions: list[Any] = (
        [BiLSTMEncoder.build]
        if kind == "bilstm"
        else [TransformerEncoder, TransformerEncoder.from_pretrained]
    )
    hidden = {"model", "tokeniser", "name", "known", "arguments", "sentences"}
    return {
        key: parameter.default
        for function in functions
        for key, parameter in inspect.signature(function).parameters.items()
        if key not in hidden
    }
