"""Augmentation by a masked language model, as RoSTER does it (Meng et al. 2021, section 3.3).

Some words of a sentence are masked, a language model says what could stand there, one of its first
guesses is taken if it looks like the word it replaces. Words are replaced one by one, so that all
that is known of a sentence stays true of its places.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch

from lacuner.augmentation.capitals import read_capitals, suits
from lacuner.augmentation.piece_forms import PieceForms, capitalisation, cased_like
from lacuner.corpus.sentence import Sentence, Span
from lacuner.encoders.language_model import MaskedLanguageModel, load_language_model
from lacuner.encoders.windows import Longs, even_size, most_central, window_starts
from lacuner.errors import UsageError
from lacuner.models.batching import batches_by_size

RATE, TOP = 0.15, 5  # of the paper
_LONGEST_ROW = 512  # attention costs the square of it
_CHUNK = 4096  # sentences that are looked at together


@dataclass(frozen=True, slots=True)
class _Gap:
    """A masked piece of a word.

    Attributes:
        word: Which word.
        place: Which of the pieces of the sentence, from 0.
        span: Where the piece stands in the word, in characters.
        piece: What was there.
        draw: Which guess is taken, between 0 and 1.
    """

    word: int
    place: int
    span: Span
    piece: int
    draw: float


@dataclass(frozen=True, slots=True)
class _Row:
    """A window over a sentence with gaps.

    Attributes:
        sentence: Which sentence.
        pieces: Its pieces, special ones included.
        columns: Where its gaps are.  # [gaps]
        gaps: The gaps that are filled here.
    """

    sentence: int
    pieces: Longs
    columns: Longs
    gaps: tuple[_Gap, ...]


class Augmenter:
    """Replaces some words of sentences by what a masked language model would say there.

    Of a word of several pieces one piece is replaced, in sight of the others. A guess is taken
    only if it has the capitalisation and the place within a word (beginning, continuation) of what
    it replaces; else the word stays. A model that knows lower case only is given the case of the
    word; words with a capital it replaces only by those that have one, too, in the text it was
    adapted to. Sentences that are longer than the model's window are read in windows that overlap.

    Args:
        model: The name or folder of a masked language model.
        rate: Share of the words that are masked.
        top: How many guesses of the model are drawn among, by their probabilities.
        batch_size: Most rows in a batch.
        batch_pieces: Most places for pieces in a batch, padding included.
        device: Where to compute; None takes a GPU if there is one.

    Example:
        >>> augmenter = Augmenter("bert-base-cased")  # doctest: +SKIP
        >>> augmenter.augment(corpus.sentences, seed=1)  # doctest: +SKIP

    Raises:
        UsageError: There is no such model, it has no head for masked words, or an argument does
            not fit.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        rate: float = RATE,
        top: int = TOP,
        batch_size: int = 64,
        batch_pieces: int = 4096,
        device: str | None = None,
    ) -> None:
        if not 0 <= rate <= 1:
            raise UsageError(f"The share of words to mask is between 0 and 1, not {rate}.")
        if top < 1:
            raise UsageError(f"There must be at least one guess to draw among, not {top}.")
        self.rate, self.top = rate, top
        self._batch_size, self._batch_pieces = batch_size, batch_pieces
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._model: MaskedLanguageModel = load_language_model(model).to(self._device).eval()
        self._subwords = self._model.subwords
        self._capitals = read_capitals(Path(model))
        self._forms = PieceForms(self._subwords.tokeniser)
        self._room = min(self._model.limit or _LONGEST_ROW, _LONGEST_ROW) - self._subwords.specials

    def augment(self, sentences: Iterable[Sentence], seed: int) -> list[Sentence]:
        """The sentences with some words replaced, in order.

        Number of words, ids and all labels stay. What is drawn for a sentence depends on the seed,
        its id and its words, not on the sentences beside it.

        Args:
            sentences: The sentences.
            seed: The same seed gives the same words.
        """
        given = list(sentences)
        found: list[Sentence] = []
        for begin in range(0, len(given), _CHUNK):
            found += self._augment(given[begin : begin + _CHUNK], seed)
        return found

    def _augment(self, sentences: Sequence[Sentence], seed: int) -> list[Sentence]:
        rows = self._rows(sentences, seed)
        words = [list(sentence.tokens) for sentence in sentences]
        lengths = [len(row.pieces) for row in rows]
        for numbers in batches_by_size(lengths, self._batch_size, max_words=self._batch_pieces):
            batch = [rows[number] for number in numbers]
            for row, guesses in zip(batch, self._guesses(batch), strict=True):
                for gap, guess in zip(row.gaps, guesses, strict=True):
                    changed = words[row.sentence]
                    changed[gap.word] = self._replaced(sentences[row.sentence], gap, guess)
        return [with_words(*pair) for pair in zip(sentences, words, strict=True)]

    def _rows(self, sentences: Sequence[Sentence], seed: int) -> list[_Row]:
        self._subwords.learn(word for sentence in sentences for word in sentence.tokens)
        drawn = []
        for number, sentence in enumerate(sentences):
            rng = _generator(seed, sentence)
            count = int(self.rate * len(sentence) + rng.random())
            chosen = np.sort(rng.choice(len(sentence), count, replace=False)) if count else ()
            drawn += [(number, int(word), rng.random(2).tolist()) for word in chosen]
        spelt = dict.fromkeys(sentences[number].tokens[word] for number, word, _ in drawn)
        spans = dict(zip(spelt, self._subwords.places(list(spelt)) if spelt else (), strict=True))
        gaps: dict[int, list[_Gap]] = {}
        for number, word, (which, draw) in drawn:
            text = sentences[number].tokens[word]
            if free := self._replaceable(text, spans[text]):
                inner = free[int(which * len(free))]
                piece = int(self._subwords.pieces([text])[0][inner])
                gap = _Gap(word, inner, spans[text][inner], piece, draw)
                gaps.setdefault(number, []).append(gap)
        return [
            row for number, found in gaps.items() for row in self._cut(number, sentences, found)
        ]

    def _replaceable(self, word: str, spans: Sequence[Span]) -> list[int]:
        """The pieces of a word that are text of their own.

        No parts of characters, no unknown piece, and no punctuation within a word.
        """
        pieces = self._subwords.pieces([word])[0]
        ends = [0, *(end for _, end in spans)]
        begins = [*(begin for begin, _ in spans[1:]), len(word)]
        return [
            number
            for number, (begin, end) in enumerate(spans)
            if max(ends[: number + 1]) <= begin < end <= min(begins[number:])
            and self._forms[int(pieces[number])] is not None
            and (len(spans) == 1 or capitalisation(word[begin:end]) != "punctuation")
        ]

    def _cut(self, number: int, sentences: Sequence[Sentence], gaps: Sequence[_Gap]) -> list[_Row]:
        """The windows over a sentence in which gaps are to be filled."""
        by_word = self._subwords.pieces(sentences[number].tokens)
        begins = np.cumsum([0, *(len(pieces) for pieces in by_word)])  # [words + 1]
        places = np.array([begins[gap.word] + gap.place for gap in gaps])  # [gaps]
        pieces = np.concatenate(by_word)
        pieces[places] = self._model.mask
        overlap = self._room // 10
        size = even_size(len(pieces), self._room, overlap)
        starts = window_starts(len(pieces), size, overlap)
        windows = most_central(places, places + 1, starts, size)
        before, after = self._subwords.before, self._subwords.after
        rows = []
        for window in np.unique(windows):
            here = np.flatnonzero(windows == window).tolist()
            start = starts[window]
            row = np.concatenate((before, pieces[start : start + size], after))
            columns = places[here] - start + len(before)
            rows.append(_Row(number, row, columns, tuple(gaps[index] for index in here)))
        return rows

    @torch.inference_mode()
    def _guesses(self, rows: Sequence[_Row]) -> list[list[int]]:
        """For each gap of each row a guess, drawn among the best of the model."""
        inputs = self._model.collate([row.pieces for row in rows], [row.columns for row in rows])
        scores = self._model({key: value.to(self._device) for key, value in inputs.items()})
        best = scores.topk(min(self.top, scores.shape[-1]))  # [gaps, top]
        reached = best.values.double().softmax(-1).cumsum(-1).cpu()  # RoSTER, eq. 7, the top only
        draws = torch.tensor([gap.draw for row in rows for gap in row.gaps], dtype=torch.double)
        ranks = (reached < draws[:, None]).sum(-1).clamp(max=reached.shape[-1] - 1)  # [gaps]
        found = best.indices.cpu().gather(-1, ranks[:, None])[:, 0].tolist()
        ends = np.cumsum([len(row.gaps) for row in rows]).tolist()
        return [found[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)]

    def _replaced(self, sentence: Sentence, gap: _Gap, guess: int) -> str:
        """The word with the guess in its gap, or as it was where the guess does not fit."""
        word, (begin, end) = sentence.tokens[gap.word], gap.span
        before, new = self._forms[gap.piece], self._forms[guess]
        if guess == gap.piece or before is None or new is None or new.status != before.status:
            return word
        old = word[begin:end]
        is_uncased = self._subwords.is_uncased
        if is_uncased and old == word and not suits(new.text, word, self._capitals):
            return word
        text = cased_like(new.text, old) if is_uncased else new.text
        changed = word[:begin] + text + word[end:]
        alike = capitalisation(text) == capitalisation(old)
        if not alike or capitalisation(changed) != capitalisation(word):
            return word
        if len(word) == 1 and len(changed) > 1 and _is_character(sentence, word):
            return word
        return changed


def _is_character(sentence: Sentence, word: str) -> bool:
    """Whether a word of one character must stay one: as in Chinese, or where all words are."""
    return capitalisation(word) == "caseless" or all(len(token) == 1 for token in sentence.tokens)


def _generator(seed: int, sentence: Sentence) -> np.random.Generator:
    what = repr((seed, sentence.id, sentence.tokens)).encode("utf-8", "surrogatepass")
    return np.random.default_rng(int.from_bytes(sha256(what).digest()[:8], "big"))


def with_words(sentence: Sentence, words: Sequence[str]) -> Sentence:
    """The sentence with other words, as many as it has; its text changes with them."""
    if tuple(words) == sentence.tokens:
        return sentence
    if sentence.text is None or sentence.offsets is None:
        return replace(sentence, tokens=tuple(words))
    text, offsets, reached = "", [], 0
    for word, (begin, end) in zip(words, sentence.offsets, strict=True):
        text += sentence.text[reached:begin]
        offsets.append((len(text), len(text) + len(word)))
        text, reached = text + word, end
    text += sentence.text[reached:]
    return replace(sentence, tokens=tuple(words), text=text, offsets=tuple(offsets))
