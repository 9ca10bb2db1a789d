"""Tables as text: Markdown for pages, LaTeX for papers, CSV for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lacuner.errors import UsageError
from lacuner.experiments.comparable_rows import Column
from lacuner.experiments.tables import SIGNIFICANCE, Cell, Mean, StudyTable
from lacuner.suggestions import unknown_name

DEFAULT_MEASURES = ("f1", "unshifted", "retention", "published")
_DAGGER = "†"
_WIDEST = 8  # columns of a table in Markdown; more are several tables


@dataclass(frozen=True)
class Measure:
    """What a column of a table shows.

    Attributes:
        title: Its heading, with the unit.
        text: How a cell is written; None leaves it empty.
    """

    title: str
    text: Callable[[Cell], str | None]


def write_mean(value: Mean | None, factor: float = 100, digits: int = 2) -> str | None:
    """A mean with its deviation.

    Example:
        >>> write_mean(Mean(0.8205, 0.004, 3))
        '82.05 ± 0.40'
    """
    if value is None:
        return None
    text = f"{factor * value.value:,.{digits}f}"
    if value.deviation is None:
        return text
    return f"{text} ± {factor * value.deviation:,.{digits}f}"


MEASURES = {
    "f1": Measure("F1 (%)", lambda cell: write_mean(cell.f1)),
    "unshifted": Measure("F1 without offset (%)", lambda cell: write_mean(cell.unshifted)),
    "retention": Measure(
        "retention (%)",
        lambda cell: None if cell.retention is None else f"{100 * cell.retention:.1f}",
    ),
    "published": Measure("published", lambda cell: _published(cell)),
    "dev": Measure("dev F1 (%)", lambda cell: write_mean(cell.dev)),
    "precision": Measure("P (%)", lambda cell: write_mean(cell.precision)),
    "recall": Measure("R (%)", lambda cell: write_mean(cell.recall)),
    "missampling": Measure(
        "missampling from epoch 3 (%)", lambda cell: write_mean(cell.missampling)
    ),
    "removed": Measure("words removed (%)", lambda cell: write_mean(cell.removed, digits=1)),
    "exploration": Measure(
        "exploration, of the training after it (%)",
        lambda cell: write_mean(cell.exploration, digits=0),
    ),
    "seconds": Measure("seconds", lambda cell: write_mean(cell.seconds, 1, 0)),
    "processor": Measure("seconds of the processor", lambda cell: write_mean(cell.processor, 1, 0)),
    "cost": Measure("cost, in trainings", lambda cell: write_mean(cell.cost, 1, 1)),
    "peak_mb": Measure("peak MB", lambda cell: write_mean(cell.peak_mb, 1, 0)),
}


def find_measures(names: Sequence[str]) -> list[str]:
    """The names, when there are such measures.

    Raises:
        UsageError: One that does not exist.
    """
    for name in names:
        if name not in MEASURES:
            raise UsageError(unknown_name("column", name, MEASURES))
    return list(names)


def to_markdown(tables: Sequence[StudyTable], measures: Sequence[str] = DEFAULT_MEASURES) -> str:
    """For pages."""
    return "\n".join(_markdown(table, measures) for table in tables)


def _markdown(table: StudyTable, measures: Sequence[str]) -> str:
    """One table, or, where that would be too wide to read, one for each corpus and masking rate."""
    shown = _shown(table, measures)
    lines = [f"**{table.study}**, profile {table.profile}, encoder {table.encoder}", ""]
    if len(shown) <= _WIDEST:
        heads = [f"{_column_title(column)}<br>{MEASURES[name].title}" for column, name in shown]
        lines += _markdown_rows(table, shown, heads)
    else:
        for column in dict.fromkeys(column for column, _ in shown):
            own = [(of, name) for of, name in shown if of == column]
            heads = [MEASURES[name].title for _, name in own]
            lines += [f"{_column_title(column)}:", "", *_markdown_rows(table, own, heads)]
    return "\n".join([*lines, *(f"- {note}" for note in notes(table, measures)), ""])


def _markdown_rows(
    table: StudyTable, shown: Sequence[tuple[Column, str]], heads: Sequence[str]
) -> list[str]:
    """The systems that have a cell in these columns."""
    lines = [f"| system | {' | '.join(heads)} |", f"|---|{'---:|' * len(shown)}"]
    for system in table.systems:
        if not any((system, column) in table.cells for column, _ in shown):
            continue
        texts = []
        for column, name in shown:
            cell = table.cells.get((system, column))
            text = _text(cell, name) or ""
            texts.append(f"**{text}**" if text and _is_best(cell, name) else text)
        lines.append(f"| {system.replace('|', '/')} | {' | '.join(texts)} |")
    return [*lines, ""]


def to_latex(tables: Sequence[StudyTable], measures: Sequence[str] = DEFAULT_MEASURES) -> str:
    """For papers; needs the package booktabs."""
    return "\n".join(_latex(table, measures) for table in tables)


def _latex(table: StudyTable, measures: Sequence[str]) -> str:
    shown = _shown(table, measures)
    groups = {column: [n for c, n in shown if c == column] for column, _ in shown}
    over = " & ".join(
        rf"\multicolumn{{{len(names)}}}{{c}}{{{_escaped(_column_title(column))}}}"
        for column, names in groups.items()
    )
    under = " & ".join(_escaped(MEASURES[name].title) for _, name in shown)
    lines = [
        f"% {table.study}, profile {table.profile}, encoder {table.encoder}",
        rf"\begin{{tabular}}{{l{'r' * len(shown)}}}",
        r"\toprule",
        rf" & {over} \\",
        rf"system & {under} \\",
        r"\midrule",
    ]
    for system in table.systems:
        texts = [_escaped(system)]
        for column, name in shown:
            cell = table.cells.get((system, column))
            text = _escaped(_text(cell, name) or "").replace(" ± ", r" $\pm$ ")
            text = text.replace(_DAGGER, r"\textsuperscript{\dag}")
            texts.append(rf"\textbf{{{text}}}" if text and _is_best(cell, name) else text)
        lines.append(rf"{' & '.join(texts)} \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *(f"% {note}" for note in notes(table, measures)), ""])


def to_csv(tables: Sequence[StudyTable]) -> str:
    """For programs: a line for each cell, every measure, nothing rounded."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    means = ("f1", "unshifted", "precision", "recall", "dev", "missampling", "seconds", "processor",
             "cost", "peak_mb")  # fmt: skip
    writer.writerow(
        ["study", "profile", "encoder", "corpus", "masking", "system", "recipe", "seeds",
         "train_sentences", *(f"{name}{end}" for name in means for end in ("", "_deviation")),
         "retention", "published", "published_on", "best", "tied_with_best"]
    )  # fmt: skip
    for table in tables:
        for (system, (corpus, masking)), cell in table.cells.items():
            row = cell.rows[0]
            found: list[Mean | None] = [getattr(cell, name) for name in means]
            writer.writerow(
                [table.study, table.profile, table.encoder, corpus, masking, system,
                 row["recipe"], cell.f1.count, row["train_sentences"],
                 *(part for m in found for part in ((m.value, m.deviation) if m else ("", ""))),
                 cell.retention, cell.published and cell.published.f1 / 100,
                 cell.published and cell.published.on, cell.best, cell.tied]
            )  # fmt: skip
    return out.getvalue()


