"""What a piece of a vocabulary looks like as text, and whether it may stand for another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lacuner.encoders.word_shape import shape_of

_SPACE_MARKS = ("Ġ", "▁")
_UNREADABLE = "\ufffd"  # what stands for bytes that are no whole character


@dataclass(frozen=True, slots=True)
class PieceForm:
    """A piece as text.

    Attributes:
        text: Its characters, without marks.
        status: Whether it continues a word, follows a space, ends a word.
    """

    text: str
    status: tuple[bool, bool, bool]


class PieceForms:
    """The forms of the pieces of a tokeniser, each looked up once.

    Args:
        tokeniser: A fast tokeniser of `transformers`.
    """

    def __init__(self, tokeniser: Any) -> None:
        self._tokeniser = tokeniser
        self._special = frozenset(tokeniser.all_special_ids)
        pieces = tokeniser.backend_tokenizer.model
        self._continuing: str = getattr(pieces, "continuing_subword_prefix", None) or ""
        self._ending: str = getattr(pieces, "end_of_word_suffix", None) or ""
        self._known: dict[int, PieceForm | None] = {}

    def __getitem__(self, piece: int) -> PieceForm | None:
        """The form of a piece; None for one that is no readable text."""
        if piece not in self._known:
            self._known[piece] = self._form(piece)
        return self._known[piece]

    def _form(self, piece: int) -> PieceForm | None:
        if piece in self._special or piece >= len(self._tokeniser):
            return None
        token: str = self._tokeniser.convert_ids_to_tokens(piece)
        continues = bool(self._continuing) and token.startswith(self._continuing)
        ends = bool(self._ending) and token.endswith(self._ending)
        follows_space = token.startswith(_SPACE_MARKS)
        if continues:
            text = token.removeprefix(self._continuing)
        else:
            text = self._tokeniser.convert_tokens_to_string([token]).strip()
        readable = text and text.isprintable() and _UNREADABLE not in text and " " not in text
        return PieceForm(text, (continues, follows_space, ends)) if readable else None


def capitalisation(word: str) -> str:
    """The shape of a word; a single capital counts as a capitalised word.

    Example:
        >>> [capitalisation(word) for word in ("A", "Bergen", "NATO", "rain", "1996", "京")]
        ['title', 'title', 'upper', 'lower', 'digits', 'caseless']
    """
    shape = shape_of(word)
    return "title" if shape == "initial" else shape


def cased_like(text: str, model: str) -> str:
    """A text in the case of another, for vocabularies that know lower case only.

    Example:
        >>> cased_like("oslo", "Bergen"), cased_like("un", "NATO")
        ('Oslo', 'UN')
    """
    case = capitalisation(model)
    if case == "title":
        return text[:1].upper() + text[1:]
    return text.upper() if case == "upper" else text
