"""Labels of a list: names are missing, or wrong, wherever they stand.

All mentions of a name are held back together: what comes back are names that a model has never
seen. Labels of a list are also wrong, and mostly so that they are a part of a name ("Jens" of "Jens
Veggerby"). So the first who looks is RoSTER's tagger: it decides word by word, a loss moves it that
noise moves little, and it stops before it knows the labels by heart. It judges the given labels as
well: one that it finds most unlikely is taken out. Where it doubts, words are unknown; CRFs learn
from what it left, and what they believe of these words is what the last model learns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.corpus.tagging import runs
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.loss import Objective
from lacuner.recipes import roster
from lacuner.recipes.members import as_believed, as_labelled, forget_members, train_members
from lacuner.recipes.refill_settings import OPENING, Settings, given, of_member, shown
from lacuner.recipes.training_settings import epochs_for
from lacuner.refilling.filling import is_doubt
from lacuner.refilling.outcome import keep_outcome
from lacuner.refilling.rounds import Look, Round
from lacuner.refilling.tag_beliefs import write_beliefs
from lacuner.refilling.tagged_runs import find_tagged, judge_by_tags
from lacuner.training.loop import step_seed
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Run
from lacuner.training.state import drop_result

_SLOWER = 0.5  # of the encoder's rate, for the robust loss of taggers: docs/roster.md
_FEW_EPOCHS = 8  # at most: from then on they know the labels of a small list by heart
_ALL_TYPES = roster.RemovalSettings(rare=0.0)  # a rare type would be lost


def what_is_believed(
    corpus: Corpus, settings: Settings, run: Run
) -> tuple[Corpus, Callable[[TokenTagger], Objective]]:
    """The cleaned corpus, and the objective by which the last model learns what is believed."""
    this = Round(run.stage("round-1"), 1, settings.filling)
    if not on_main(this.is_finished):
        _look(this, corpus, settings, run)
    on_main(lambda: keep_outcome(run.folder, corpus, [this], run.hidden))
    if this.gaps.hardly_any:
        return corpus.vouched(), as_labelled
    cleaned = settled(this.filled(corpus))
    members = settings.rounds.members - 1  # the tagger is one of those that look
    if not members:
        return cleaned, as_labelled
    if not on_main(this.beliefs.exists):
        models = train_members([cleaned] * members, settings, run)
        words = settings.training.batch_words
        on_main(lambda: write_beliefs(this.beliefs, models, cleaned, batch_words=words))
        forget_members(members, run)
    return cleaned, as_believed(this.beliefs, cleaned)


def settled(filled: Corpus) -> Corpus:
    """A filled corpus as CRFs learn it: what has no label and no doubt is O."""
    return filled.with_sentences(map(_settled, filled))


def _settled(sentence: Sentence) -> Sentence:
    if sentence.complete:
        return sentence
    is_open = np.zeros(len(sentence), dtype=bool)
    spans = [*(e.span for e in sentence.entities), *(found.span for found in sentence.ambiguous)]
    for start, end in spans:
        is_open[start:end] = True
    known = tuple(found for found in sentence.ambiguous if not is_doubt(found))
    return replace(sentence, ambiguous=known, outside=tuple(runs((~is_open).tolist())))


def _look(this: Round, corpus: Corpus, settings: Settings, run: Run) -> None:
    """A tagger looks; it is judged by what it has not seen."""
    some = shown(corpus, settings, "name", 0)
    part = run.within(OPENING)
    model = _tagger(some, of_member(settings, 0), part)
    words = settings.training.batch_words

    def keep() -> None:
        found = find_tagged([model], some.sentences, batch_words=words)
        rng = np.random.default_rng(step_seed(settings.training.seed, "interval"))
        this.estimate([Look.of(found, corpus, some)], given(corpus), rng)
        this.keep(
            find_tagged([model], corpus.sentences, batch_words=words),
            judge_by_tags([model], corpus.sentences, batch_words=words),
        )

    on_main(keep)
    run.report(this.findings(corpus))
    drop_result(part.stage("train"))


def _tagger(corpus: Corpus, settings: Settings, run: Run) -> TokenTagger:
    """A tagger that does not believe all labels, nor that what has none is no entity."""
    training = replace(
        settings.training,
        encoder_rate=_SLOWER * settings.training.encoder_rate,
        epochs=min(_FEW_EPOCHS, epochs_for(len(corpus), settings.training)),
    )
    own = roster.Settings(encoder=settings.encoder, training=training, removal=_ALL_TYPES)
    return roster.noise_robust_tagger(corpus, None, own, run)
