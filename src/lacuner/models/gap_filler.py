"""A masked language model as the loop knows models: a batch in, scores out."""

from __future__ import annotations

from torch import nn

from lacuner.encoders.language_model import MaskedLanguageModel
from lacuner.models.batch import Batch, Output
from lacuner.models.precision import encoded


class GapFiller(nn.Module):
    """Scores what could stand in the gaps of a batch.

    Args:
        encoder: The masked language model.
    """

    def __init__(self, encoder: MaskedLanguageModel) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, batch: Batch) -> Output:
        """Scores of the vocabulary for each gap.  # [gaps, vocabulary]"""
        scores = encoded(self.encoder, batch.inputs)
        return Output(scores.new_zeros(0), scores, scores.new_ones(len(scores)).bool())
