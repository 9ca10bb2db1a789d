"""Words to the pieces of a Hugging Face tokeniser, each distinct word once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lacuner.corpus.sentence import Span
from lacuner.encoders.windows import Longs

_REMEMBERED_WORDS = 500_000
_SPACE_MARKS = ("Ġ", "▁")


class Subwords:
    """Cuts words into pieces as the tokeniser does when it is given words instead of text.

    A fast tokeniser cuts each given word by itself, so each distinct word is cut once and looked
    up afterwards. A tokeniser that marks the beginning of a word by the space before it (GPT-2,
    RoBERTa) gets that space, also where its own settings would leave it out.

    Args:
        tokeniser: A fast tokeniser of `transformers`.

    Attributes:
        before: Numbers of the special pieces before a sentence.
        after: Those after it.
        padding: The number to fill up with.
        mask: The piece that stands for one that is hidden; that for unknown ones, where there is
            no mask.
        is_uncased: Whether the tokeniser sees no difference between `A` and `a`.
    """

    def __init__(self, tokeniser: Any) -> None:
        self.tokeniser = tokeniser
        self._known: dict[str, Longs] = {}
        self._space = self._missing_space()
        self.before, self.after = self._special_pieces()
        self.padding = self._special("pad_token_id")
        self.mask = self._special("mask_token_id")
        self._unknown = np.array([self._special("unk_token_id")], dtype=np.int64)
        upper, lower = self._cut(["A", "a"])
        self.is_uncased = upper == lower

    @property
    def specials(self) -> int:
        """How many special pieces surround a sentence."""
        return len(self.before) + len(self.after)

    def learn(self, words: Iterable[str]) -> None:
        """Cuts all words that are new, in one call."""
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        if len(self._known) + len(new) > _REMEMBERED_WORDS:
            self._known.clear()
        for word, pieces in zip(new, self._cut(new) if new else (), strict=True):
            self._known[word] = np.array(pieces, dtype=np.int64) if pieces else self._unknown

    def pieces(self, words: Sequence[str]) -> list[Longs]:
        """The pieces of each word; one that has none gets the unknown piece."""
        try:
            return [self._known[word] for word in words]
        except KeyError:
            self.learn(words)
            return [self._known[word] for word in words]

    def places(self, words: Sequence[str]) -> list[list[Span]]:
        """Where the pieces of each word stand in it, in characters; a mere space has no length."""
        skipped = len(self._space)
        return [
            [(max(begin - skipped, 0), max(end - skipped, 0)) for begin, end in spans]
            for spans in self._encoded(words, return_offsets_mapping=True)["offset_mapping"]
        ]

    def _cut(self, words: Sequence[str]) -> list[list[int]]:
        return list(self._encoded(words)["input_ids"])

    def _encoded(self, words: Sequence[str], **wanted: bool) -> Any:
        # Halves of surrogate pairs are no text; the tokeniser would stop at them.
        texts = [self._space + word.encode("utf-8", "replace").decode() for word in words]
        return self.tokeniser(
            texts,
            add_special_tokens=False,
            padding=False,
            truncation=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
            **wanted,
        )

    def _missing_space(self) -> str:
        self._space = ""
        bare, spaced = (
            self.tokeniser.convert_ids_to_tokens(pieces) for pieces in self._cut(["a", " a"])
        )
        marked = spaced and spaced[0].startswith(_SPACE_MARKS)
        return " " if marked and not (bare and bare[0].startswith(_SPACE_MARKS)) else ""

    def _special_pieces(self) -> tuple[Longs, Longs]:
        encoded = self.tokeniser("a", return_special_tokens_mask=True, truncation=False)
        pieces = np.array(encoded["input_ids"], dtype=np.int64)
        inner = np.flatnonzero(np.array(encoded["special_tokens_mask"]) == 0)
        if not len(inner):  # the tokeniser knows neither 'a' nor a piece for the unknown
            middle = (len(pieces) + 1) // 2
            return pieces[:middle], pieces[middle:]
        return pieces[: inner[0]], pieces[inner[-1] + 1 :]

    def _special(self, name: str) -> int:
        for candidate in (name, "unk_token_id", "eos_token_id", "pad_token_id"):
            number = getattr(self.tokeniser, candidate, None)
            if number is not None:
                return int(number)
        return 0
