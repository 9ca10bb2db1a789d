"""Text in rows of pieces: consecutive sentences of a document, as many as fit."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lacuner.corpus.sentence import Sentence
from lacuner.encoders.subwords import Subwords
from lacuner.encoders.windows import Longs

_CHUNK = 1000  # sentences whose words are cut together


@dataclass(frozen=True)
class PackedText:
    """Rows of pieces, without special ones, in arrays that stay small however long the text is.

    Attributes:
        pieces: All pieces, row after row.  # [pieces]
        begins: Which of them begin a word.  # [pieces]
        bounds: Where each row begins, and where the last one ends.  # [rows + 1]
        documents: The number of each row's document.  # [rows]
    """

    pieces: NDArray[np.int32]
    begins: NDArray[np.bool_]
    bounds: Longs
    documents: Longs

    def __len__(self) -> int:
        return len(self.documents)

    def row(self, number: int) -> tuple[Longs, Longs]:
        """The pieces of a row, and for each the number of its word there, from 0."""
        here = slice(self.bounds[number], self.bounds[number + 1])
        words = np.cumsum(self.begins[here]) - 1
        # A row may begin within a word that was too long for the one before.
        return self.pieces[here].astype(np.int64), np.maximum(words, 0).astype(np.int64)

    def fingerprint(self) -> str:
        """A name for its content."""
        digest = sha256(self.pieces.tobytes())
        digest.update(self.bounds.tobytes())
        return f"{len(self.pieces)} pieces, {digest.hexdigest()[:16]}"


def pack(sentences: Iterable[Sentence], subwords: Subwords, room: int) -> PackedText:
    """Packs sentences into rows.

    A row holds whole sentences of one document, in order; one that is longer than a row is cut.
    Sentences that name no document belong to one.

    Args:
        sentences: The text, which is read once and not kept.
        subwords: Cuts words into pieces.
        room: Most pieces in a row.
    """
    pieces, begins = array("i"), bytearray()
    bounds, documents = array("q", [0]), array("q")
    for document, row in _rows(sentences, subwords, room):
        for word in row:
            pieces.extend(word.tolist())
            begins += b"\1" + bytes(len(word) - 1)
        bounds.append(len(pieces))
        documents.append(document)
    return PackedText(
        np.frombuffer(pieces, np.int32) if pieces else np.zeros(0, np.int32),
        np.frombuffer(bytes(begins), np.bool_),
        np.array(bounds, np.int64),
        np.array(documents, np.int64),
    )


def _rows(
    sentences: Iterable[Sentence], subwords: Subwords, room: int
) -> Iterator[tuple[int, list[Longs]]]:
    """Documents' numbers and the words of rows, each a few pieces."""
    row: list[Longs] = []
    size = number = 0
    document: str | None = None
    for sentence in _learnt(sentences, subwords):
        if sentence.document != document:
            if row:
                yield number, row
            row, size, number, document = [], 0, number + 1, sentence.document
        words = [part for word in subwords.pieces(sentence.tokens) for part in _parts(word, room)]
        if row and size + sum(map(len, words)) > room:
            yield number, row
            row, size = [], 0
        for word in words:
            if size + len(word) > room:
                yield number, row
                row, size = [], 0
            row.append(word)
            size += len(word)
    if row:
        yield number, row


def _learnt(sentences: Iterable[Sentence], subwords: Subwords) -> Iterator[Sentence]:
    """The sentences, a few at a time, so that their new words are cut in one call."""
    rest = iter(sentences)
    while chunk := list(islice(rest, _CHUNK)):
        subwords.learn(word for sentence in chunk for word in sentence.tokens)
        yield from chunk


def _parts(word: Longs, room: int) -> list[Longs]:
    """A word, cut where it is longer than a row."""
    if len(word) <= room:
        return [word]
    return [word[begin : begin + room] for begin in range(0, len(word), room)]
