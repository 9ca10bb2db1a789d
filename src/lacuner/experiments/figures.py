"""The figures of a study: what rows say, at a glance.

Every system keeps its colour and dashes through all figures of a table; names stand at the ends of
lines; bars are sample deviations over seeds. Needs matplotlib, the extra `plots`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from lacuner.corpus.findings import Findings
from lacuner.errors import MissingExtra
from lacuner.evaluation.plots import GREY, LINES, new_figure, quieten, save
from lacuner.experiments.broken_axis import draw_over_a_break
from lacuner.experiments.line_panels import (
    WIDTH,
    Line,
    along_masking,
    draw_lines,
    entitle,
    from_bottom,
    longest,
    panels_figure,
)
from lacuner.experiments.probe_figures import o_values, probabilities, span_map
from lacuner.experiments.removal_figures import removed_by_share
from lacuner.experiments.results import Results, Row
from lacuner.experiments.stage_figures import best_by_stage, f1_by_stage
from lacuner.experiments.sweeps import sweep_figures
from lacuner.experiments.tables import Cell, Mean, StudyTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def study_figures(
    table: StudyTable, results: Results | None = None, findings: Findings | None = None
) -> dict[str, Figure]:
    """Whichever figures the results allow, by name.

    Args:
        table: What to draw.
        results: Where looks into the runs are kept; None leaves them out.
        findings: Told of a figure that cannot be drawn here.
    """
    findings = findings if findings is not None else Findings()
    figures: dict[str, Figure | None] = {}
    corpora = list(dict.fromkeys(corpus for corpus, _ in table.columns))
    for corpus in corpora:
        end = f"-{corpus}" if len(corpora) > 1 else ""
        figures[f"f1-by-masking{end}"] = f1_by_masking(table, corpus)
        figures[f"missampling-by-masking{end}"] = missampling_by_masking(table, corpus)
        figures[f"missampling-by-epoch{end}"] = missampling_by_epoch(table, corpus)
        figures[f"learning-curves{end}"] = learning_curves(table, corpus)
        for name, figure in sweep_figures(table, corpus).items():
            figures[f"{name}{end}"] = figure
    for corpus, masking in table.columns:
        end = f"-{corpus}-{masking:g}"
        figures[f"f1-by-stage{end}"] = f1_by_stage(table, (corpus, masking))
        figures[f"removed-by-share{end}"] = removed_by_share(table, (corpus, masking))
    figures["retention"] = retention_by_system(table)
    for corpus, masking in table.columns if results is not None else ():
        assert results is not None
        end = f"-{corpus}-{masking:g}"
        figures[f"probabilities{end}"] = probabilities(table, (corpus, masking), results)
        figures[f"o-values{end}"] = o_values(table, (corpus, masking), results)
        try:
            figures[f"spans{end}"] = span_map(table, (corpus, masking), results)
        except MissingExtra as missing:
            findings.remark(str(missing))
    return {name: figure for name, figure in figures.items() if figure is not None}


def write_figures(
    tables: Sequence[StudyTable],
    folder: Path,
    *,
    results: Results | None = None,
    findings: Findings | None = None,
    ending: str = "svg",
    overwrite: bool = False,
) -> list[Path]:
    """Writes the figures of all tables to a folder.

    Args:
        tables: What to draw.
        folder: Where to.
        results: Where looks into the runs are kept; None leaves them out.
        findings: Told of figures that cannot be drawn here.
        ending: `svg` or `png`.
        overwrite: Replace files that are there.
    """
    written = []
    for table in tables:
        begin = f"{table.profile}-{table.encoder}-" if len(tables) > 1 else ""
        for name, figure in study_figures(table, results, findings).items():
            path = folder / f"{begin}{name}.{ending}"
            save(figure, path, overwrite=overwrite)
            written.append(path)
    return written


def f1_by_masking(table: StudyTable, corpus: str) -> Figure | None:
    """Test F1 of every system over the masking rate, and the ceiling."""
    lines = [
        Line(system, [(masking, cell.f1.in_percent) for masking, cell in cells], number)
        for number, system, cells in _by_masking(table, corpus)
    ]
    if longest(lines) < 2:
        return None
    ceiling = [
        cell.f1.value
        for (_, column), cell in table.cells.items()
        if column == (corpus, 0.0) and cell.rows[0]["recipe"] == "supervised"
    ]
    level = ("all labels", 100 * ceiling[0]) if ceiling else None
    figure = new_figure(4.2, WIDTH)
    top, bottom = draw_over_a_break(figure, lines, "{:.1f}", height=3.2, level=level)
    entitle(top, f"{corpus}: F1 on test, by masking rate", table)
    along_masking(bottom, lines)
    top.set_ylabel("F1 on test (%)")
    return figure


def missampling_by_masking(table: StudyTable, corpus: str) -> Figure | None:
    """Share of drawn negatives that are hidden entities, over the masking rate."""
    lines = [
        Line(
            system,
            [(m, cell.missampling.in_percent) for m, cell in cells if cell.missampling is not None],
            number,
        )
        for number, system, cells in _by_masking(table, corpus)
    ]
    lines = [line for line in lines if line.points]
    if longest(lines) < 2:
        return None
    figure = new_figure(3.8, WIDTH)
    axes = figure.add_subplot()
    draw_lines(axes, lines, "{:.2f}", height=2.9)
    from_bottom(axes, 0)
    entitle(axes, f"{corpus}: hidden entities among drawn negatives, after two epochs", table)
    along_masking(axes, lines)
    axes.set_ylabel("missampling rate (%)")
    return figure


def missampling_by_epoch(table: StudyTable, corpus: str) -> Figure | None:
    """The same, epoch by epoch; a panel for each masking rate."""
    panels = {
        masking: [
            Line(system, _percents(_mean_curve([r["missampling"] for r in rows])), number)
            for number, system, cell in _column(table, corpus, masking)
            if (rows := [row for row in cell.rows if row["missampling"]])
        ]
        for _, masking in _columns_of(table, corpus)
    }
    return panels_figure(
        panels,
        table,
        f"{corpus}: hidden entities among drawn negatives, by epoch",
        "missampling rate (%)",
        "{:.2f}",
        bottom=0,
    )


def learning_curves(table: StudyTable, corpus: str) -> Figure | None:
    """Dev F1 by epoch; a panel for each masking rate.

    Runs of several stages, whose epochs do not follow each other, have `f1_by_stage` instead.
    """
    panels = {
        masking: [
            Line(system, _percents(_mean_curve([_curve(r) for r in rows])), number)
            for number, system, cell in _column(table, corpus, masking)
            if (rows := [r for r in cell.rows if r.get("curve") and not best_by_stage(r)])
        ]
        for _, masking in _columns_of(table, corpus)
    }
    return panels_figure(panels, table, f"{corpus}: F1 on dev, by epoch", "F1 on dev (%)", "{:.1f}")


def retention_by_system(table: StudyTable) -> Figure | None:
    """F1 as a share of the ceiling: a group of bars for each system, a bar for each column."""
    shown = [
        (
            system,
            [(column, r) for column in table.columns if (r := _retention(table, system, column))],
        )
        for system in table.systems
    ]
    shown = [(system, bars) for system, bars in shown if bars]
    if not shown:
        return None
    columns = [
        c for c in table.columns if any(c == column for _, bars in shown for column, _ in bars)
    ]
    rows = sum(len(bars) + 1 for _, bars in shown)
    figure = new_figure(1.1 + 0.21 * rows, WIDTH)
    axes = figure.add_subplot()
    place, ticks, names = 0.0, [], []
    for system, bars in shown:
        axes.text(0.6, place, system, va="center", weight="bold", fontsize=9)
        place += 1
        for column, value in bars:
            colour = LINES[columns.index(column) % len(LINES)]
            axes.barh(place, 100 * value, height=0.8, color=colour)
            text = axes.text(
                100 * value + 0.6, place, f"{100 * value:.1f}", va="center", fontsize=8
            )
            text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.4})
            ticks.append(place)
            names.append(f"{column[0]}, p = {column[1]:g}" if column[1] else column[0])
            place += 1
        place += 0.2
    axes.set_yticks(ticks, names, fontsize=8, color=GREY)
    axes.set_ylim(place - 0.4, -0.8)
    axes.axvline(100, color=GREY, linewidth=1, linestyle=(0, (6, 3)))
    axes.set_xlim(0, max(108.0, *(112 * v for _, bars in shown for _, v in bars)))
    axes.set_xlabel("F1 as a share of the supervised ceiling (%)")
    entitle(axes, f"{table.study}: retention", table)
    quieten(axes, grid="x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


def _retention(table: StudyTable, system: str, column: tuple[str, float]) -> float | None:
    cell = table.cells.get((system, column))
    if cell is None or cell.rows[0]["recipe"] == "supervised":
        return None
    return cell.retention


def _by_masking(table: StudyTable, corpus: str) -> list[tuple[int, str, list[tuple[float, Cell]]]]:
    """The cells of each system that was given masked labels, by rate; 0 is the first of them."""
    found = []
    for number, system in enumerate(table.systems):
        cells = [
            (masking, table.cells[system, (corpus, masking)])
            for _, masking in _columns_of(table, corpus)
            if (system, (corpus, masking)) in table.cells
        ]
        if any(masking for masking, _ in cells):
            found.append((number, system, cells))
    return found


def _column(table: StudyTable, corpus: str, masking: float) -> list[tuple[int, str, Cell]]:
    return [
        (number, system, table.cells[system, (corpus, masking)])
        for number, system in enumerate(table.systems)
        if (system, (corpus, masking)) in table.cells
    ]


def _columns_of(table: StudyTable, corpus: str) -> list[tuple[str, float]]:
    return [column for column in table.columns if column[0] == corpus]


def _curve(row: Row) -> list[float]:
    return [point["dev"] for point in row["curve"]]


def _mean_curve(curves: Sequence[Sequence[float]]) -> list[float]:
    """The mean of each epoch, over the seeds that got there."""
    longest = max(map(len, curves))
    return [mean([c[epoch] for c in curves if len(c) > epoch]) for epoch in range(longest)]


def _percents(values: Sequence[float]) -> list[tuple[float, Mean]]:
    return [(epoch, Mean(100 * value, None, 1)) for epoch, value in enumerate(values, 1)]
