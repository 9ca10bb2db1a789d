"""All file formats, in the order in which they are tried on an unknown file."""

from __future__ import annotations

from lacuner.corpus.formats.bond_json import BOND_JSON
from lacuner.corpus.formats.columns import COLUMNS
from lacuner.corpus.formats.doccano import DOCCANO
from lacuner.corpus.formats.format import Format
from lacuner.corpus.formats.hf_datasets import DATASETS
from lacuner.corpus.formats.label_studio import LABEL_STUDIO
from lacuner.corpus.formats.lacuner_jsonl import LACUNER_JSONL
from lacuner.corpus.formats.literals_json import LITERALS_JSON
from lacuner.corpus.formats.plain_text import PLAIN_TEXT
from lacuner.corpus.formats.prodigy import PRODIGY
from lacuner.corpus.formats.spacy_docbin import SPACY
from lacuner.corpus.formats.text_jsonl import TEXT_JSONL
from lacuner.corpus.formats.text_label_pairs import TEXT_LABEL_PAIRS

_ALL = (
    LACUNER_JSONL,
    LITERALS_JSON,
    BOND_JSON,
    # Annotation tools stand here: after what is surely ours, before what takes nearly any text.
    DOCCANO,
    PRODIGY,
    LABEL_STUDIO,
    SPACY,
    DATASETS,
    TEXT_LABEL_PAIRS,
    COLUMNS,
    TEXT_JSONL,
    PLAIN_TEXT,
)

FORMATS: dict[str, Format] = {format.name: format for format in _ALL}
