"""Labels that are missing here and there: what several models believe of the words without one.

1. A short training, for which what has no label is no entity, says which words may be in one. It
   knows little by heart yet, so that entities without a label still look like those that have one.
2. Members learn from the labels there are: CRFs that sum over all tags of these words, all others
   being O (`objectives.partial_crf`). What they say of a word without a label is nothing that they
   were taught, so that each can look at the sentences that it learnt from.
3. Labels that were held back from each tell how many are missing; the mean of what members say is
   what is believed of each word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lacuner.corpus.sentence import Corpus
from lacuner.corpus.tag_set import TagSet
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.loss import Objective
from lacuner.recipes.members import (
    as_believed,
    as_labelled,
    forget_members,
    train_crf,
    train_members,
    with_closed,
)
from lacuner.recipes.refill_settings import Settings, given, of_member, shown
from lacuner.recipes.training_settings import epochs_for
from lacuner.refilling.gap_estimate import Booleans
from lacuner.refilling.rounds import Round, estimated
from lacuner.refilling.tag_beliefs import believed, open_words, word_margins, write_beliefs
from lacuner.training.loop import step_seed
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Run
from lacuner.training.state import drop_result

_OPENING = "opening"
_QUARTER = 4  # of the epochs


def what_is_believed(
    this: Round, corpus: Corpus
) -> tuple[Corpus, Callable[[TokenTagger], Objective]]:
    """The corpus, and the objective by which the last model learns what is believed of it."""
    if this.gaps.hardly_any:
        return corpus.vouched(), as_labelled
    return corpus, as_believed(this.beliefs, corpus)


def look(this: Round, corpus: Corpus, settings: Settings, run: Run) -> None:
    """Trains all models, and keeps in the round what they believe."""
    members = range(1, settings.rounds.members + 1)
    seen = [shown(corpus, settings, "mention", member) for member in members]
    opened = _opened(corpus, settings, run)
    partial = [some.with_sentences(map(with_closed, some, opened)) for some in seen]
    models = train_members(train_crf, partial, settings, run)
    batch_words = settings.training.batch_words

    def keep() -> None:
        looks = [
            word_margins(model, corpus, some, batch_words=batch_words)
            for model, some in zip(models, seen, strict=True)
        ]
        rng = np.random.default_rng(step_seed(settings.training.seed, "interval"))
        gaps = this.estimate(looks, given(corpus), rng)
        write_beliefs(this.beliefs, models, corpus, batch_words=batch_words)
        tag_set = TagSet(corpus.labels, settings.model.scheme)
        this.keep(believed(this.beliefs, corpus, tag_set, gaps.offset), [])

    on_main(keep)
    run.report(this.findings(corpus))
    drop_result(run.within(_OPENING).stage("train"))
    forget_members(len(models), run)


def _opened(corpus: Corpus, settings: Settings, run: Run) -> list[Booleans]:
    """Which words without a label may be in an entity, by sentence; a short training says so."""
    own, batch_words = settings.opening, settings.training.batch_words
    some = shown(corpus, settings, "mention", 0)
    longest = epochs_for(len(corpus), settings.training)
    epochs = own.epochs or max(1, longest // _QUARTER)
    short = replace(settings, training=replace(settings.training, epochs=epochs))
    model = train_crf(some.vouched(), of_member(short, 0), run.within(_OPENING))

    def find() -> list[Booleans]:
        rng = np.random.default_rng(step_seed(settings.training.seed, "interval"))
        gaps = estimated([word_margins(model, corpus, some, batch_words=batch_words)], rng)
        return open_words(model, some, gaps.offset, own.least, batch_words=batch_words)

    return on_main(find)
