"""Members of `refill`: models that look together, and what the last one learns of their beliefs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.corpus.tagging import runs
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.loss import Objective
from lacuner.objectives.partial_crf import PartialCrfLikelihood
from lacuner.recipes.crf_tagger import new_crf_tagger
from lacuner.recipes.hidden_tags import SoftTags
from lacuner.recipes.parts import fit
from lacuner.recipes.refill_settings import Settings, of_member
from lacuner.refilling.gap_estimate import Booleans
from lacuner.refilling.tag_beliefs import layout_of
from lacuner.training.corpus_array import read_array
from lacuner.training.run_folder import Run
from lacuner.training.side_by_side import train_side_by_side
from lacuner.training.state import drop_result


def train_members(
    train: Callable[[Corpus, Settings, Run], TokenTagger],
    corpora: Sequence[Corpus],
    settings: Settings,
    run: Run,
) -> list[TokenTagger]:
    """Trains a member on each corpus, as many at once as the run has jobs.

    Args:
        train: Trains one of them; it can be pickled.
        corpora: What each of them learns from.
        settings: Those of the recipe; each member has a seed of its own.
        run: The run, of which each member is a part.
    """
    trainings = {
        _name(number): partial(train, corpus, of_member(settings, number))
        for number, corpus in enumerate(corpora, 1)
    }
    train_side_by_side(trainings, run)
    return [training(run.within(name)) for name, training in trainings.items()]


def train_crf(corpus: Corpus, settings: Settings, run: Run) -> TokenTagger:
    """A CRF that learns what labels leave open as such; dev has no say in it."""
    model = new_crf_tagger(corpus, settings)
    training, stage = settings.training, run.stage("train")
    fit(model, corpus, None, as_labelled(model), training, stage)
    return model


def with_closed(sentence: Sentence, is_open: Booleans) -> Sentence:
    """The sentence with all words outside that are neither open nor in a labelled span.

    Args:
        sentence: Complete ones stay as they are, and words outside stay so.
        is_open: Which words may be in an entity, though no label says so.  # [words]
    """
    if sentence.complete:
        return sentence
    is_open = is_open.copy()
    for start, end in sentence.outside:
        is_open[start:end] = False
    for start, end in [
        *(entity.span for entity in sentence.entities),
        *(found.span for found in sentence.ambiguous),
    ]:
        is_open[start:end] = True
    return replace(sentence, outside=tuple(runs((~is_open).tolist())))


def forget_members(count: int, run: Run) -> None:
    """Removes the weights of members; that they are finished stays on record."""
    for number in range(1, count + 1):
        drop_result(run.within(_name(number)).stage("train"))


def as_labelled(model: TokenTagger) -> Objective:
    """The likelihood of all that the labels do not contradict."""
    return PartialCrfLikelihood(model)


def as_believed(beliefs: Path, corpus: Corpus) -> Callable[[TokenTagger], Objective]:
    """The same, by what members believe of the words of a corpus."""
    numbers = range(sum(bool(sentence.tokens) for sentence in corpus))
    tags = SoftTags(read_array(beliefs), layout_of(corpus), numbers)
    return partial(PartialCrfLikelihood, beliefs=tags)


def _name(number: int) -> str:
    return f"member-{number}"
