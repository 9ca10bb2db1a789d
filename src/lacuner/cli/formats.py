"""`lacuner formats`: what can be read and written."""

from __future__ import annotations

from rich.table import Table

from lacuner.cli.console import Json, print_json, results
from lacuner.corpus.formats import FORMATS


def formats(json: Json = False) -> None:
    """List the file formats that can be read and written."""
    rows = [
        {
            "name": format.name,
            "title": format.title,
            "endings": list(format.suffixes),
            "read": True,
            "write": format.write is not None,
            "extra": format.extra,
        }
        for format in FORMATS.values()
    ]
    if json:
        print_json(rows)
        return
    table = Table(box=None, header_style="bold")
    for heading in ("format", "what it is", "endings", "write", "extra"):
        table.add_column(heading)
    for format in FORMATS.values():
        table.add_row(
            format.name,
            format.title,
            " ".join(format.suffixes),
            "yes" if format.write else "no",
            format.extra or "",
        )
    results().print(table)
