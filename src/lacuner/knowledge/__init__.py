"""Names from knowledge bases: what `lacuner names` makes and `lacuner label` reads."""

from lacuner.knowledge.dictionary_folder import write_dictionaries
from lacuner.knowledge.dump import names_of_dump
from lacuner.knowledge.endpoint import Endpoint, Patience
from lacuner.knowledge.entries import Entry
from lacuner.knowledge.from_endpoint import NameRequest, names_of_query, names_of_type
from lacuner.knowledge.pages import PagedEndpoint
from lacuner.knowledge.wikidata_types import WIKIDATA_TYPES, NameType, parse_types

__all__ = [
    "WIKIDATA_TYPES",
    "Endpoint",
    "Entry",
    "NameRequest",
    "NameType",
    "PagedEndpoint",
    "Patience",
    "names_of_dump",
    "names_of_query",
    "names_of_type",
    "parse_types",
    "write_dictionaries",
]
