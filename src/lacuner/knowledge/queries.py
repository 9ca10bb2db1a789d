"""The texts of the queries: Wikidata's vocabulary, standard SPARQL, nothing of one engine only.

Pages are cut by an inner query that orders items; names are joined to them outside. What is large
is cut before it is asked for: many classes into portions, and items by the number of pages about
them. Every engine can look that number up, so that no query has to go through all people there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from lacuner.errors import UsageError

ENTITY = "http://www.wikidata.org/entity/"
_PREFIXES = f"""\
PREFIX wd: <{ENTITY}>
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
PREFIX wikibase: <http://wikiba.se/ontology#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
"""
_LANGUAGE = re.compile(r"[A-Za-z]{2,}(-[A-Za-z0-9]+)*")
_RARE_SITELINKS, _MOST_SITELINKS = 400, 1000
_PAGED = re.compile(r"\b(LIMIT|OFFSET)\b", re.IGNORECASE)
_ORDERED = re.compile(r"\bORDER\s+BY\b", re.IGNORECASE)
_COMMENT = re.compile(r"(?m)(?:^|\s)#.*$")


def checked_languages(languages: Iterable[str]) -> tuple[str, ...]:
    """Codes of languages, each once.

    Raises:
        UsageError: A code that is none, or no code at all.
    """
    codes = tuple(dict.fromkeys(languages))
    for code in codes:
        if not _LANGUAGE.fullmatch(code):
            raise UsageError(f"A language is a code such as en or zh-hans; '{code}' is not.")
    if not codes:
        raise UsageError("Names are in some language; give at least one, as in --language en.")
    return codes


def subclasses_query(parents: Sequence[str], limit: int, offset: int) -> str:
    """The classes one step below some classes."""
    return f"""{_PREFIXES}
SELECT DISTINCT ?class WHERE {{
  VALUES ?parent {{ {_listed(parents)} }}
  ?class wdt:P279 ?parent .
}} ORDER BY ?class LIMIT {limit} OFFSET {offset}
"""


def names_query(
    classes: Sequence[str],
    links: Sequence[int],
    limit: int,
    offset: int,
    *,
    languages: Sequence[str],
    aliases: bool,
    demonyms: bool = False,
) -> str:
    """Instances of some classes with their names; an item without a name has a row too.

    Args:
        classes: Such as `Q5`.
        links: How many pages of Wikipedia and its sisters an item may have; empty is any number.
        limit: How many items.
        offset: How many items to pass over.
        languages: In which languages.
        aliases: Other names too.
        demonyms: Not the names of the items, but what people from there are called.
    """
    if links:
        # One list is looked up, the other a filter: two lists would be multiplied.
        numbers = " ".join(map(str, links))
        which = f"""VALUES ?links {{ {numbers} }}
      ?item wikibase:sitelinks ?links ; wdt:P31 ?class .
      FILTER(?class IN ({_listed(classes, ", ")}))"""
    else:
        which = f"""VALUES ?class {{ {_listed(classes)} }}
      ?item wdt:P31 ?class ."""
    codes = ", ".join(f'"{code}"' for code in languages)
    wanted = [("wdt:P1549" if demonyms else "rdfs:label", "?name")]
    if aliases and not demonyms:
        wanted.append(("skos:altLabel", "?alias"))
    names = "\n".join(
        f"  OPTIONAL {{ ?item {relation} {text} . FILTER(LANG({text}) IN ({codes})) }}"
        for relation, text in wanted
    )
    return f"""{_PREFIXES}
SELECT ?item {" ".join(text for _, text in wanted)} WHERE {{
  {{
    SELECT DISTINCT ?item WHERE {{
      {which}
    }} ORDER BY ?item LIMIT {limit} OFFSET {offset}
  }}
{names}
}}
"""


def _listed(classes: Sequence[str], separator: str = " ") -> str:
    return separator.join(f"wd:{name}" for name in classes)


def sitelink_portions(least: int) -> Iterator[range]:
    """Numbers of sitelinks from `least` on, in portions.

    Items are the rarer the more pages there are about them, so portions grow. With `least` 0
    there is one empty portion: any number will do.

    Example:
        >>> [(portion[0], portion[-1]) for portion in sitelink_portions(300)]
        [(300, 336), (337, 378), (379, 1000)]
    """
    if least <= 0:
        yield range(0)
        return
    while least <= _MOST_SITELINKS:
        end = least + max(1, least // 8)
        if end > _RARE_SITELINKS:
            end = _MOST_SITELINKS + 1
        yield range(least, end)
        least = end


def is_paged(query: str) -> bool:
    """Does a query of one's own say itself how many rows it gives? Then it is asked once."""
    return bool(_PAGED.search(_end(query)))


def is_ordered(query: str) -> bool:
    """Does a query of one's own order its rows?"""
    return bool(_ORDERED.search(_end(query)))


def own_query(query: str, limit: int, offset: int) -> str:
    """A page of a query of one's own."""
    return f"{query.rstrip()}\nLIMIT {limit} OFFSET {offset}\n"


def _end(query: str) -> str:
    """What stands after the last brace, without comments."""
    return _COMMENT.sub("", query).rpartition("}")[2]
