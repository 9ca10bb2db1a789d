"""`lacuner recipes` and `lacuner encoders`: what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from lacuner.cli.console import Json, print_json, results

if TYPE_CHECKING:
    from lacuner.recipes.recipe import Recipe


def recipes(
    name: Annotated[
        str | None, typer.Argument(help="Show the settings of this one, as TOML.")
    ] = None,
    json: Json = False,
) -> None:
    """List the recipes with what to know of them, or show the settings of one.

    unit: what a recipe decides on. negatives: whether it needs some that somebody vouches for, such
    as complete sentences. stages: trainings one after the other. cost: what they cost together, as
    a multiple of one plain training. robust to: the faults of labels that it is made for.

    Example: lacuner recipes span_ce
    """
    from lacuner.recipes import RECIPES
    from lacuner.recipes.stages import resolve
    from lacuner.recipes.training import find_recipe
    from lacuner.settings import to_toml

    if name is not None:
        settings = resolve(find_recipe(name), {}).as_dict(unused=True)
        if json:
            print_json(settings)
        else:
            results().print(to_toml(settings).strip(), markup=False)
        return
    if json:
        print_json([_facts(recipe) for recipe in RECIPES.values()])
        return
    _show([{"name": r.name, "what it is": f"{r.title} ({r.citation})"} for r in RECIPES.values()])
    results().print()
    _show([_line(recipe) for recipe in RECIPES.values()])


def encoders(json: Json = False) -> None:
    """List the encoders."""
    from lacuner.encoders import ENCODERS

    rows = [{"name": name, "title": entry.title} for name, entry in ENCODERS.items()]
    rows.append({"name": "NAME or FOLDER", "title": "any Hugging Face model"})
    rows.append({"name": "FILE.toml", "title": "one described in a file, as those with a lexicon"})
    if json:
        print_json(rows)
    else:
        _show(rows)


def _facts(recipe: Recipe) -> dict[str, Any]:
    """For programs."""
    return {
        "name": recipe.name,
        "unit": recipe.unit,
        "needs_negatives": recipe.needs_negatives,
        "stages": recipe.stages,
        "cost": recipe.cost,
        "robust_to": list(recipe.robust_to),
        "title": recipe.title,
        "citation": recipe.citation,
    }


def _line(recipe: Recipe) -> dict[str, str]:
    """For people: short, so that all facts fit beside each other."""
    return {
        "name": recipe.name,
        "unit": recipe.unit,
        "negatives": "needed" if recipe.needs_negatives else "-",
        "stages": str(recipe.stages),
        "cost": f"{recipe.cost:g}",
        "robust to": ", ".join(recipe.robust_to) or "-",
    }


def _show(rows: list[dict[str, str]]) -> None:
    table = Table(box=None, header_style="bold")
    for number, heading in enumerate(rows[0]):
        table.add_column(heading, no_wrap=number == 0)
    for row in rows:
        table.add_row(*row.values())
    results().print(table)
