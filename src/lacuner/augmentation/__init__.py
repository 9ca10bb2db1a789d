"""Sentences said a little differently: some words replaced by a masked language model."""

from lacuner.augmentation.augmenter import Augmenter

__all__ = ["Augmenter"]