def notes(table: StudyTable, measures: Sequence[str]) -> list[str]:
    """What a reader of the table must know."""
    cells = list(table.cells.values())
    seeds = " or ".join(map(str, sorted({cell.f1.count for cell in cells})))
    sizes = {
        f"{row['train_sentences']:,} sentences of {row['corpus']}"
        for cell in cells
        for row in cell.rows
    }
    said = [
        f"Mean ± sample deviation over {seeds} seed{'' if seeds == '1' else 's'}; trained on "
        f"{', '.join(sorted(sizes))}; F1 on test unless it says dev, scored once, on "
        f"the model that {_chosen(table)}."
    ]
    if any(cell.tied for cell in cells):
        said.append(
            f"{_DAGGER} not told from the best of its column by a paired bootstrap over sentences, "
            f"their counts added up over seeds (p ≥ {SIGNIFICANCE:g})."
        )
    if any(cell.tied is None for cell in cells):
        said.append("Some differences could not be tested: the counts of sentences are missing.")
    if "unshifted" in measures and any(cell.unshifted for cell in cells):
        said.append(
            'Without offset: the same models, chosen on dev with an offset on the score of "no '
            'entity", decoded without it.'
        )
    if "retention" in measures and any(cell.retention is not None for cell in cells):
        said.append("Retention: mean F1 over that of `supervised` with the same encoder.")
    if "cost" in measures and any(cell.cost for cell in cells):
        said.append(
            "Cost: time over the median of the runs that are one training, in the same "
            "circumstances."
        )
    if "published" in measures:
        sources = {f"{c.published.source}, {c.published.encoder}" for c in cells if c.published}
        said += [f"Published: {source}." for source in sorted(sources)]
    if table.superseded:
        said.append(f"{table.superseded} older rows, made with other settings, are left out.")
    return said


def _chosen(table: StudyTable) -> str:
    ways = {row.get("selected_on") for cell in table.cells.values() for row in cell.rows}
    if ways == {"dev"}:
        return "dev chose"
    return "was the last" if ways == {"none"} else "dev chose (where there is something to choose)"


def _shown(table: StudyTable, measures: Sequence[str]) -> list[tuple[Column, str]]:
    """The columns in which anything is written."""
    return [
        (column, name)
        for column in table.columns
        for name in measures
        if any(_text(table.cells.get((system, column)), name) for system in table.systems)
    ]


def _text(cell: Cell | None, measure: str) -> str | None:
    if cell is None:
        return None
    text = MEASURES[measure].text(cell)
    return f"{text} {_DAGGER}" if measure == "f1" and text and cell.tied else text


def _is_best(cell: Cell | None, measure: str) -> bool:
    return cell is not None and cell.best and measure == "f1"


def _published(cell: Cell) -> str | None:
    if cell.published is None:
        return None
    mark = " (dev)" if cell.published.on == "dev" else ""
    return f"{cell.published.f1:.2f}{mark}"


def _column_title(column: Column) -> str:
    corpus, masking = column
    return f"{corpus}, p = {masking:g}" if masking else corpus


def _escaped(text: str) -> str:
    for character in "&%$#_{}":
        text = text.replace(character, "\\" + character)
    return text
