"""`lacuner recipes` and `lacuner encoders`: what there is to choose from."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from lacuner.cli.console import Json, print_json, results


def recipes(
    name: Annotated[
        str | None, typer.Argument(help="Show the settings of this one, as TOML.")
    ] = None,
    json: Json = False,
) -> None:
    """List the recipes, or show the settings of one.

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
    rows = [
        {"name": r.name, "unit": r.unit, "title": r.title, "citation": r.citation}
        for r in RECIPES.values()
    ]
    _show(rows, json=json)


def encoders(json: Json = False) -> None:
    """List the encoders."""
    from lacuner.encoders import ENCODERS

    rows = [{"name": name, "title": entry.title} for name, entry in ENCODERS.items()]
    rows.append({"name": "NAME or FOLDER", "title": "any Hugging Face model"})
    _show(rows, json=json)


def _show(rows: list[dict[str, str]], *, json: bool) -> None:
    if json:
        print_json(rows)
        return
    table = Table(box=None, header_style="bold")
    for heading in rows[0]:
        table.add_column(heading)
    for row in rows:
        table.add_row(*row.values())
    results().print(table)
