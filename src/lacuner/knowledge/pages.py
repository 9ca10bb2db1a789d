"""Pages of answers, kept on disk: a page that is there is never asked for again.

A page is named after the endpoint and the whole text of its query. To start anew after a kill is
therefore to start: what was answered before comes from disk.
"""

from __future__ import annotations

import gzip
import time
import zlib
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path

from lacuner.errors import EndpointError, UsageError
from lacuner.files import written_aside
from lacuner.knowledge.answers import Answer, NoTable, parse_answer
from lacuner.knowledge.endpoint import Endpoint

DAYS_KEPT = 30.0
PAGE = 5000
_DAY = 86_400

PageQuery = Callable[[int, int], str]
"""The text of a query, from how many things it should give and how many it should pass over."""


class PagedEndpoint:
    """An endpoint whose answers are kept.

    Args:
        endpoint: Whom to ask.
        folder: Where answers are kept; None keeps none.
        page: How many things to ask for at once.
        days: Older answers are asked for anew.

    Raises:
        UsageError: A page has no rows, or the days are no number from 0 on.

    Attributes:
        kept: How many answers came from disk.
        written: How many were put there.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        folder: Path | None,
        *,
        page: int = PAGE,
        days: float = DAYS_KEPT,
    ) -> None:
        if page < 1:
            raise UsageError(f"A page has 1 row or more; {page} is not.")
        if not days >= 0:
            raise UsageError(f"Pages are kept for 0 days or more; {days:g} is not that.")
        self.endpoint, self.folder, self.page, self.days = endpoint, folder, page, days
        self.kept = self.written = 0

    def ask(self, query: str) -> Answer:
        """The answer to a query, from disk or from the server.

        Raises:
            EndpointError: The server is away, refuses, or answers something else.
        """
        path = self._place(query)
        answer = self._known(path) if path else None
        if answer is not None:
            self.kept += 1
            return answer
        raw = self.endpoint.ask(query)
        if path:
            with written_aside(path, overwrite=True) as aside:
                aside.write_bytes(gzip.compress(raw, compresslevel=5))
            self.written += 1
        return parse_answer(raw)

    def pages(self, query: PageQuery, *, counted: str | None = None) -> Iterator[Answer]:
        """Yields the pages of a query, until one is not full.

        Args:
            query: Its text, page by page.
            counted: The variable whose different values fill a page; None counts rows.

        Raises:
            EndpointError: As `ask`; also when the server sends the same page again and again.
        """
        before: Answer | None = None
        for number in range(10**9):
            answer = self.ask(query(self.page, number * self.page))
            if before is not None and answer.rows and answer.rows == before.rows:
                raise EndpointError(
                    self.endpoint.url, "the server sends the same page again, as if OFFSET were not"
                )
            yield answer
            if _fill(answer, counted) < self.page:
                return
            before = answer

    def _place(self, query: str) -> Path | None:
        if self.folder is None:
            return None
        digest = blake2b(f"{self.endpoint.url}\n{query}".encode(), digest_size=16).hexdigest()
        return self.folder / digest[:2] / f"{digest}.json.gz"

    def _known(self, path: Path) -> Answer | None:
        try:
            if time.time() - path.stat().st_mtime > self.days * _DAY:
                return None
            return parse_answer(gzip.decompress(path.read_bytes()))
        except (OSError, EOFError, zlib.error, NoTable):
            return None


def _fill(answer: Answer, counted: str | None) -> int:
    if counted is None:
        return len(answer.rows)
    return len({row[counted] for row in answer.rows if counted in row})
