"""One picture of a refilling: what was given, what was put back, what is still missing, by label.

Needs matplotlib, the extra `plots`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lacuner.evaluation.plots import BLUE, GREEN, GREY, VERMILION, new_figure, quieten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 7.2  # inches
_BAR = 0.5
_DOTS = (0, (2, 2))


def labels_figure(facts: Mapping[str, Any]) -> Figure:
    """A bar for each label: given, put back (right and wrong, where that is known), missing.

    Args:
        facts: Those of `outcome.read_gaps`.
    """
    labels: Mapping[str, Mapping[str, Any]] = facts["labels"]
    figure = new_figure(1.5 + 0.62 * len(labels), _WIDTH)
    axes = figure.add_subplot()
    reach = max(_draw_label(axes, place, row) for place, row in enumerate(labels.values()))
    axes.set_yticks(range(len(labels)), list(labels))
    axes.set_ylim(len(labels) - 0.25, -0.6)
    axes.set_xlim(0, 1.04 * reach)
    axes.set_xlabel("labels")
    axes.set_title("Labels given, put back, and missing", loc="left", weight="bold", fontsize=10.5)
    quieten(axes, grid="x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    _legend(
        figure,
        measured=any("measured" in row for row in labels.values()),
        estimated=any(row["missing"] is not None for row in labels.values()),
    )
    return figure


def _draw_label(axes: Axes, place: int, row: Mapping[str, Any]) -> float:
    """Draws a bar, and says how far it reaches."""
    given, added = row["given"], row["added"]
    measured = row.get("measured")
    right = added if measured is None else round(added * measured["precision"])
    axes.barh(place, given, height=_BAR, color=BLUE)
    axes.barh(place, right, left=given, height=_BAR, color=GREEN)
    axes.barh(place, added - right, left=given + right, height=_BAR, color=VERMILION)
    end = given + added
    if row["missing"] is not None:
        end = max(end, given + row["missing"])
        axes.barh(
            place, row["missing"], left=given, height=_BAR, fill=False, edgecolor=GREY,
            linestyle=_DOTS, linewidth=1,
        )  # fmt: skip
    text = f"{added:,} put back"
    if measured is not None:
        whole = given + measured["hidden"]
        end = max(end, whole)
        axes.plot([whole, whole], [place - _BAR * 0.7, place + _BAR * 0.7], color="black")
        text += f", precision {measured['precision']:.3f}, recall {measured['recall']:.3f}"
    if row["removed"]:
        text += f"; {row['removed']:,} taken out"
    axes.text(0, place + 0.42, text, fontsize=8, color=GREY, va="center")
    return float(end)


def _legend(figure: Figure, *, measured: bool, estimated: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    kinds: list[Patch | Line2D] = [Patch(color=BLUE, label="given")]
    if measured:
        kinds.append(Patch(color=GREEN, label="put back, right"))
        kinds.append(Patch(color=VERMILION, label="put back, wrong"))
    else:
        kinds.append(Patch(color=GREEN, label="put back"))
    if estimated:
        kinds.append(
            Patch(facecolor="none", edgecolor=GREY, linestyle=_DOTS, label="missing, by estimate")
        )
    if measured:
        kinds.append(Line2D([], [], color="black", label="all labels"))
    figure.legend(
        handles=kinds, loc="outside lower center", ncols=len(kinds), frameon=False, fontsize=8
    )
