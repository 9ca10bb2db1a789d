"""A transformer by its name, and whether it reads characters whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lacuner.corpus.sentence import Sentence
from lacuner.encoders.embedded import HUB_NAME, INSTALL, minilm_place
from lacuner.encoders.transformer import TransformerEncoder
from lacuner.errors import UsageError

_MAY_BE_CUT = 0.05  # of the different characters: rare signs, that a vocabulary may lack


def named_transformer(
    name: str, *, known: Sequence[str] = (), **arguments: Any
) -> TransformerEncoder:
    """The transformer of that name.

    Args:
        name: `minilm`, a folder, or a name on the Hugging Face hub.
        known: Other names of encoders, for the message when there is no such model.
        arguments: Those of `TransformerEncoder` and `TransformerEncoder.from_pretrained`.

    Raises:
        UsageError: There is no such transformer, or an argument does not fit.
        DataError: The weights of the default are not those that were published.
    """
    place = minilm_place() if name == "minilm" else name
    try:
        encoder = TransformerEncoder.from_pretrained(place, known=known, **arguments)
    except UsageError as error:
        if place == HUB_NAME and name == "minilm":
            raise UsageError(
                f"The default encoder is not installed ({INSTALL}) and cannot be fetched: {error}"
            ) from None
        raise
    encoder.name = name
    return encoder


def check_reads_characters(
    transformer: TransformerEncoder, units: str, sentences: Sequence[Sentence]
) -> None:
    """Refuses a transformer that cuts characters into pieces, where these meet a lexicon.

    Args:
        transformer: The transformer.
        units: What the lexicon's words are made of; `words` may be cut.
        sentences: The corpus.

    Raises:
        UsageError: It cuts more than one in twenty of the corpus's characters.
    """
    if units != "characters":
        return
    characters = sorted({token for s in sentences for token in s.tokens if len(token) == 1})
    pieces = transformer.subwords.pieces(characters)
    cut = [char for char, found in zip(characters, pieces, strict=True) if len(found) > 1]
    if len(cut) > _MAY_BE_CUT * len(characters):
        raise UsageError(
            f"The tokeniser of '{transformer.name}' cuts {len(cut):,} of the corpus's "
            f"{len(characters):,} characters into several pieces, for instance '{cut[-1]}': words "
            "of a lexicon need an encoder that reads characters whole, such as a Chinese BERT."
        )
