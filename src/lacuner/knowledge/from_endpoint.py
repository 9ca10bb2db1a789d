"""Names from a SPARQL endpoint: of a type of Wikidata's, or by a query of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lacuner.corpus.findings import Findings
from lacuner.errors import EndpointError, UsageError
from lacuner.knowledge.answers import Answer, Term
from lacuner.knowledge.entries import Entry, EntryCollector
from lacuner.knowledge.pages import PagedEndpoint
from lacuner.knowledge.queries import (
    checked_languages,
    is_ordered,
    is_paged,
    names_query,
    own_query,
    sitelink_portions,
)
from lacuner.knowledge.subclasses import DEPTH, portions, walk_subclasses
from lacuner.knowledge.wikidata_types import NameType, checked_label

OnProgress = Callable[[str], None]

# "mul" is Wikidata's code for names that are the same in many languages.
LANGUAGES = ("en", "mul")
SITELINKS = 20


@dataclass(frozen=True, kw_only=True)
class NameRequest:
    """Which names are wanted.

    Attributes:
        languages: In which languages; the first that has one gives the name, others are aliases.
        aliases: Other names too.
        sitelinks: Only things of which at least so many pages of Wikipedia and its sisters tell.
        depth: How many steps below the classes of a type are walked.
        limit: At most so many entries of a label; None is all.

    Raises:
        UsageError: A number that makes no sense, or a code that is no language.
    """

    languages: tuple[str, ...] = LANGUAGES
    aliases: bool = True
    sitelinks: int = SITELINKS
    depth: int = DEPTH
    limit: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "languages", checked_languages(self.languages))
        if self.sitelinks < 0 or self.depth < 0:
            raise UsageError("Sitelinks and depth are 0 or more.")
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"The limit is 1 name or more; {self.limit} is not.")


def names_of_type(
    source: PagedEndpoint,
    kind: NameType,
    request: NameRequest,
    on_progress: OnProgress | None = None,
) -> list[Entry]:
    """The names of a type.

    Args:
        source: A server that holds Wikidata, or speaks its vocabulary.
        kind: The type.
        request: Which names.
        on_progress: Told in words how far it is.

    Raises:
        EndpointError: The server is away, refuses, or answers something else.
    """
    tell = on_progress or (lambda words: None)
    found = EntryCollector(request.languages)
    for roots, demonyms in ((kind.classes, False), (kind.demonyms_of, True)):
        if not roots or _is_full(found, request):
            continue
        classes = walk_subclasses(
            source,
            roots,
            request.depth,
            lambda step, count: tell(f"{kind.label}: {count:,} classes after {step} steps"),
        )
        _gather(source, classes, request, found, demonyms, lambda: tell(_so_far(kind, found)))
    return list(found.entries(request.limit))


def _so_far(kind: NameType, found: EntryCollector) -> str:
    return f"{kind.label}: {len(found):,} names"


def _is_full(found: EntryCollector, request: NameRequest) -> bool:
    return request.limit is not None and len(found) >= request.limit


def _gather(
    source: PagedEndpoint,
    classes: Sequence[str],
    request: NameRequest,
    found: EntryCollector,
    demonyms: bool,
    on_page: Callable[[], None],
) -> None:
    for portion in portions(classes):
        for links in sitelink_portions(request.sitelinks):

            def query(
                limit: int, offset: int, portion: list[str] = portion, links: range = links
            ) -> str:
                return names_query(
                    portion,
                    links,
                    limit,
                    offset,
                    languages=request.languages,
                    aliases=request.aliases,
                    demonyms=demonyms,
                )

            for answer in source.pages(query, counted="item"):
                for row in answer.rows:
                    found.add(row)
                on_page()
                if _is_full(found, request):
                    return


def names_of_query(
    source: PagedEndpoint,
    query: str,
    label: str | None,
    request: NameRequest,
    findings: Findings,
    on_progress: OnProgress | None = None,
) -> dict[str, list[Entry]]:
    """The names that a query of one's own gives, by label.

    The query is a SELECT with the variable `?name`, and where wanted `?alias`, `?item` (rows of
    one item are one entry) and `?label`. It is asked page by page, unless it has a LIMIT itself.

    Args:
        source: Any server.
        query: The query.
        label: The label of all names; None takes it from `?label`.
        request: Its limit counts; the query itself says languages and all else.
        findings: Takes remarks on the query.
        on_progress: Told in words how far it is.

    Raises:
        EndpointError: The server is away, refuses, or answers something else.
        UsageError: A variable is missing.
    """
    found: dict[str, EntryCollector] = {}
    if not is_paged(query) and not is_ordered(query):
        findings.remark(
            "the query has no ORDER BY: a server may give a row on two pages and another on none"
        )
    pages = (
        [source.ask(query)]
        if is_paged(query)
        else source.pages(lambda limit, offset: own_query(query, limit, offset))
    )
    for answer in pages:
        _check_variables(answer, label)
        for row in answer.rows:
            own = label or _label_of(row, source)
            collector = found.setdefault(own, EntryCollector(request.languages))
            collector.add(row)
        if on_progress:
            on_progress(f"{sum(map(len, found.values())):,} names")
        if label and label in found and _is_full(found[label], request):
            break
    return {own: list(names.entries(request.limit)) for own, names in found.items()}


def _check_variables(answer: Answer, label: str | None) -> None:
    given = ", ".join(f"?{name}" for name in answer.variables) or "none"
    if "name" not in answer.variables:
        raise UsageError(f"A query gives names as ?name; this one has the variables {given}.")
    if label is None and "label" not in answer.variables:
        raise UsageError(
            f"The query has no ?label, only {given}. Say the label of its names, as in "
            "--query PER=people.rq."
        )


def _label_of(row: dict[str, Term], source: PagedEndpoint) -> str:
    term = row.get("label")
    if term is None:
        raise EndpointError(source.endpoint.url, "a row of the answer has no ?label")
    return checked_label(term.value)
