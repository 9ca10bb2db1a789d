"""What a study is: corpora × masking rates × systems × encoders × seeds.

`docs/bench.md` explains the file that describes one; `study_file` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lacuner.errors import UsageError
from lacuner.suggestions import unknown_name

Settings = dict[str, Any]


@dataclass(frozen=True)
class CorpusEntry:
    """A corpus of a study; files are relative to the folder of `--data`.

    Attributes:
        name: What tables call it.
        gold: Training files whose labels are complete.
        distant: Training files whose labels have gaps; they are added to the gold ones.
        vouched: Are recipes told that the labels of gold files are complete? Where labels are
            hidden they never are.
        dev: What models are chosen on; gold. None takes the last model.
        test: What is scored once; gold.
        masking: Rates at which labels of train are hidden.
        ceiling: The corpus whose `supervised` runs are what is retained from; itself when None.
        encoders: Only with these, for instance those of its language.
        embedded: The corpus of `lacuner demo`: no files.
        settings: For every system on it, before its own.
    """

    name: str
    gold: tuple[str, ...] = ()
    distant: tuple[str, ...] = ()
    vouched: bool = True
    dev: str | None = None
    test: str | None = None
    masking: tuple[float, ...] = (0.0,)
    ceiling: str | None = None
    encoders: tuple[str, ...] | None = None
    embedded: bool = False
    settings: Settings = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Is its training part known to have all labels, before any are hidden?"""
        return self.vouched and not self.distant


@dataclass(frozen=True)
class System:
    """A recipe with its settings: a line of the tables.

    Attributes:
        name: What tables call it.
        recipe: A name of `lacuner recipes`.
        published: The name of its published figures in `published.toml`. Figures of that name, a
            comma and the name of an encoder are those with that encoder.
        corpora: Only on these.
        masking: Only at these rates.
        encoders: Only with these.
        profiles: Only in these.
        settings: In place of the recipe's defaults and the profile's settings.
    """

    name: str
    recipe: str
    published: str | None = None
    corpora: tuple[str, ...] | None = None
    masking: tuple[float, ...] | None = None
    encoders: tuple[str, ...] | None = None
    profiles: tuple[str, ...] | None = None
    settings: Settings = field(default_factory=dict)

    @property
    def is_ceiling(self) -> bool:
        """Is it what others are measured by? It sees complete labels only."""
        return self.recipe == "supervised"


@dataclass(frozen=True)
class Profile:
    """How large the study is.

    Attributes:
        name: What `--profile` takes.
        encoders: Names of encoders.
        seeds: One run each. The seed also draws which labels are hidden.
        train_sentences: How many training sentences to draw; None takes all.
        dev_sentences: How many of dev to choose on, which every epoch pays for; None takes all.
        masking: Rates in place of the corpora's, for those that have rates above 0.
        corpora: Only these.
        settings: For every system, before its own.
    """

    name: str
    encoders: tuple[str, ...] = ("minilm",)
    seeds: tuple[int, ...] = (1, 2, 3)
    train_sentences: int | None = None
    dev_sentences: int | None = None
    masking: tuple[float, ...] | None = None
    corpora: tuple[str, ...] | None = None
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class EncoderChoice:
    """An encoder under the name that the study gives it.

    Attributes:
        name: That name.
        model: What `encoder.name` gets: a name or a folder; None wants `--encoder NAME=PLACE`.
        note: What it is and where to get it.
        settings: For every system with it, before its own.
    """

    name: str
    model: str | None = None
    note: str = ""
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """A study as its file describes it.

    Attributes:
        name: What results are filed under.
        title: One line for people.
        sample_seed: Draws the training sentences, the same for every run.
        probe: Look into the runs, too: how probable chosen spans are by epoch, and, for the first
            seed, the vectors of test spans.
        corpora: By name.
        systems: Lines of the tables; two may share a name if they share no column.
        profiles: By name.
        encoders: By name; encoders that need no more than their name are not listed.
    """

    name: str
    title: str = ""
    sample_seed: int = 0
    probe: bool = False
    corpora: Mapping[str, CorpusEntry] = field(default_factory=dict)
    systems: tuple[System, ...] = ()
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    encoders: Mapping[str, EncoderChoice] = field(default_factory=dict)

    def profile(self, name: str) -> Profile:
        """The profile of that name.

        Raises:
            UsageError: There is none.
        """
        if name not in self.profiles:
            raise UsageError(unknown_name(f"profile of the study {self.name}", name, self.profiles))
        return self.profiles[name]

    def encoder(self, name: str) -> EncoderChoice:
        """The encoder of that name, listed or not."""
        return self.encoders.get(name) or EncoderChoice(name, model=name)
