"""`lacuner names`: dictionaries from a knowledge base."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from lacuner.cli.console import (
    Json,
    Overwrite,
    Quiet,
    messages,
    print_json,
    reading_shown,
    say,
    tell,
)
from lacuner.corpus.findings import Findings
from lacuner.errors import EndpointError, OutputExists, UsageError
from lacuner.files import read_text
from lacuner.knowledge.dictionary_folder import write_dictionaries
from lacuner.knowledge.dump import names_of_dump
from lacuner.knowledge.endpoint import WIKIDATA, Endpoint, Patience
from lacuner.knowledge.entries import Entry
from lacuner.knowledge.from_endpoint import (
    LANGUAGES,
    SITELINKS,
    NameRequest,
    OnProgress,
    names_of_query,
    names_of_type,
)
from lacuner.knowledge.pages import DAYS_KEPT, PAGE, PagedEndpoint
from lacuner.knowledge.subclasses import DEPTH
from lacuner.knowledge.wikidata_types import WIKIDATA_TYPES, NameType, checked_label, parse_types
from lacuner.labelling.gazetteer_cache import default_folder
from lacuner.suggestions import unknown_name

_WHICH, _SERVER = "Which names", "The server"
_PATIENCE = Patience()


def names(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder of dictionaries, one file a label.")
    ],
    dump: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Read a JSON dump of Wikidata (.json, .gz, .bz2); ask no server."
        ),
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The SPARQL endpoint to ask.", show_default=WIKIDATA),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            "-l",
            help=f"A shipped type: {', '.join(WIKIDATA_TYPES)}. May be given several times. "
            "(default: all, unless --class or --query is given)",
            rich_help_panel=_WHICH,
        ),
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option(
            "--class",
            metavar="LABEL=Q…,Q…",
            help="A type of your own: classes of Wikidata. May be given several times.",
            rich_help_panel=_WHICH,
        ),
    ] = None,
    query: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL=FILE",
            help="A SPARQL query of your own that gives ?name, and where wanted ?alias, ?item "
            "and (without 'LABEL=') ?label. May be given several times.",
            rich_help_panel=_WHICH,
        ),
    ] = None,
    language: Annotated[
        list[str],
        typer.Option(
            help="Language of names; the first that has one gives the name. May be given several "
            "times.",
            rich_help_panel=_WHICH,
        ),
    ] = list(LANGUAGES),  # noqa: B006 (Typer reads it, nobody changes it)
    aliases: Annotated[
        bool, typer.Option(help="Other names of a thing too.", rich_help_panel=_WHICH)
    ] = True,
    sitelinks: Annotated[
        int,
        typer.Option(
            help="Only things with so many pages in Wikipedias and their sisters; 0 takes all.",
            rich_help_panel=_WHICH,
        ),
    ] = SITELINKS,
    depth: Annotated[
        int,
        typer.Option(help="Steps below a class that are walked.", rich_help_panel=_WHICH),
    ] = DEPTH,
    limit: Annotated[
        int | None,
        typer.Option(help="At most so many names of a label: for a try.", rich_help_panel=_WHICH),
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option(
            help="Your mail address or page, for the keepers of the server; Wikimedia asks for it.",
            rich_help_panel=_SERVER,
        ),
    ] = None,
    page: Annotated[
        int, typer.Option(help="Things asked for at once.", rich_help_panel=_SERVER)
    ] = PAGE,
    delay: Annotated[
        float, typer.Option(help="Seconds between requests.", rich_help_panel=_SERVER)
    ] = _PATIENCE.delay,
    timeout: Annotated[
        float, typer.Option(help="Seconds to wait for an answer.", rich_help_panel=_SERVER)
    ] = _PATIENCE.timeout,
    attempts: Annotated[
        int, typer.Option(help="Requests before giving up.", rich_help_panel=_SERVER)
    ] = _PATIENCE.attempts,
    days: Annotated[
        float,
        typer.Option(
            help="Pages kept on disk serve so long; 0 asks anew.", rich_help_panel=_SERVER
        ),
    ] = DAYS_KEPT,
    cache: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where pages are kept. (default: the user's)"),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make dictionaries from a knowledge base: a SPARQL endpoint, or a dump of Wikidata.

    Persons, places, organisations and more by the classes of Wikidata, or whatever a query of
    your own gives. A command that was stopped goes on where it was when it is given again: pages
    that were answered are kept. 'lacuner label TEXT --names FOLDER' takes the result.

    Example: lacuner names --label LOC --contact me@example.org -o names
    """
    request = NameRequest(
        languages=tuple(language), aliases=aliases, sitelinks=sitelinks, depth=depth, limit=limit
    )
    types = _types(label, classes, shipped=not query)
    queries = [_query(description) for description in query or ()]
    patience = Patience(delay=delay, timeout=timeout, attempts=attempts)
    if output.exists() and not overwrite:
        raise OutputExists(output)
    folder = cache or default_folder().with_name("knowledge")
    silent, findings, console = quiet or json, Findings(), messages()
    address = WIKIDATA if endpoint is None else endpoint
    if dump is not None:
        if endpoint is not None:
            raise UsageError("A dump is read and no server asked: --dump or --endpoint, not both.")
        if queries:
            raise UsageError("A dump cannot be asked: --query needs an endpoint, not --dump.")
        named = names_of_dump(
            dump,
            types,
            request,
            cache=folder,
            reading=lambda title: reading_shown(dump, quiet=silent, title=f"{dump.name}: {title}"),
        )
    else:
        server = Endpoint(
            address,
            contact=contact,
            patience=patience,
            on_wait=lambda seconds, why: _say(console, f"{why}; waiting {seconds:.0f} s", silent),
        )
        source = PagedEndpoint(server, folder, page=page, days=days)
        if address == WIKIDATA and not contact:
            say("Wikimedia asks who you are: --contact MAIL, or a page of yours.", quiet=silent)
        named = iter(_asked(source, types, queries, request, findings, console, quiet=silent))
    provenance = {
        "source": str(dump) if dump is not None else address,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "classes": {kind.label: list(kind.classes) for kind in types},
        "demonyms_of": {kind.label: list(kind.demonyms_of) for kind in types if kind.demonyms_of},
        "queries": {own or "?label": text for own, text in queries},
        "languages": list(request.languages),
        "aliases": aliases,
        "sitelinks": sitelinks,
        "depth": depth,
        "limit": limit,
    }
    counts = write_dictionaries(output, named, provenance=provenance, overwrite=overwrite)
    for missing in (kind.label for kind in types if kind.label not in counts):
        findings.remark(f"{missing}: no name was found, so there is no dictionary")
    tell(findings, quiet=silent)
    if json:
        print_json({"output": str(output), "entries": counts})
    else:
        told = ", ".join(f"{count:,} {own}" for own, count in counts.items())
        say(f"{output}: {told}", quiet=quiet)


