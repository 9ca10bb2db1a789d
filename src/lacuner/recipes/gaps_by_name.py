"""Labels of a list: names are missing, or wrong, wherever they stand.

All mentions of a name are held back together: what comes back are names that a model has never
seen. Labels of a list are also wrong, and mostly so that they are a part of a name ("Jens" of "Jens
Veggerby"). So those who look are RoSTER's taggers: they decide word by word, a loss moves them that
noise moves little, and they stop before they know the labels by heart. They judge the given labels
as well: one that they find most unlikely is taken out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.loss import Objective
from lacuner.recipes import roster
from lacuner.recipes.members import as_labelled, forget_members, train_members, with_closed
from lacuner.recipes.refill_settings import Settings, given, shown
from lacuner.recipes.training_settings import epochs_for
from lacuner.refilling.filling import is_doubt
from lacuner.refilling.rounds import Look, Round
from lacuner.refilling.tagged_runs import find_tagged, judge_by_tags
from lacuner.training.loop import step_seed
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Run

_SLOWER = 0.5  # of the encoder's rate, for the robust loss of taggers: docs/roster.md
_FEW_EPOCHS = 8  # at most: from then on they know the labels of a small list by heart
_ALL_TYPES = roster.RemovalSettings(rare=0.0)  # a rare type would be lost


def what_is_believed(
    this: Round, corpus: Corpus
) -> tuple[Corpus, Callable[[TokenTagger], Objective]]:
    """The corpus with labels put back and taken out, and how the last model learns it."""
    return settled(this.filled(corpus)), as_labelled


def settled(filled: Corpus) -> Corpus:
    """A filled corpus as the last model learns it: what has no label and no doubt is O."""
    return filled.with_sentences(map(_settled, filled))


def _settled(sentence: Sentence) -> Sentence:
    is_open = np.zeros(len(sentence), dtype=bool)
    for found in filter(is_doubt, sentence.ambiguous):
        is_open[found.start : found.end] = True
    known = tuple(found for found in sentence.ambiguous if not is_doubt(found))
    return with_closed(replace(sentence, ambiguous=known), is_open)


def look(this: Round, corpus: Corpus, settings: Settings, run: Run) -> None:
    """Several taggers look: each is judged by what it has not seen, their mean decides."""
    members = range(1, settings.rounds.members + 1)
    seen = [shown(corpus, settings, "name", member) for member in members]
    models = train_members(_tagger, seen, settings, run)
    batch_words = settings.training.batch_words

    def keep() -> None:
        looks = [
            Look.of(find_tagged([model], some.sentences, batch_words=batch_words), corpus, some)
            for model, some in zip(models, seen, strict=True)
        ]
        rng = np.random.default_rng(step_seed(settings.training.seed, "interval"))
        this.estimate(looks, given(corpus), rng)
        this.keep(
            find_tagged(models, corpus.sentences, batch_words=batch_words),
            judge_by_tags(models, corpus.sentences, batch_words=batch_words),
        )

    on_main(keep)
    run.report(this.findings(corpus))
    forget_members(len(models), run)


def _tagger(corpus: Corpus, settings: Settings, run: Run) -> TokenTagger:
    """A tagger that does not believe all labels, nor that what has none is no entity."""
    training = replace(
        settings.training,
        encoder_rate=_SLOWER * settings.training.encoder_rate,
        epochs=min(_FEW_EPOCHS, epochs_for(len(corpus), settings.training)),
    )
    own = roster.Settings(encoder=settings.encoder, training=training, removal=_ALL_TYPES)
    return roster.noise_robust_tagger(corpus, None, own, run)
