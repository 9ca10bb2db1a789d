"""Retrieval augmented inference: a second opinion from the centre of each label.

Si et al. 2022, "SCL-RAI"; "eq." below means an equation of that paper.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

from lacuner.errors import UsageError
from lacuner.models.batch import Batch, Output
from lacuner.models.targets import span_targets

ALPHA = 0.5  # of the paper
_FILE = "retrieval.safetensors"
_TINY = 1e-30


class Retrieval:
    """The mean representation of each label's spans, and how much its word counts.

    Args:
        centres: One a label, the first of "no entity".  # [1 + labels, features]
        known: Labels that have a centre; the others are never retrieved.  # [1 + labels]
        alpha: α, the share of the retrieved distribution, from 0 to 1; can be changed any time.
    """

    def __init__(self, centres: Tensor, known: Tensor, alpha: float = ALPHA) -> None:
        self.centres, self.known = centres, known
        self.alpha = alpha

    @property
    def alpha(self) -> float:
        """α, the share of the retrieved distribution."""
        return self._alpha

    @alpha.setter
    def alpha(self, value: float) -> None:
        if not 0 <= value <= 1:
            raise UsageError(f"alpha is {value:g}, but must be between 0 and 1.")
        self._alpha = value

    @classmethod
    def of(
        cls, outputs: Iterable[tuple[Batch, Output]], labels: int, alpha: float = ALPHA
    ) -> Retrieval:
        """Collects the centres in one pass over the training set (eq. 11-12).

        The centre of "no entity" is that of all spans without a label: the few entities among
        them do not move it.

        Args:
            outputs: What the trained model, dropout off, says of the batches.
            labels: How many labels there are besides "no entity".
            alpha: α.
        """
        sums: Tensor | None = None
        counts = torch.zeros(1 + labels, dtype=torch.double)
        for batch, output in outputs:
            if output.spans is None:
                raise UsageError("Retrieval needs span features that have a hidden layer.")
            targets, settled = span_targets(output, batch)
            spans = output.spans[settled].double().cpu()  # [spans, features]
            numbers = targets[settled].cpu()
            if sums is None:
                sums = torch.zeros(1 + labels, spans.shape[1], dtype=torch.double)
            sums.index_add_(0, numbers, spans)
            counts += torch.bincount(numbers, minlength=1 + labels)
        if sums is None:
            raise UsageError("There is no sentence to retrieve from.")
        return cls((sums / counts.clamp(min=1)[:, None]).float(), counts > 0, alpha)

    def distribution(self, spans: Tensor) -> Tensor:
        """What the centres say of spans (eq. 13-15).

        Args:
            spans: Representations.  # [..., features]

        Returns:
            Their shares of each label; "no entity" has none.  # [..., 1 + labels]
        """
        centres = functional.normalize(self.centres.to(spans), dim=-1)
        likeness = functional.normalize(spans, dim=-1) @ centres.T  # eq. 13
        likeness = likeness.masked_fill(~self.known.to(spans.device), -torch.inf)
        shares = torch.softmax(likeness, -1)  # eq. 14
        shares[..., 0] = 0  # eq. 15
        return shares

    def blend(self, output: Output, temperature: float = 1.0) -> Output:
        """The output with logarithms of blended probabilities as scores (eq. 16).

        They add up to 1 again, although "no entity" has given its share away.

        Args:
            output: What the model says.
            temperature: What its scores are divided by first.
        """
        assert output.spans is not None
        own = torch.softmax(output.scores.float() / temperature, -1)
        blended = (1 - self.alpha) * own + self.alpha * self.distribution(output.spans)
        blended = blended / blended.sum(-1, keepdim=True).clamp(min=_TINY)
        return replace(output, scores=blended.clamp(min=_TINY).log())

    def save(self, folder: Path) -> None:
        """Writes the centres beside the weights."""
        tensors = {"centres": self.centres.contiguous(), "known": self.known.contiguous()}
        save_file(tensors, folder / _FILE)

    @classmethod
    def load(cls, folder: Path, alpha: float) -> Retrieval:
        """Reads what `save` wrote."""
        tensors = load_file(folder / _FILE)
        return cls(tensors["centres"], tensors["known"], alpha)
