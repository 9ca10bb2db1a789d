"""A SPARQL endpoint, asked politely: one request at a time, with a name and with patience.

The standard library's urllib is all it takes: a form is posted, JSON comes back.
"""

from __future__ import annotations

import gzip
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, build_opener

from lacuner.errors import EndpointError, UsageError
from lacuner.knowledge.answers import NoTable, parse_answer

WIKIDATA = "https://query.wikidata.org/sparql"
_LARGEST_ANSWER = 1 << 28  # bytes
_FIRST_WAIT = 2.0  # seconds; doubled at each attempt
_WAIT_WHEN_TOLD_TO_STOP = 60.0  # seconds, where 429 comes without Retry-After
_TOO_MANY = 429
_LONGEST = 86_400  # seconds; sockets and sleeping take no number however large
_PASSING = {_TOO_MANY, 500, 502, 503, 504}

Sleep = Callable[[float], None]
OnWait = Callable[[float, str], None]


@dataclass(frozen=True)
class Patience:
    """How a server is treated.

    Attributes:
        delay: Seconds between the end of one request and the next.
        timeout: Seconds without a byte after which a request is given up.
        attempts: How often a request is made before giving up.
        longest_wait: A server that asks to wait longer than so many seconds is left alone.
    """

    delay: float = 1.0
    timeout: float = 90.0
    attempts: int = 5
    longest_wait: float = 600.0

    def __post_init__(self) -> None:
        if not 0 <= self.delay <= _LONGEST or not 0 < self.timeout <= _LONGEST:
            raise UsageError(
                "The delay is 0 seconds or more, the timeout above 0, and both at most a day "
                f"({_LONGEST:,}); {self.delay:g} and {self.timeout:g} are not that."
            )
        if self.attempts < 1:
            raise UsageError(f"There is at least 1 attempt; {self.attempts} is not.")


class _Trouble(Exception):
    """A request that failed; `passing` if it may succeed later, in `wait` seconds if known."""

    def __init__(self, what: str, *, passing: bool, wait: float | None = None) -> None:
        self.what, self.passing, self.wait = what, passing, wait
        super().__init__(what)