def _types(labels: list[str] | None, classes: list[str] | None, *, shipped: bool) -> list[NameType]:
    own = parse_types(classes or ())
    wanted = labels or ([] if own or not shipped else list(WIKIDATA_TYPES))
    for name in wanted:
        if name not in WIKIDATA_TYPES:
            raise UsageError(
                unknown_name("shipped type", name, WIKIDATA_TYPES)
                + " Others are given as --class LABEL=Q…"
            )
        if any(kind.label == name for kind in own):
            raise UsageError(f"{name} is given by --label and by --class; take one of them.")
    return [*(WIKIDATA_TYPES[name] for name in dict.fromkeys(wanted)), *own]


def _query(description: str) -> tuple[str | None, str]:
    label, found, place = description.partition("=")
    if not found or Path(description).exists():
        return None, read_text(Path(description))
    if not label.strip() or not place:
        raise UsageError(f"--query takes LABEL=FILE or FILE; '{description}' is neither.")
    return checked_label(label.strip()), read_text(Path(place))


def _asked(
    source: PagedEndpoint,
    types: list[NameType],
    queries: list[tuple[str | None, str]],
    request: NameRequest,
    findings: Findings,
    console: Console,
    *,
    quiet: bool,
) -> list[tuple[str, Entry]]:
    named: list[tuple[str, Entry]] = []
    try:
        with _shown(source, console, quiet=quiet) as show:
            for kind in types:
                found = names_of_type(source, kind, request, show)
                _say(console, f"{kind.label}: {len(found):,} names", quiet)
                named += [(kind.label, entry) for entry in found]
            for label, text in queries:
                by_label = names_of_query(source, text, label, request, findings, show)
                named += [(own, entry) for own in by_label for entry in by_label[own]]
    except EndpointError:
        if source.written:
            say("Pages that were answered are kept: the same command goes on there.", quiet=quiet)
        raise
    return named


@contextmanager
def _shown(source: PagedEndpoint, console: Console, *, quiet: bool) -> Iterator[OnProgress | None]:
    """A line, on a terminal, that says how far the asking is."""
    if quiet or not console.is_terminal:
        yield None
        return
    with console.status("asking") as status:

        def show(words: str) -> None:
            asked, kept = source.endpoint.requests, source.kept
            status.update(f"{words}; {asked:,} requests, {kept:,} pages from disk")

        yield show


def _say(console: Console, text: str, quiet: bool) -> None:
    """Like `say`, on the console whose last line may be moving."""
    if not quiet:
        console.print(text, markup=False, soft_wrap=True)
