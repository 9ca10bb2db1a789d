"""The second contract: an encoder turns words into vectors, and hides how.

Subword pooling, windows over long sentences, character networks and lexicons stay inside, so that
every encoder looks alike to a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, nn

from lacuner.corpus.sentence import Sentence

Inputs = dict[str, Tensor]


class Encoder(Protocol):
    """What a model expects of an encoder, which is an `nn.Module`.

    Attributes:
        width: Length of a word's vector.
    """

    width: int

    def tokenise(self, sentences: Sequence[Sentence]) -> list[Any]:
        """What can be made of each sentence once, before training."""
        ...

    def size(self, item: Any) -> int:
        """The places that a sentence takes in a batch, from what `tokenise` made of it."""
        ...

    def collate(self, items: Sequence[Any]) -> Inputs:
        """The tensors of a batch, from what `tokenise` made."""
        ...

    def __call__(self, inputs: Inputs) -> Tensor:
        """The vectors of the words.  # [batch, words, width]"""
        ...

    def pretrained_parameters(self) -> list[nn.Parameter]:
        """The trainable parameters that were pretrained, which want a smaller learning rate."""
        ...

    def save(self, folder: Path) -> dict[str, Any]:
        """Writes the files it needs besides its weights; returns what rebuilds it, for JSON."""
        ...
