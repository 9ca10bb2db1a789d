"""What reading or writing found on the way: labels, remarks, and everything that was lost.

Nothing is lost silently: a conversion that cannot keep something reports it here, and the caller
shows the counts, or every case on request.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

_LOGGER = logging.getLogger("lacuner")


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that could not be kept as it was.

    Attributes:
        kind: What happens, the same words for all cases of it, such as `nested entity left out`.
        sentence_id: The sentence.
        detail: This case, such as `'New York' (LOC) inside 'New York Times' (ORG)`.
    """

    kind: str
    sentence_id: str
    detail: str


class Findings:
    """Collects losses, remarks and labels while a corpus is read or written.

    Args:
        keep_all: Keep every loss; otherwise the first of each kind and the counts.
    """

    def __init__(self, *, keep_all: bool = False) -> None:
        self.keep_all = keep_all
        self.labels: set[str] = set()
        self.remarks: list[str] = []
        self._warnings: set[str] = set()
        self.losses: list[Loss] = []
        self.counts: Counter[str] = Counter()

    def lose(self, kind: str, sentence_id: str, detail: str) -> None:
        """Reports one loss."""
        self.counts[kind] += 1
        if self.keep_all or self.counts[kind] == 1:
            self.losses.append(Loss(kind, sentence_id, detail))

    def remark(self, text: str, *, warns: bool = False) -> None:
        """Says something once that concerns the whole; `warns` if somebody should do something."""
        if text not in self.remarks:
            self.remarks.append(text)
        if warns:
            self._warnings.add(text)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the remarks, the count of each kind of loss, and the losses that were kept."""
        return {
            "remarks": list(self.remarks),
            "lost": dict(self.counts),
            "losses": [asdict(loss) for loss in self.losses],
        }

    def log(self) -> None:
        """Tells Python's logging: for callers who did not ask for the findings."""
        for remark in self.remarks:
            level = logging.WARNING if remark in self._warnings else logging.INFO
            _LOGGER.log(level, "%s", remark)
        for loss in self.losses:
            count = self.counts[loss.kind]
            first = f"sentence {loss.sentence_id}: {loss.detail}"
            _LOGGER.warning("%s: %s (first: %s)", loss.kind, f"{count:,}", first)
