"""Figures of what runs think of spans and words: by epoch, and a map of the vectors of spans."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lacuner.errors import MissingExtra
from lacuner.evaluation.label_places import spread
from lacuner.evaluation.plots import BLUE, GREY, LINES, VERMILION, new_figure, quieten
from lacuner.experiments.comparable_rows import Column
from lacuner.experiments.line_panels import WIDTH
from lacuner.experiments.results import HIDDEN, LABELLED, NO_ENTITY, O_VALUE, Results
from lacuner.experiments.tables import StudyTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {LABELLED: BLUE, HIDDEN: VERMILION, NO_ENTITY: GREY}
_DASHES = {LABELLED: "-", HIDDEN: "--", NO_ENTITY: ":"}
_ACROSS = 2  # panels beside each other
_PANEL = 2.6  # inches
_MARKERS = "ov^sDP*X<>"


def probabilities(table: StudyTable, column: Column, results: Results) -> Figure | None:
    """How probable it is that a span is an entity, by epoch: a panel for each system.

    After NRCES, Figures 4 to 7, for many spans in place of a few: the mean of each group, shaded
    between the quartiles, and the mean over seeds of all three.
    """
    title = f"{_name(column)}: P(entity) of training spans"
    return _by_epoch(table, column, results, "P(entity)", title)


def o_values(table: StudyTable, column: Column, results: Results) -> Figure | None:
    """The score of the tag O of training words, by epoch: a panel for each system.

    After Figure 2 of two-step learning: early on, words of hidden entities have lower ones.
    """
    return _by_epoch(
        table, column, results, O_VALUE, f"{_name(column)}: O-values of training words"
    )


def _by_epoch(
    table: StudyTable, column: Column, results: Results, unit: str, title: str
) -> Figure | None:
    probes = {
        run: probe
        for run, probe in results.probes().items()
        if (probe.get("of") == O_VALUE) == (unit == O_VALUE)
    }
    shown = {
        system: _mean_over_seeds(found)
        for system in table.systems
        if (cell := table.cells.get((system, column))) is not None
        and (found := [probes[row["run"]] for row in cell.rows if row.get("run") in probes])
    }
    shown = {system: probe for system, probe in shown.items() if len(probe["epochs"]) > 1}
    if not shown:
        return None
    figure, all_axes = _grid(len(shown))
    for axes, (system, probe) in zip(all_axes, shown.items(), strict=True):
        if unit != O_VALUE:
            axes.set_ylim(-0.02, 1.02)
        _draw_groups(axes, probe)
        axes.set_title(system, loc="left", fontsize=9, weight="bold")
        axes.set_xlabel("epoch")
        axes.set_ylabel(unit)
    _heading(figure, title, table)
    return figure


def span_map(table: StudyTable, column: Column, results: Results) -> Figure | None:
    """Entities and other spans of test, their vectors projected by t-SNE: a panel a system.

    Raises:
        MissingExtra: There are vectors, and scikit-learn is not installed.
    """
    shown = {}
    for system in table.systems:
        cell = table.cells.get((system, column))
        kept = results.vectors(cell.rows[0].get("run", "")) if cell is not None else None
        if kept is not None and len(kept[1]) > 3:
            shown[system] = kept
    if not shown:
        return None
    labels = sorted({g for _, groups in shown.values() for g in groups if g != NO_ENTITY})
    figure, all_axes = _grid(len(shown))
    for axes, (system, (vectors, groups)) in zip(all_axes, shown.items(), strict=True):
        places, names = project(vectors), np.array(groups)
        for number, label in enumerate([NO_ENTITY, *labels]):
            own = places[names == label]
            axes.scatter(
                own[:, 0],
                own[:, 1],
                s=12 if label == NO_ENTITY else 11,
                marker="." if label == NO_ENTITY else _MARKERS[(number - 1) % len(_MARKERS)],
                color=GREY if label == NO_ENTITY else LINES[(number - 1) % len(LINES)],
                alpha=0.45 if label == NO_ENTITY else 0.8,
                linewidths=0,
                label=label,
            )
        axes.set_title(system, loc="left", fontsize=9, weight="bold")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_aspect("equal", adjustable="datalim")
    handles, names_shown = all_axes[0].get_legend_handles_labels()
    figure.legend(
        handles, names_shown, loc="outside lower left", ncols=6, frameon=False, fontsize=8.5,
        markerscale=1.8,
    )  # fmt: skip
    _heading(figure, f"{_name(column)}: spans of test, projected by t-SNE", table)
    return figure


def project(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Places in the plane, near where vectors have a small angle.  # [spans, 2]

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    try:
        from sklearn.manifold import TSNE
        from threadpoolctl import threadpool_limits  # comes with scikit-learn
    except ImportError:
        raise MissingExtra("The map of spans (t-SNE, by scikit-learn)", "bench") from None
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    # "auto" and "pca" would depend on versions; a random start from a fixed seed does not.
    tsne = TSNE(metric="cosine", init="random", random_state=0, perplexity=perplexity)
    # Several threads wait for each other at every step, for minutes on a busy machine.
    with threadpool_limits(1):
        places: NDArray[np.float32] = tsne.fit_transform(vectors)
    return places


def _draw_groups(axes: Axes, probe: dict[str, Any]) -> None:
    groups = [group for group in _COLOURS if group in probe]
    for group in groups:
        values = probe[group]
        colour = _COLOURS[group]
        axes.fill_between(
            probe["epochs"], values["low"], values["high"], color=colour, alpha=0.15, linewidth=0
        )
        axes.plot(
            probe["epochs"], values["mean"], color=colour, linestyle=_DASHES[group], marker="o",
            markersize=3.5, linewidth=1.7,
        )  # fmt: skip
    quieten(axes, grid="y")
    axes.locator_params(axis="x", integer=True)
    ends = [probe[group]["mean"][-1] for group in groups]
    low, high = axes.get_ylim()
    for group, value, place in zip(groups, ends, spread(ends, 0.1 * (high - low)), strict=True):
        axes.annotate(
            f"{group}: {value:.2f}",
            (1.015, place),
            xycoords=axes.get_yaxis_transform(),
            color=_COLOURS[group],
            fontsize=8.5,
            va="center",
            annotation_clip=False,
        )


def _mean_over_seeds(probes: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean of each epoch that all seeds have."""
    epochs = sorted(set.intersection(*(set(probe["epochs"]) for probe in probes)))
    found: dict[str, Any] = {"epochs": epochs}
    for group in _COLOURS:
        if all(group in probe for probe in probes):
            found[group] = {
                key: np.mean(
                    [[p[group][key][p["epochs"].index(e)] for e in epochs] for p in probes], axis=0
                ).tolist()
                for key in ("mean", "low", "high")
            }
    return found


def _grid(count: int) -> tuple[Figure, list[Axes]]:
    across = min(count, _ACROSS)
    down = math.ceil(count / across)
    figure = new_figure(0.6 + _PANEL * down, WIDTH * (1.3 if across > 1 else 0.8))
    grid = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for axes in grid[count:]:
        axes.remove()
    return figure, grid[:count]


def _heading(figure: Figure, text: str, table: StudyTable) -> None:
    figure.suptitle(text, x=0.01, ha="left", weight="bold", fontsize=10.5)
    figure.text(
        0.995, 0.005, f"{table.study}, {table.profile}, {table.encoder}", ha="right", va="bottom",
        fontsize=7, color=GREY,
    )  # fmt: skip


def _name(column: Column) -> str:
    return f"{column[0]}, {column[1]:.0%} of labels hidden" if column[1] else column[0]
