"""Labels from dictionaries, and gaps on purpose."""

from lacuner.labelling.compiling import compile_names
from lacuner.labelling.distant import label, load_gazetteer
from lacuner.labelling.gazetteer import Gazetteer
from lacuner.labelling.label_report import LabelReport
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.names import Name, name_files, read_names, read_stop_list
from lacuner.labelling.spacy_pipeline import spacy_phrases
from lacuner.matching.units import detect_units

__all__ = [
    "Gazetteer",
    "LabelReport",
    "MatchOptions",
    "Name",
    "compile_names",
    "detect_units",
    "label",
    "load_gazetteer",
    "name_files",
    "read_names",
    "read_stop_list",
    "spacy_phrases",
]
