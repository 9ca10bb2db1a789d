"""Asking a server: what it hears, how failures pass, and the sentence when they do not."""

from __future__ import annotations

import gzip
import math
import socket
import time
from email.utils import formatdate

import pytest

from lacuner.errors import EndpointError, UsageError
from lacuner.knowledge.answers import Term, parse_answer
from lacuner.knowledge.endpoint import Endpoint, Patience
from tests.knowledge.sparql_server import Fault, SparqlServer

QUERY = 'SELECT ?name WHERE { VALUES ?name { "Zoë"@en "Ada" } }'
QUICK = Patience(delay=0, timeout=5, attempts=3)


class Clock:
    """Sleeps without sleeping."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.told: list[tuple[float, str]] = []

    def endpoint(
        self, url: str, patience: Patience = QUICK, contact: str | None = None
    ) -> Endpoint:
        return Endpoint(
            url,
            contact=contact,
            patience=patience,
            sleep=self.slept.append,
            on_wait=lambda seconds, why: self.told.append((seconds, why)),
        )


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_answer_of_a_real_engine_is_read(server: SparqlServer, clock: Clock) -> None:
    answer = parse_answer(clock.endpoint(server.url).ask(QUERY))
    assert answer.variables == ("name",)
    assert answer.rows == [{"name": Term("Zoë", "en")}, {"name": Term("Ada")}]


def test_server_hears_who_asks(server: SparqlServer, clock: Clock) -> None:
    clock.endpoint(server.url, contact="me@example.org").ask(QUERY)
    clock.endpoint(server.url, contact="Zoë").ask(QUERY)
    clock.endpoint(server.url).ask(QUERY)
    first, second, third = server.user_agents
    assert first.startswith("Lacuner/") and "(me@example.org)" in first
    assert r"(Zo\xeb)" in second
    assert third.startswith("Lacuner/") and "(" not in third


def test_requests_keep_their_distance(server: SparqlServer, clock: Clock) -> None:
    endpoint = clock.endpoint(server.url, Patience(delay=30))
    endpoint.ask(QUERY)
    assert clock.slept == []
    endpoint.ask(QUERY)
    assert len(clock.slept) == 1 and 29 < clock.slept[0] <= 30


def test_too_many_requests_are_followed_by_the_wait_that_is_asked_for(
    server: SparqlServer, clock: Clock
) -> None:
    server.faults = [Fault(429, headers={"Retry-After": "7"}), Fault(429)]
    clock.endpoint(server.url).ask(QUERY)
    assert clock.slept == [7.0, 60.0]
    assert clock.told[0] == (7.0, "the server says that it is asked too often")
    assert len(server.queries) == 3


def test_retry_after_may_be_a_date(server: SparqlServer, clock: Clock) -> None:
    later = formatdate(time.time() + 100, usegmt=True)
    server.faults = [Fault(503, headers={"Retry-After": later})]
    clock.endpoint(server.url).ask(QUERY)
    assert 90 < clock.slept[0] <= 100


def test_nonsense_in_retry_after_is_no_harm(server: SparqlServer, clock: Clock) -> None:
    server.faults = [Fault(503, headers={"Retry-After": "soon"})]
    clock.endpoint(server.url).ask(QUERY)
    assert clock.slept == [2.0]


def test_server_that_wants_a_long_rest_is_left_alone(server: SparqlServer, clock: Clock) -> None:
    server.faults = [Fault(429, headers={"Retry-After": "86400"})]
    with pytest.raises(EndpointError, match="come back in 86,400 seconds"):
        clock.endpoint(server.url).ask(QUERY)
    assert (len(server.queries), clock.slept) == (1, [])


def test_overload_is_waited_out_longer_each_time_then_said(
    server: SparqlServer, clock: Clock
) -> None:
    server.faults = [Fault(503, b"java.util.concurrent.TimeoutException\n\tat x")] * 3
    with pytest.raises(EndpointError) as caught:
        clock.endpoint(server.url).ask(QUERY)
    assert clock.slept == [2.0, 4.0]
    assert "answers 503" in str(caught.value)
    assert str(caught.value).endswith("java.util.concurrent.TimeoutException, also at attempt 3.")


WHOLE = (
    b'{"head":{"vars":["name"]},"results":{"bindings":[{"name":{"type":"literal","value":"Ada"}}]}}'
)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(200, WHOLE[:60]),
        Fault(200, WHOLE[:60], {"Content-Length": str(len(WHOLE))}),
        Fault(200, gzip.compress(WHOLE)[:-20], {"Content-Encoding": "gzip"}),
        Fault(200, b""),
        Fault(200, WHOLE[:60] + b"\njava.util.concurrent.TimeoutException"),
    ],
)
def test_answer_that_is_cut_off_is_asked_for_again(
    server: SparqlServer, clock: Clock, fault: Fault
) -> None:
    server.faults = [fault]
    assert len(parse_answer(clock.endpoint(server.url).ask(QUERY)).rows) == 2
    assert len(server.queries) == 2


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(200, b"\n<!DOCTYPE html><title>Hi</title>"), "sent a web page in place of a table"),
        (Fault(200, b"<?xml version='1.0'?><sparql/>"), "sent XML in place of JSON"),
        (Fault(200, b"name\nAda\n"), "something that is no JSON"),
        (Fault(200, b"[1, 2]"), "JSON that is no table of SPARQL"),
        (Fault(200, b'{"head":{"vars":["a"]},"results":{"bindings":[{"a":1}]}}'), "no table"),
        (Fault(200, b'{"head":{},"boolean":true}'), "the query must be a SELECT"),
        (Fault(403, b"<html>no</html>"), "answers 403 Forbidden."),
        (Fault(308, headers={"Location": "https://example.org/x"}), "moved to https://example"),
    ],
)
def test_nonsense_is_refused_at_once_with_one_sentence(
    server: SparqlServer, clock: Clock, fault: Fault, message: str
) -> None:
    server.faults = [fault]
    with pytest.raises(EndpointError) as caught:
        clock.endpoint(server.url).ask(QUERY)
    assert message in str(caught.value) and server.url in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.queries) == 1


def test_malformed_query_is_refused_in_the_words_of_the_server(
    server: SparqlServer, clock: Clock
) -> None:
    with pytest.raises(EndpointError, match="answers 400 Bad Request: Malformed query"):
        clock.endpoint(server.url).ask("SELECT ?name WHERE {")


def test_server_that_was_never_there_is_said_to_be_away_at_once(clock: Clock) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/sparql"
        with pytest.raises(EndpointError, match=r"cannot be reached \(Connection refused\)"):
            clock.endpoint(url).ask(QUERY)
    assert clock.slept == []


def test_server_that_goes_away_later_is_waited_for(server: SparqlServer, clock: Clock) -> None:
    endpoint = clock.endpoint(server.url)
    endpoint.ask(QUERY)
    endpoint.url = "http://127.0.0.1:9/"
    with pytest.raises(EndpointError, match="also at attempt 3"):
        endpoint.ask(QUERY)
    assert clock.slept == [2.0, 4.0]


def test_silent_server_is_given_up_after_the_timeout(server: SparqlServer, clock: Clock) -> None:
    server.before_answer = lambda number: time.sleep(0.6)
    patience = Patience(delay=0, timeout=0.2, attempts=1)
    with pytest.raises(EndpointError, match="did not answer within"):
        clock.endpoint(server.url, patience).ask(QUERY)


@pytest.mark.parametrize(
    "url",
    [
        "query.wikidata.org",
        "file:///etc/passwd",
        "ftp://x/y",
        "http://",
        "http://[::1/x",
        "http://localhost:99999/sparql",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(UsageError, match="An endpoint is an address such as"):
        Endpoint(url)


def test_address_that_cannot_be_sent_is_a_sentence(server: SparqlServer, clock: Clock) -> None:
    with pytest.raises(EndpointError, match="cannot be reached"):
        clock.endpoint(f"{server.url}/ä").ask(QUERY)


@pytest.mark.parametrize(
    "wrong",
    [
        {"delay": -1},
        {"delay": math.nan},
        {"delay": math.inf},
        {"timeout": 0},
        {"timeout": math.nan},
        {"timeout": math.inf},
        {"timeout": 1e12},
        {"attempts": 0},
    ],
    ids=str,
)
def test_impatience_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=r"The delay is 0 seconds or more|at least 1 attempt"):
        Patience(**wrong)  # type: ignore[arg-type]
