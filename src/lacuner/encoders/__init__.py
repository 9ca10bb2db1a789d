"""Words to vectors: every encoder looks alike to a model.

`ENCODERS` lists those that have a name of their own; any other name is a folder or a name on the
Hugging Face hub. torch and transformers are imported only when an encoder is built.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lacuner.errors import DataError, UsageError
from lacuner.suggestions import unknown_name

if TYPE_CHECKING:
    from lacuner.corpus.sentence import Sentence

DEFAULT_ENCODER = "minilm"


@dataclass(frozen=True)
class EncoderEntry:
    """A line of the table.

    Attributes:
        kind: What builds and loads it, see `_kinds`.
        title: What it is, in a few words.
        needs: An argument that it cannot do without.
    """

    kind: str
    title: str
    needs: str | None = None


ENCODERS = {
    "minilm": EncoderEntry(
        "transformer", "all-MiniLM-L6-v2, English, uncased, 6 layers of 384: the default, offline"
    ),
    "bilstm": EncoderEntry(
        "bilstm", "word vectors from a file or learned, a character CNN, a BiLSTM; any language"
    ),
    "lexicon_bert": EncoderEntry(
        "lexicon_bert", "LEBERT: the words of a lexicon after a layer of any transformer", "lexicon"
    ),
    "word_fusion": EncoderEntry(
        "word_fusion", "BERT+Word: any transformer beside a lexicon, a BiLSTM over both", "lexicon"
    ),
    "flat_lattice": EncoderEntry(
        "flat_lattice", "FLAT: characters and the words of a lexicon in one sequence", "lexicon"
    ),
}


@dataclass(frozen=True)
class _Kind:
    """A kind of encoder.

    Attributes:
        encoder: The class, which can `load`.
        functions: Those whose arguments a person may give.
    """

    encoder: Any
    functions: tuple[Callable[..., Any], ...]


def _kinds() -> dict[str, _Kind]:
    """All kinds of encoders, imported only now."""
    from lacuner.encoders.bilstm import BiLSTMEncoder
    from lacuner.encoders.flat_lattice import FlatLatticeEncoder
    from lacuner.encoders.lexicon_bert import LexiconBertEncoder
    from lacuner.encoders.lexicon_reader import LexiconReader
    from lacuner.encoders.question_reader import QuestionReader
    from lacuner.encoders.recurrent import RecurrentEncoder
    from lacuner.encoders.transformer import TransformerEncoder
    from lacuner.encoders.word_fusion import WordFusionEncoder

    transformer = (TransformerEncoder, TransformerEncoder.from_pretrained)
    reader = (LexiconReader.build, *transformer)
    return {
        "transformer": _Kind(TransformerEncoder, transformer),
        "bilstm": _Kind(BiLSTMEncoder, (BiLSTMEncoder.build,)),
        "lexicon_bert": _Kind(LexiconBertEncoder, (LexiconBertEncoder.build, *reader)),
        "word_fusion": _Kind(WordFusionEncoder, (WordFusionEncoder.build, *reader)),
        "flat_lattice": _Kind(FlatLatticeEncoder, (FlatLatticeEncoder.build,)),
        # Around other encoders; recipes build them, and people choose what is inside.
        "recurrent": _Kind(RecurrentEncoder, ()),
        "questions": _Kind(QuestionReader, ()),
    }


def build_encoder(name: str, sentences: Iterable[Sentence], **arguments: Any) -> Any:
    """Builds an encoder for training.

    Args:
        name: A name of `ENCODERS`, a folder, or a name on the Hugging Face hub.
        sentences: The training corpus, from which vocabularies come.
        arguments: Those of `TransformerEncoder` and `TransformerEncoder.from_pretrained`, of
            `BiLSTMEncoder.build` and so on. One that belongs to another kind is refused, unless it
            is None or says what is the default there.

    Raises:
        UsageError: There is no such encoder or argument, or one is missing.
        DataError: A file of vectors, or the weights of the default, are not right.

    Example:
        >>> encoder = build_encoder("minilm", corpus.sentences, pooling="mean")  # doctest: +SKIP
    """
    entry = ENCODERS.get(name, EncoderEntry("transformer", ""))
    arguments = _fitting(name, entry.kind, arguments)
    if entry.needs is not None and arguments.get(entry.needs) is None:
        raise UsageError(
            f"The encoder '{name}' needs a {entry.needs}, a file of word vectors: describe it in a "
            "TOML file and give that as encoder.name, see docs/lexicons.md "
            f"(in Python: build_encoder('{name}', …, {entry.needs}=FILE))."
        )
    dropout = arguments.get("dropout")
    if dropout is not None and not 0 <= dropout < 1:
        raise UsageError(
            f"The dropout of the encoder '{name}' is {dropout:g}, but must be at least 0 and below "
            "1."
        )
    if entry.kind == "transformer":
        from lacuner.encoders.named_transformer import named_transformer

        return named_transformer(name, known=list(ENCODERS), **arguments)
    return _kinds()[entry.kind].encoder.build(sentences, **arguments)


def load_encoder(description: dict[str, Any], folder: Path) -> Any:
    """The encoder that `encoder.save(folder)` described, without weights; these are the model's.

    It needs neither the folder that the encoder once came from nor a net.

    Raises:
        DataError: The description or the folder is damaged.
    """
    arguments = dict(description)
    kind = _kinds().get(arguments.pop("kind", None))
    if kind is None:
        raise DataError(folder, f"there is no kind of encoder '{description.get('kind')}'")
    try:
        return kind.encoder.load(arguments, folder)
    except (TypeError, KeyError) as error:
        raise DataError(folder, f"its description is damaged: {error}") from None


def arguments_of(kind: str) -> dict[str, inspect.Parameter]:
    """What a person may say about a kind of encoder, by name."""
    hidden = {"model", "tokeniser", "name", "known", "arguments", "sentences"}
    return {
        name: parameter
        for function in _kinds()[kind].functions
        for name, parameter in inspect.signature(function, eval_str=True).parameters.items()
        if name not in hidden
    }


def _fitting(name: str, kind: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments that this kind takes."""
    own = arguments_of(kind)
    others = {other: arguments_of(other) for other in _kinds() if other != kind}
    known = {key for parameters in (own, *others.values()) for key in parameters}
    fitting = {}
    for key, value in arguments.items():
        if key not in known:
            raise UsageError(unknown_name("argument of an encoder", key, sorted(known)))
        if key in own:
            fitting[key] = value
        elif value is not None and not any(
            key in parameters and parameters[key].default == value for parameters in others.values()
        ):
            raise UsageError(f"'{key}' is nothing that the encoder '{name}' knows.")
    return fitting
