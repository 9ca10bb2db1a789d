"""The report of `lacuner label` as tables."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lacuner.labelling.label_report import LabelReport

_ROWS = 10


def print_report(console: Console, report: LabelReport) -> None:
    """Prints what labelling found: by label, by dictionary, by entry, and what looks wrong."""
    console.print(_overview(report))
    console.print(_labels(report))
    if len(report.gazetteer.dictionaries) > 1:
        console.print(_dictionaries(report))
    frequent = report.most_frequent(_ROWS)
    if frequent:
        console.print(_frequent(report))
    suspects = report.suspects()
    if suspects:
        table = _table(f"{len(suspects):,} suspicious entries", "found", "entry", "label", "why")
        for suspect in suspects[:_ROWS]:
            entry = suspect.entry
            why = "; ".join(suspect.reasons)
            _row(table, f"{entry.found:,}", entry.name, entry.label, why)
        if len(suspects) > _ROWS:
            _row(table, "", "…", "", "(all with --report FILE)")
        console.print(table)
    unseen, sample = report.never_found(_ROWS)
    if unseen:
        names = ", ".join(sample) + (", …" if unseen > len(sample) else "")
        console.print(f"\n{unseen:,} entries were never found: {names}", markup=False)


def _overview(report: LabelReport) -> Table:
    table = Table(box=None, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    left_out = report.gazetteer.left_out
    rows = [
        ("names", len(report.gazetteer)),
        ("  left out: too short", left_out.short),
        ("  left out: on the stop list", left_out.stopped),
        ("  left out: nothing to match", left_out.unreadable),
        ("sentences", report.sentences),
        ("words", report.words),
        ("entities", report.labelled),
        (f"names with several labels ({_fate(report)})", report.ambiguous),
        ("names on words that were labelled already", report.blocked),
        ("names that are no candidate phrase", report.no_phrase),
    ]
    always = {"names", "sentences", "words", "entities"}
    for title, count in rows:
        if count or title in always:
            _row(table, title, f"{count:,}")
    return table


def _fate(report: LabelReport) -> str:
    return "skipped" if report.gazetteer.options.ambiguous == "skip" else "recorded as ambiguous"


def _labels(report: LabelReport) -> Table:
    table = _table("", "entities", "label")
    for label, count in report.by_label().items():
        _row(table, f"{count:,}", label)
    return table


def _dictionaries(report: LabelReport) -> Table:
    table = _table("", "times", "dictionary", "entries", "matched")
    for dictionary, counts in report.by_dictionary().items():
        share = counts["entries_labelled"] / max(1, counts["entries"])
        matched = f"{counts['entries_labelled']:,} ({share:.0%})"
        _row(table, f"{counts['labelled']:,}", dictionary, f"{counts['entries']:,}", matched)
    return table


def _frequent(report: LabelReport) -> Table:
    table = _table("most frequent", "times", "entry", "label", "dictionary")
    for entry in report.most_frequent(_ROWS):
        _row(table, f"{entry.labelled:,}", entry.name, entry.label, entry.dictionary)
    return table


def _table(title: str, number: str, *headings: str) -> Table:
    table = Table(
        box=None,
        header_style="bold",
        title=Text(f"\n{title}") if title else "",
        title_justify="left",
    )
    table.add_column(number, justify="right")
    for heading in headings:
        table.add_column(heading)
    return table


def _row(table: Table, *cells: str) -> None:
    # Names are text, never markup: "[red]" may be one.
    table.add_row(*(Text(cell) for cell in cells))
