"""What names and text are compared by: units, the words or characters inside tokens.

A name and a token are cut in the same way, and each piece is then normalised and folded on its
own. Folding may change how long a piece is ("İ", "ﬁ", "ß"), but never where it stands.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lacuner.corpus.raw_text import words_of
from lacuner.corpus.sentence import Sentence

Cut = Callable[[str], list[str]]
Fold = Callable[[str], str]

# With this many different tokens at hand, the memory of their codes starts anew: however long the
# corpus, it does not grow. Real text has few enough for that to happen rarely.
_REMEMBERED_TOKENS = 400_000
_SENTENCES_LOOKED_AT = 200
_SHARE_OF_CHARACTERS = 0.95
_WHITE_SPACE = re.compile(r"\s+")


def cut_characters(text: str) -> list[str]:
    """The characters of a text, each with its combining marks; white space is one blank."""
    pieces: list[str] = []
    for character in _WHITE_SPACE.sub(" ", text):
        if pieces and unicodedata.combining(character):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def spellings(name: str, units: str) -> list[str]:
    """How a name may be written: corpora of characters hold its blanks, or leave them out."""
    name = name.strip()
    if units == "characters" and _WHITE_SPACE.search(name):
        return [name, _WHITE_SPACE.sub("", name)]
    return [name]


def cutter(units: str) -> Cut:
    """How names and tokens are cut: into `words` or `characters`."""
    return cut_characters if units == "characters" else words_of


def folder(normal_form: str, *, ignore_case: bool) -> Fold:
    """How a piece is normalised and, where case does not count, folded.

    Args:
        normal_form: `NFC`, `NFKC` or `none`.
        ignore_case: Whether case does not count.
    """

    def normalise(piece: str) -> str:
        if normal_form == "NFC":
            return unicodedata.normalize("NFC", piece)
        return unicodedata.normalize("NFKC", piece) if normal_form == "NFKC" else piece

    def fold(piece: str) -> str:
        if piece.isascii():
            return piece.lower() if ignore_case else piece
        piece = normalise(piece)
        # Case folding may leave a letter beside its mark, so it is normalised once more.
        return normalise(piece.casefold()) if ignore_case else piece

    return fold


def has_capital(text: str) -> bool:
    """Is there a letter that lower case would change? Scripts without case have none."""
    return text != text.lower()


def detect_units(sentences: Iterable[Sentence]) -> str:
    """Finds out whether the tokens of a corpus are characters.

    They are when 95 % of the tokens of the first 200 sentences have one character, and the
    sentences do not come from raw text (which has been cut into words here).

    Args:
        sentences: A corpus, or a stream of its own: the first sentences are taken from it.

    Returns:
        `words` or `characters`.
    """
    first = islice(sentences, _SENTENCES_LOOKED_AT)
    tokens = [token for sentence in first if sentence.text is None for token in sentence.tokens]
    short = sum(len(token) == 1 for token in tokens)
    return "characters" if tokens and short >= _SHARE_OF_CHARACTERS * len(tokens) else "words"


class TokenCodes(dict[str, int]):
    """From a token to the number of its unit; learns unseen tokens as they come.

    A code is twice the unit's number in the vocabulary, plus one if the token has a capital.
    Units that no name has are number 0. A token of several units gets a negative code, `-1 - i`
    where `parts[i]` are the codes of its units.
    """

    def __init__(self, vocabulary: dict[str, int], cut: Cut, fold: Fold) -> None:
        self.vocabulary, self.cut, self.fold = vocabulary, cut, fold
        self.plain = cut is words_of  # then letters and digits alone are one unit
        self.parts: list[list[int]] = []
        self.forget()

    def forget(self) -> None:
        """Starts anew. The empty token, code 0, stands between sentences."""
        self.clear()
        self.parts.clear()
        self[""] = 0

    def __missing__(self, token: str) -> int:
        single = self.plain and token.isalnum() and token.isascii()
        pieces = [token] if single else self.cut(token)
        if len(pieces) == 1:
            code = self._code(pieces[0])
        elif pieces:
            self.parts.append([self._code(piece) for piece in pieces])
            code = -len(self.parts)
        else:
            code = 0
        self[token] = code
        return code

    def _code(self, piece: str) -> int:
        return 2 * self.vocabulary.get(self.fold(piece), 0) + has_capital(piece)

    def of(self, tokens: list[str]) -> NDArray[np.int32]:
        """The codes of many tokens."""
        if len(self) > _REMEMBERED_TOKENS:
            self.forget()
        return np.fromiter(map(self.__getitem__, tokens), np.int32, count=len(tokens))
