"""Many strings as two arrays, which a file can hold and memory can map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class StringTable:
    """Strings by number.

    Attributes:
        text: All strings in UTF-8, one after the other.
        ends: Where each ends.
    """

    text: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, strings: Iterable[str]) -> StringTable:
        """The table of some strings."""
        pieces = [string.encode("utf-8", "surrogatepass") for string in strings]
        ends = np.cumsum(np.fromiter(map(len, pieces), np.int64, count=len(pieces)))
        return cls(np.frombuffer(b"".join(pieces), np.uint8), ends)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> str:
        begin = int(self.ends[number - 1]) if number else 0
        return self.text[begin : int(self.ends[number])].tobytes().decode("utf-8", "surrogatepass")

    def many(self, numbers: NDArray[np.int32]) -> list[str]:
        """The strings of some numbers."""
        begins = np.where(numbers > 0, self.ends[numbers - 1], 0).tolist()
        ends = self.ends[numbers].tolist()
        text = self.text.data
        return [
            str(text[begin:end], "utf-8", "surrogatepass")
            for begin, end in zip(begins, ends, strict=True)
        ]

    def index(self) -> dict[str, int]:
        """From each string to its number, counted from 1."""
        whole = self.text.tobytes().decode("utf-8", "surrogatepass")
        # Where the strings end in characters: bytes that continue a character do not count.
        characters = np.cumsum((self.text & 0xC0) != 0x80)
        ends = np.append(0, characters)[self.ends].tolist()
        spans = zip([0, *ends], ends, strict=False)
        return {whole[begin:end]: number for number, (begin, end) in enumerate(spans, start=1)}
