"""Names from a real SPARQL engine: types, pages, what is kept, queries of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from lacuner.corpus.findings import Findings
from lacuner.errors import EndpointError, UsageError
from lacuner.knowledge.endpoint import Endpoint, Patience
from lacuner.knowledge.entries import Entry
from lacuner.knowledge.from_endpoint import NameRequest, names_of_query, names_of_type
from lacuner.knowledge.pages import PagedEndpoint
from lacuner.knowledge.queries import sitelink_portions
from lacuner.knowledge.wikidata_types import NameType
from tests.knowledge.sparql_server import Fault, SparqlServer

PEOPLE = NameType("PER", ("Q5",))
CITIES = NameType("LOC", ("Q515",))
PATIENCE = Patience(delay=0, attempts=1)

OWN = """
PREFIX wdt: <http://www.wikidata.org/prop/direct/>  # a comment with LIMIT 5
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?item ?name ?label WHERE {
  ?item wdt:P31 ?class ; rdfs:label ?name . FILTER(LANG(?name) = "en")
  BIND(IF(STRENDS(STR(?class), "Q5"), "PER", "LOC") AS ?label)
}
"""


def _source(server: SparqlServer, folder: Path | None = None, page: int = 100) -> PagedEndpoint:
    return PagedEndpoint(Endpoint(server.url, patience=PATIENCE), folder, page=page)


def _names(entries: list[Entry]) -> list[str]:
    return [entry.name for entry in entries]


def test_names_are_those_of_known_things_in_the_languages_wanted(server: SparqlServer) -> None:
    found = names_of_type(_source(server), PEOPLE, NameRequest())
    assert {entry.name: set(entry.aliases) for entry in found} == {
        "Maren Holt": {"Holt", "M. Holt"},
        "Ines Okafor": {"Ine\u0301s 👩\u200d🚀", "a b c"},
        "Sana Mirza": set(),
        "Jordan Ashby": set(),
    }


def test_first_language_gives_the_name_and_others_are_aliases(server: SparqlServer) -> None:
    request = NameRequest(languages=("de", "en"), sitelinks=0)
    found = {entry.name: entry.aliases for entry in names_of_type(_source(server), PEOPLE, request)}
    assert set(found) == {
        "Maren Holt",
        "Ines Okafor",
        "Nur Deutsch",
        "Nobody Known",
        "Jordan Ashby",
    }
    assert found["Maren Holt"][0] == "Die Holt"
    assert set(found["Maren Holt"]) == {"Die Holt", "Holt", "M. Holt"}


def test_main_names_alone_on_request(server: SparqlServer) -> None:
    found = names_of_type(_source(server), PEOPLE, NameRequest(aliases=False))
    assert found and not any(entry.aliases for entry in found)
    assert not any("altLabel ?alias" in query for query in server.queries)


@pytest.mark.parametrize(
    ("depth", "names"),
    [(0, ["Gdynia"]), (1, ["Gdynia", "Lake Orsa"]), (9, ["Gdynia", "Ghent", "Lake Orsa"])],
)
def test_classes_below_are_walked_as_deep_as_wanted(
    server: SparqlServer, depth: int, names: list[str]
) -> None:
    found = names_of_type(_source(server), CITIES, NameRequest(depth=depth))
    assert sorted(_names(found)) == names


def test_demonyms_are_names_of_their_own(server: SparqlServer) -> None:
    kind = NameType("MISC", (), demonyms_of=("Q6256",))
    (entry,) = names_of_type(_source(server), kind, NameRequest())
    assert {entry.name, *entry.aliases} == {"Norlander", "Norlandish"}


@pytest.mark.parametrize("page", [1, 2, 3, 100])
def test_pages_of_any_size_give_the_same_names(server: SparqlServer, page: int) -> None:
    request = NameRequest(sitelinks=0)
    whole = names_of_type(_source(server), PEOPLE, request)
    asked = len(server.queries)
    assert sorted(names_of_type(_source(server, page=page), PEOPLE, request)) == sorted(whole)
    # Six people, one of whom has no English name and still fills his place on a page; one page
    # asks for subclasses.
    assert len(server.queries) - asked == 1 + 6 // page + 1


def test_limit_stops_asking(server: SparqlServer) -> None:
    found = names_of_type(_source(server, page=1), PEOPLE, NameRequest(limit=2, sitelinks=0))
    assert len(found) == 2
    assert len(server.queries) == 3


def test_page_that_is_kept_is_not_asked_for_again(server: SparqlServer, tmp_path: Path) -> None:
    first = names_of_type(_source(server, tmp_path), PEOPLE, NameRequest())
    asked = len(server.queries)
    source = _source(server, tmp_path)
    assert names_of_type(source, PEOPLE, NameRequest()) == first
    assert (len(server.queries), source.kept) == (asked, asked)


def test_work_that_failed_goes_on_where_it_was(server: SparqlServer, tmp_path: Path) -> None:
    server.faults = [None, None, Fault(403)]
    request = NameRequest(sitelinks=0)
    with pytest.raises(EndpointError):
        names_of_type(_source(server, tmp_path, page=2), PEOPLE, request)
    names_of_type(_source(server, tmp_path, page=2), PEOPLE, request)
    asked = server.queries
    assert asked[2] == asked[3], "only the page that failed is asked for twice"
    assert len(set(asked)) == len(asked) - 1


def test_damaged_and_old_pages_are_asked_for_anew(server: SparqlServer, tmp_path: Path) -> None:
    names_of_type(_source(server, tmp_path), PEOPLE, NameRequest())
    asked = len(server.queries)
    damaged, other, *_ = sorted(tmp_path.rglob("*.gz"))
    damaged.write_bytes(damaged.read_bytes()[:20])
    other.write_bytes(b"")
    names_of_type(_source(server, tmp_path), PEOPLE, NameRequest())
    assert len(server.queries) == asked + 2
    old = PagedEndpoint(Endpoint(server.url, patience=PATIENCE), tmp_path, days=0)
    names_of_type(old, PEOPLE, NameRequest())
    assert len(server.queries) == 2 * asked + 2


def test_other_endpoint_has_pages_of_its_own(server: SparqlServer, tmp_path: Path) -> None:
    names_of_type(_source(server, tmp_path), PEOPLE, NameRequest())
    asked = len(server.queries)
    other = PagedEndpoint(Endpoint(server.url + "?x", patience=PATIENCE), tmp_path)
    names_of_type(other, PEOPLE, NameRequest())
    assert len(server.queries) == 2 * asked


def test_query_of_ones_own_gives_labels_and_is_paged(server: SparqlServer) -> None:
    findings = Findings()
    source = _source(server, page=3)
    found = names_of_query(source, OWN + "ORDER BY ?name", None, NameRequest(), findings)
    assert {label: len(entries) for label, entries in found.items()} == {"PER": 4, "LOC": 4}
    assert len(server.queries) == 3
    assert findings.remarks == []


def test_query_without_order_is_remarked(server: SparqlServer) -> None:
    findings = Findings()
    names_of_query(_source(server), OWN, None, NameRequest(), findings)
    assert "no ORDER BY" in findings.remarks[0]


def test_query_with_a_limit_is_asked_once_as_it_is(server: SparqlServer) -> None:
    query = OWN + "ORDER BY ?name limit 2"
    found = names_of_query(_source(server, page=1), query, "X", NameRequest(), Findings())
    assert (len(found["X"]), server.queries) == (2, [query])


@pytest.mark.parametrize(
    ("query", "label", "message"),
    [
        ("SELECT ?x WHERE { ?x ?y ?z }", "PER", r"this one has the variables \?x"),
        ("SELECT ?name WHERE { ?name ?y ?z }", None, r"has no \?label, only \?name"),
    ],
)
def test_query_without_its_variables_is_refused(
    server: SparqlServer, query: str, label: str | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        names_of_query(_source(server), query, label, NameRequest(), Findings())


def test_query_that_finds_nothing_gives_nothing(server: SparqlServer) -> None:
    query = 'SELECT ?name WHERE { ?name <http://x/y> "z" } ORDER BY ?name'
    assert names_of_query(_source(server), query, "PER", NameRequest(), Findings()) == {}
    assert names_of_type(_source(server), NameType("X", ("Q7",)), NameRequest()) == []


def test_server_that_ignores_offset_does_not_keep_us_for_ever(server: SparqlServer) -> None:
    page = server.answer('SELECT ?name WHERE { VALUES ?name { "a" "b" } }')
    server.faults = [page] * 10
    with pytest.raises(EndpointError, match="the same page again"):
        names_of_query(_source(server, page=2), OWN, "PER", NameRequest(), Findings())


def test_class_of_another_vocabulary_is_refused(server: SparqlServer) -> None:
    server.faults = [server.answer("SELECT ?class { VALUES ?class { <http://x/City> } }")]
    with pytest.raises(EndpointError, match="none of Wikidata"):
        names_of_type(_source(server), CITIES, NameRequest())


@pytest.mark.parametrize("least", [1, 2, 20, 999, 1000])
def test_portions_of_sitelinks_cover_every_number_once(least: int) -> None:
    numbers = [number for portion in sitelink_portions(least) for number in portion]
    assert numbers == list(range(least, 1001))


@pytest.mark.parametrize(
    "wrong",
    [
        {"languages": ('en") } #',)},
        {"languages": ()},
        {"sitelinks": -1},
        {"depth": -1},
        {"limit": 0},
    ],
)
def test_senseless_request_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        NameRequest(**wrong)  # type: ignore[arg-type]
