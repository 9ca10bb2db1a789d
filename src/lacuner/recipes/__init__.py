"""One file a method, and one table."""

from __future__ import annotations

from lacuner.recipes.dictionary import DICTIONARY
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.span_ce import SPAN_CE
from lacuner.recipes.supervised import SUPERVISED
from lacuner.recipes.token_ce import TOKEN_CE

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe for recipe in (DICTIONARY, TOKEN_CE, SPAN_CE, SUPERVISED)
}