class Endpoint:
    """A server that answers SPARQL.

    Args:
        url: Its address.
        contact: How its keepers can reach the person who asks: a mail address or a page.
        patience: How it is treated.
        on_wait: Told of every wait that the server caused, in seconds, and its reason.
        sleep: Waits.

    Raises:
        UsageError: The address is none of the web.
    """

    def __init__(
        self,
        url: str = WIKIDATA,
        *,
        contact: str | None = None,
        patience: Patience | None = None,
        on_wait: OnWait | None = None,
        sleep: Sleep = time.sleep,
    ) -> None:
        if not _is_web_address(url):
            raise UsageError(f"An endpoint is an address such as {WIKIDATA}; '{url}' is not.")
        self.url, self.patience = url, patience or Patience()
        self.requests = 0
        self._user_agent = _user_agent(contact)
        self._on_wait, self._sleep = on_wait, sleep
        self._last: float | None = None
        self._answered = False

    def ask(self, query: str) -> bytes:
        """The JSON that answers a query, checked to be a whole table.

        Raises:
            EndpointError: The server is away, refuses, or answers something else.
        """
        attempts = self.patience.attempts
        for attempt in range(1, attempts + 1):
            self._keep_distance()
            try:
                raw = self._send(query)
            except _Trouble as trouble:
                if not trouble.passing or attempt == attempts:
                    again = f", also at attempt {attempt}" if attempt > 1 else ""
                    raise EndpointError(self.url, trouble.what + again) from None
                self._wait(trouble, attempt)
            else:
                self._answered = True
                return raw
            finally:
                self._last = time.monotonic()
        raise AssertionError("the last attempt returns or raises")

    def _keep_distance(self) -> None:
        if self._last is not None:
            rest = self.patience.delay - (time.monotonic() - self._last)
            if rest > 0:
                self._sleep(rest)

    def _wait(self, trouble: _Trouble, attempt: int) -> None:
        wait = trouble.wait if trouble.wait is not None else _FIRST_WAIT * 2 ** (attempt - 1)
        if wait > self.patience.longest_wait:
            raise EndpointError(
                self.url, f"{trouble.what}, and asks to come back in {wait:,.0f} seconds"
            )
        if self._on_wait:
            self._on_wait(wait, trouble.what)
        self._sleep(wait)

    def _send(self, query: str) -> bytes:
        headers = {
            "Accept": "application/sparql-results+json",
            "Accept-Encoding": "gzip",
            "Content-Type": "application/x-www-form-urlencoded",
            "User-Agent": self._user_agent,
        }
        request = Request(self.url, urlencode({"query": query}).encode(), headers)
        self.requests += 1
        try:
            answer = build_opener().open(request, timeout=self.patience.timeout)
        except HTTPError as error:
            with error:
                raise _trouble_of_status(error) from None
        except (URLError, HTTPException, OSError, ValueError) as error:
            # A server that never answered is away, or the address is wrong: say so at once.
            raise _Trouble(_reason(error, self.patience), passing=self._answered) from None
        try:
            with answer:
                raw: bytes = answer.read(_LARGEST_ANSWER + 1)
                packed = answer.headers.get("Content-Encoding") == "gzip"
        except (HTTPException, OSError):
            raise _Trouble(
                "the server broke off in the middle of its answer", passing=True
            ) from None
        if len(raw) > _LARGEST_ANSWER:
            raise _Trouble("the answer is too large; ask for smaller pages", passing=False)
        try:
            raw = gzip.decompress(raw) if packed else raw
            parse_answer(raw)
        except (EOFError, OSError, zlib.error):
            raise _Trouble("the server sent packed data that is cut off", passing=True) from None
        except NoTable as error:
            hint = "" if error.cut else f"; an endpoint has an address such as {WIKIDATA}"
            raise _Trouble(f"the server sent {error}{hint}", passing=error.cut) from None
        return raw


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Reading the port is what finds one that cannot be.
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _user_agent(contact: str | None) -> str:
    from lacuner import __version__

    if contact and not contact.isprintable():
        raise UsageError("The contact is one line of text.")
    detail = f"({contact}) " if contact else ""
    # A header holds Latin-1 only.
    text = f"Lacuner/{__version__} {detail}Python-urllib"
    return text.encode("ascii", "backslashreplace").decode()


def _trouble_of_status(error: HTTPError) -> _Trouble:
    if error.code in range(300, 400):
        place = error.headers.get("Location") or "another place"
        return _Trouble(f"the endpoint has moved to {place}; give that address", passing=False)
    if error.code == _TOO_MANY:
        wait = _retry_after(error.headers)
        return _Trouble(
            "the server says that it is asked too often",
            passing=True,
            wait=wait if wait is not None else _WAIT_WHEN_TOLD_TO_STOP,
        )
    what = f"the server answers {error.code} {error.reason}".rstrip()
    said = _first_words(error)
    passing = error.code in _PASSING
    if passing:
        what += " (it may be overloaded, or the query too heavy for it)"
    return _Trouble(
        f"{what}: {said}" if said else what, passing=passing, wait=_retry_after(error.headers)
    )


def _first_words(error: HTTPError) -> str:
    """The first line of what the server says, if it is plain text."""
    try:
        raw = error.read(2000)
    except (OSError, HTTPException):
        return ""
    text = raw.decode("utf-8", "replace").strip()
    if text.startswith("<") or not text:
        return ""
    line = text.splitlines()[0].strip()
    return "".join(character for character in line if character.isprintable())[:200].rstrip(".")


def _retry_after(headers: Any) -> float | None:
    """Seconds from `Retry-After`, which holds seconds or a date."""
    value = (headers.get("Retry-After") or "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _reason(error: Exception, patience: Patience) -> str:
    inner = error.reason if isinstance(error, URLError) else error
    if isinstance(inner, TimeoutError):
        return f"the server did not answer within {patience.timeout:g} seconds"
    detail = getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
    return f"the server cannot be reached ({detail})"
