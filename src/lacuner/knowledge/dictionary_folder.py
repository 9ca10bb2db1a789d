"""A folder of dictionaries, one a label, written as the names come: `lacuner label` takes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from lacuner.errors import LacunerError
from lacuner.files import write_json, written_aside
from lacuner.knowledge.entries import Entry
from lacuner.knowledge.wikidata_types import checked_label

# A file whose name begins with a dot is no dictionary.
PROVENANCE = ".names.json"


def write_dictionaries(
    folder: Path,
    named: Iterable[tuple[str, Entry]],
    *,
    provenance: dict[str, Any],
    overwrite: bool = False,
) -> dict[str, int]:
    """Writes `LABEL.txt` files: a name a line, its aliases after tabs.

    The folder is whole or not there.

    Args:
        folder: Where to.
        named: Labels and entries, in any order.
        provenance: Where the names come from; kept beside them, with the counts.
        overwrite: Replace a folder that is there.

    Returns:
        How many entries each label has.

    Raises:
        LacunerError: There is no name at all, or the folder cannot be written.
    """
    counts: Counter[str] = Counter()
    with written_aside(folder, overwrite=overwrite) as aside:
        aside.mkdir()
        with ExitStack() as open_files:
            files: dict[str, TextIO] = {}
            for label, entry in named:
                if label not in files:
                    path = aside / f"{checked_label(label)}.txt"
                    files[label] = open_files.enter_context(
                        open(path, "w", encoding="utf-8", newline="\n")
                    )
                files[label].write("\t".join((entry.name, *entry.aliases)) + "\n")
                counts[label] += 1
        if not counts:
            raise LacunerError(
                f"There is no name for {folder}. Look for other classes or languages, "
                "or ask for fewer sitelinks."
            )
        write_json({**provenance, "entries": dict(counts)}, aside / PROVENANCE)
    return dict(counts)
