"""A SPARQL endpoint on this machine: a real engine, a small graph of our own, faults on demand."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

# An invented country in Wikidata's vocabulary. Q901 and Q902 lie below each other.
GRAPH = r"""
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .

wd:Q900 wdt:P279 wd:Q515 .
wd:Q901 wdt:P279 wd:Q900, wd:Q902 .
wd:Q902 wdt:P279 wd:Q901 .

wd:Q1001 wdt:P31 wd:Q5 ; wikibase:sitelinks 40 ; rdfs:label "Maren Holt"@en, "Maren Holt"@de ;
  skos:altLabel "Holt"@en, "M. Holt"@en, "Die Holt"@de .
wd:Q1002 wdt:P31 wd:Q5 ; wikibase:sitelinks 25 ; rdfs:label "Ines\tOkafor\n"@en ;
  skos:altLabel " \t "@en, "Ine\u0301s \U0001F469\u200D\U0001F680"@en, "a\u2028b\u0085c"@en .
wd:Q1003 wdt:P31 wd:Q5 ; wikibase:sitelinks 21 ; rdfs:label "Sana Mirza"@mul .
wd:Q1004 wdt:P31 wd:Q5 ; wikibase:sitelinks 30 ; rdfs:label "Nur Deutsch"@de .
wd:Q1005 wdt:P31 wd:Q5 ; wikibase:sitelinks 2 ; rdfs:label "Nobody Known"@en .
wd:Q1006 wdt:P31 wd:Q5 ; wikibase:sitelinks 900 ; rdfs:label "Jordan Ashby"@en .

wd:Q2001 wdt:P31 wd:Q515 ; wikibase:sitelinks 50 ; rdfs:label "Gdynia"@en .
wd:Q2002 wdt:P31 wd:Q900 ; wikibase:sitelinks 50 ; rdfs:label "Lake Orsa"@en .
wd:Q2003 wdt:P31 wd:Q902 ; wikibase:sitelinks 50 ; rdfs:label "Ghent"@en .
wd:Q2004 wdt:P31 wd:Q6256 ; wikibase:sitelinks 50 ; rdfs:label "Norland"@en ;
  wdt:P1549 "Norlander"@en, "Norlandish"@en, "Norländer"@de .
"""


@dataclass
class Fault:
    """An answer that is not what was asked for."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class SparqlServer:
    """What is asked is written down; the next of `faults` is sent in place of an answer."""

    def __init__(self, graph: str) -> None:
        oxigraph = pytest.importorskip("pyoxigraph", reason="pyoxigraph is not installed")
        self.store = oxigraph.Store()
        self.store.load(graph.encode(), format=oxigraph.RdfFormat.TURTLE)
        self._json = oxigraph.QueryResultsFormat.JSON
        self.queries: list[str] = []
        self.user_agents: list[str] = []
        self.faults: list[Fault | None] = []
        self.before_answer: Callable[[int], None] = lambda number: None
        self.url = ""

    def answer(self, query: str) -> Fault:
        """Runs a query as an endpoint would."""
        if self.faults:
            fault = self.faults.pop(0)
            if fault is not None:
                return fault
        try:
            found = self.store.query(query)
        except SyntaxError as error:
            return Fault(400, f"Malformed query: {error}".encode())
        packed = gzip.compress(found.serialize(format=self._json))
        headers = {"Content-Encoding": "gzip", "Content-Type": "application/sparql-results+json"}
        return Fault(200, packed, headers)


@contextmanager
def serving(graph: str = GRAPH) -> Iterator[SparqlServer]:
    """Runs a server as long as the context is open."""
    server = SparqlServer(graph)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            server.queries.append(parse_qs(body)["query"][0])
            server.user_agents.append(self.headers["User-Agent"])
            server.before_answer(len(server.queries))
            answer = server.answer(server.queries[-1])
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:  # the client was killed
                self.close_connection = True

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    web.daemon_threads = True
    server.url = f"http://127.0.0.1:{web.server_address[1]}/sparql"
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        web.shutdown()
        thread.join()
        web.server_close()
