"""A SPARQL server for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.knowledge.sparql_server import SparqlServer, serving


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with serving() as running:
        yield running
