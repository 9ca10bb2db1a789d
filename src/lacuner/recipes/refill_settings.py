"""Settings of `refill`, and what its two ways to find gaps share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lacuner.corpus.sentence import Corpus
from lacuner.labelling.holding_back import hold_back
from lacuner.recipes.crf_tagger import CrfRecipeSettings
from lacuner.recipes.parts import EncoderSettings
from lacuner.refilling.filling import FillingSettings
from lacuner.refilling.rounds import RoundSettings
from lacuner.settings import check_range
from lacuner.training.loop import step_seed

_HIDDEN = 0.25  # of the words, where labels are of a list


@dataclass(frozen=True)
class HidingEncoderSettings(EncoderSettings):
    """Words to vectors, some of them hidden.

    Attributes:
        hide: Share of the pieces (or words) that the encoder does not see in training, so that it
            learns in which contexts names stand, and not names by heart. None hides a quarter where
            labels look like those of a list, and otherwise nothing.
    """

    hide: float | None = None


@dataclass(frozen=True)
class OpeningSettings:
    """The short training that says which words may be in an entity.

    Attributes:
        epochs: How long it is; none takes a quarter of the epochs of the others, at least one.
        least: From this probability on of being in an entity, a word without a label is open: the
            models that look learn nothing from it. All others are taken for O.
    """

    epochs: int | None = None
    least: float = 0.05

    def __post_init__(self) -> None:
        check_range(self, "opening", ("epochs",), 1)
        check_range(self, "opening", ("least",), 0, 1)


@dataclass(frozen=True)
class Settings(CrfRecipeSettings):
    """Settings of `refill`."""

    encoder: HidingEncoderSettings = field(default_factory=HidingEncoderSettings)
    opening: OpeningSettings = field(default_factory=OpeningSettings)
    rounds: RoundSettings = field(default_factory=RoundSettings)
    filling: FillingSettings = field(default_factory=FillingSettings)


def with_hiding(settings: Settings, *, by_list: bool) -> Settings:
    """The settings with the share of hidden words that suits the labels, if none is said."""
    if settings.encoder.hide is not None:
        return settings
    hide = _HIDDEN if by_list else 0.0
    return replace(settings, encoder=replace(settings.encoder, hide=hide))


def shown(corpus: Corpus, settings: Settings, unit: str, member: int) -> Corpus:
    """The corpus as a model sees it: some labels are held back, from each model others."""
    seed = step_seed(settings.training.seed, "held back", member)
    return hold_back(corpus, settings.rounds.held_back, seed, unit=unit)


def of_member(settings: Settings, member: int) -> Settings:
    """The settings with a seed of its own for a model."""
    seed = step_seed(settings.training.seed, "member", member)
    return replace(settings, training=replace(settings.training, seed=seed))


def given(corpus: Corpus) -> int:
    """How many labels there are where some may be missing."""
    return sum(len(sentence.entities) for sentence in corpus if not sentence.complete)
