"""Gaps in rows of text, as BERT draws them, and batches of rows with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lacuner.adaptation.packing import PackedText
from lacuner.corpus.sentence import Sentence
from lacuner.encoders.language_model import MaskedLanguageModel
from lacuner.encoders.windows import Longs
from lacuner.errors import UsageError
from lacuner.models.batch import Batch
from lacuner.settings import check_range
from lacuner.training.loop import step_seed

_NO_WORDS, _NO_LABELS = Sentence("", ()), {"": 1}  # rows have pieces, but nothing to know of them
_ROUNDING = 1e-9
_MASKED, _RANDOM = 0.8, 0.1  # what becomes of a chosen piece (Devlin et al. 2019, section 3.1)


@dataclass(frozen=True)
class Masking:
    """How gaps are drawn.

    Attributes:
        rate: Share of the pieces (or words) that is chosen; at least one of each row.
        whole_words: Choose words with all their pieces, and not pieces.
        masked: Share of the chosen pieces that the mask replaces.
        random: Share that any piece of the vocabulary replaces; the rest stays as it is.

    Raises:
        UsageError: A share is none.
    """

    rate: float = 0.15
    whole_words: bool = False
    masked: float = _MASKED
    random: float = _RANDOM

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise UsageError(f"masking.rate is {self.rate:g}, but must be between 0 and 1.")
        check_range(self, "masking", ("masked", "random"), 0, 1)
        if self.masked + self.random > 1 + _ROUNDING:
            raise UsageError(
                f"masking.masked is {self.masked:g} and masking.random {self.random:g}, but they "
                "must be shares that sum to at most 1."
            )

    def draw(
        self, pieces: Longs, words: Longs, mask: int, ordinary: Longs, rng: np.random.Generator
    ) -> tuple[Longs, Longs]:
        """Draws the gaps of a row.

        Args:
            pieces: The row.
            words: The word of each piece.
            mask: The piece that stands for a gap.
            ordinary: The pieces that may replace another.
            rng: Where chance comes from.

        Returns:
            The row with gaps, and where they are.
        """
        units = words if self.whole_words else np.arange(len(pieces))
        count = max(1, int(self.rate * (units[-1] + 1) + rng.random()))
        chosen = rng.choice(units[-1] + 1, count, replace=False)
        places = np.flatnonzero(np.isin(units, chosen))
        fates = rng.random(len(places))
        with_gaps = pieces.copy()
        with_gaps[places[fates < self.masked]] = mask
        is_random = (fates >= self.masked) & (fates < self.masked + self.random)
        with_gaps[places[is_random]] = rng.choice(ordinary, int(is_random.sum()))
        return with_gaps, places


class GapExamples:
    """Rows of a text from which batches with gaps are cut: new gaps in every epoch.

    The gaps of a row depend on seed, epoch and its number, not on the batch.

    Args:
        text: The text.
        numbers: The rows of it to take.
        model: Whose inputs they become.
        masking: How gaps are drawn.
        seed: Where chance comes from.
    """

    def __init__(
        self,
        text: PackedText,
        numbers: Longs,
        model: MaskedLanguageModel,
        masking: Masking,
        seed: int,
    ) -> None:
        self._text, self._numbers, self._model = text, numbers, model
        self._masking, self._seed = masking, seed
        lengths = np.diff(text.bounds)[numbers] + model.subwords.specials
        self.lengths: list[int] = lengths.tolist()
        self._ordinary = _ordinary_pieces(model)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def sizes(self) -> list[int]:
        """As the lengths: both count pieces."""
        return self.lengths

    def batch(self, numbers: Sequence[int], *, epoch: int = 0) -> Batch:
        """The batch of these rows; its inputs have `targets`, what stood in the gaps.  # [gaps]"""
        before, after = self._model.subwords.before, self._model.subwords.after
        rows, places, targets = [], [], []
        for number in numbers:
            row = int(self._numbers[number])
            rng = np.random.default_rng(step_seed(self._seed, "gaps", epoch, row))
            pieces, words = self._text.row(row)
            with_gaps, here = self._masking.draw(
                pieces, words, self._model.mask, self._ordinary, rng
            )
            rows.append(np.concatenate((before, with_gaps, after)))
            places.append(here + len(before))
            targets.append(pieces[here])
        inputs = self._model.collate(rows, places)
        inputs["targets"] = torch.from_numpy(np.concatenate(targets))
        return Batch.of([_NO_WORDS] * len(rows), inputs, _NO_LABELS, epoch=epoch)


def _ordinary_pieces(model: MaskedLanguageModel) -> Longs:
    """All pieces of the vocabulary but special ones."""
    tokeniser = model.subwords.tokeniser
    return np.setdiff1d(np.arange(len(tokeniser)), np.array(tokeniser.all_special_ids))
