"""One file a method, and one table."""

from __future__ import annotations

from lacuner.recipes.dictionary import DICTIONARY
from lacuner.recipes.negative_sampling import NEGATIVE_SAMPLING
from lacuner.recipes.nrces import NRCES
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.scl_rai import SCL_RAI
from lacuner.recipes.span_ce import SPAN_CE
from lacuner.recipes.supervised import SUPERVISED
from lacuner.recipes.token_ce import TOKEN_CE
from lacuner.recipes.weighted_negative_sampling import WEIGHTED_NEGATIVE_SAMPLING

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
        SUPERVISED,
    )
}
