"""`refill`: Lacuner's own. The other methods guard against missing labels; this one puts them back.

Several models look at the corpus; from each of them another tenth of the labels is held back. How
these come back tells how many labels are missing, and how likely each word without a label is in an
entity (`refilling.gap_estimate`). What the models believe together is what the last model learns.

How they learn depends on why labels are missing, which is found out (`labelling.holding_back`):

- here and there: `recipes.gaps_by_mention`. The last model learns from probabilities.
- from a list of names, which is also wrong: `recipes.gaps_by_name`. The last model learns from
  labels that were put back, without those that were taken out.

No gold is needed anywhere; a dev set, if there is one, chooses the epoch of the last model and its
offset.
"""

from __future__ import annotations

from lacuner.corpus.sentence import Corpus
from lacuner.inference.predictor import NeuralPredictor
from lacuner.labelling.holding_back import gap_unit
from lacuner.recipes import gaps_by_mention, gaps_by_name
from lacuner.recipes.crf_tagger import train_crf_tagger
from lacuner.recipes.decision_offset import is_gold
from lacuner.recipes.members import as_labelled
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.refill_settings import Settings, with_hiding
from lacuner.refilling.outcome import keep_outcome
from lacuner.refilling.rounds import Round
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Run


def train(corpus: Corpus, dev: Corpus | None, settings: Settings, run: Run) -> NeuralPredictor:
    """Models look, then the last one learns; what a kill leaves of any is taken up."""
    unit = settings.rounds.unit
    by_list = (gap_unit(corpus) if unit == "auto" else unit) == "name"
    settings = with_hiding(settings, by_list=by_list)
    if is_gold(corpus):
        return train_crf_tagger(corpus, dev, as_labelled, settings, run)
    gaps = gaps_by_name if by_list else gaps_by_mention
    this = Round(run.stage("round-1"), 1, settings.filling)
    if not on_main(this.is_finished):
        gaps.look(this, corpus, settings, run)
    on_main(lambda: keep_outcome(run.folder, corpus, [this], run.hidden))
    known, objective = gaps.what_is_believed(this, corpus)
    return train_crf_tagger(known, dev, objective, settings, run)


REFILL = Recipe(
    name="refill",
    title="CRF; what several models believe of missing labels is put back, then learnt",
    citation="ours",
    settings=Settings,
    train=train,
    unit="token",
    stages=5,
    cost=4.5,
    robust_to=("missing", "wrong"),
)
