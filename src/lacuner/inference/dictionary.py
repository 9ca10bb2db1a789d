"""The recogniser without a network: names that were labelled in training, matched again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from lacuner.corpus.sentence import Sentence
from lacuner.files import read_json_lines, write_json
from lacuner.labelling.compiling import compile_names
from lacuner.labelling.distant import label
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.names import Name

_NAMES = "names.jsonl"


class DictionaryPredictor:
    """Labels the names it knows.

    Args:
        names: Name and label of each.
        units: `words` or `characters`, see `MatchOptions`.
    """

    def __init__(self, names: list[tuple[str, str]], *, units: str = "words") -> None:
        self.names = names
        self.units = units
        self.labels = tuple(sorted({kind for _, kind in names}))
        self._gazetteer = compile_names(
            (Name(name, kind, "training corpus") for name, kind in names),
            MatchOptions(units=units, ambiguous="first"),
        )

    def predict(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences in order, with the names they hold."""
        for sentence in label(sentences, self._gazetteer, keep_labels=False):
            yield replace(sentence, ambiguous=())

    def save(self, folder: Path) -> None:
        """Writes the names to a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        rows = (orjson.dumps({"name": name, "label": kind}) for name, kind in self.names)
        (folder / _NAMES).write_bytes(b"".join(row + b"\n" for row in rows))
        write_json({"kind": "dictionary", "units": self.units}, folder / "predictor.json")

    @classmethod
    def load(cls, folder: Path, facts: dict[str, Any]) -> DictionaryPredictor:
        """Reads what `save` wrote."""
        rows = [record for _, record in read_json_lines(folder / _NAMES)]
        return cls([(row["name"], row["label"]) for row in rows], units=facts.get("units", "words"))
