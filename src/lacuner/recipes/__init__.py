"""One file a method, and one table."""

from __future__ import annotations

from lacuner.recipes.auto_ner import AUTO_NER
from lacuner.recipes.biaffine import BIAFFINE
from lacuner.recipes.bond import BOND
from lacuner.recipes.dictionary import DICTIONARY
from lacuner.recipes.expected_entity_ratio import EXPECTED_ENTITY_RATIO
from lacuner.recipes.fuzzy_crf import FUZZY_CRF
from lacuner.recipes.mrc import MRC
from lacuner.recipes.negative_sampling import NEGATIVE_SAMPLING
from lacuner.recipes.nrces import NRCES
from lacuner.recipes.partial_crf import PARTIAL_CRF
from lacuner.recipes.pu_learning import PU_LEARNING
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.refill import REFILL
from lacuner.recipes.roster import ROSTER
from lacuner.recipes.scl_rai import SCL_RAI
from lacuner.recipes.span_ce import SPAN_CE
from lacuner.recipes.supervised import SUPERVISED
from lacuner.recipes.token_ce import TOKEN_CE
from lacuner.recipes.two_step import TWO_STEP
from lacuner.recipes.weighted_negative_sampling import WEIGHTED_NEGATIVE_SAMPLING
from lacuner.recipes.weighted_partial_crf import WEIGHTED_PARTIAL_CRF

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        DICTIONARY,
        TOKEN_CE,
        SPAN_CE,
        NEGATIVE_SAMPLING,
        WEIGHTED_NEGATIVE_SAMPLING,
        NRCES,
        SCL_RAI,
        PARTIAL_CRF,
        FUZZY_CRF,
        WEIGHTED_PARTIAL_CRF,
        EXPECTED_ENTITY_RATIO,
        AUTO_NER,
        PU_LEARNING,
        BOND,
        ROSTER,
        TWO_STEP,
        REFILL,
        BIAFFINE,
        MRC,
        SUPERVISED,
    )
}
