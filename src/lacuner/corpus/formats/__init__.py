"""All file formats, in the order in which they are tried on an unknown file."""

from __future__ import annotations

from lacuner.corpus.formats.format import Format
from lacuner.corpus.formats.lacuner_jsonl import LACUNER_JSONL

FORMATS: dict[str, Format] = {format.name: format for format in (LACUNER_JSONL,)}
