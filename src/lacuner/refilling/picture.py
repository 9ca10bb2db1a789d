"""One picture of a refilling: what was given, what each round put back, what is still missing.

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
_BAR = 0.56
_DOTS = (0, (2, 2))


def rounds_figure(facts: Mapping[str, Any]) -> Figure:
    """A bar for each round: labels given, put back (right and wrong, where that is known), missing.

    Args:
        facts: Those of `outcome.read_gaps`.
    """
    rounds = facts["rounds"]
    known = [row["measured"] for row in rounds if "measured" in row]
    figure = new_figure(1.5 + 0.62 * len(rounds), _WIDTH)
    axes = figure.add_subplot()
    reach = max(_draw_round(axes, place, row, facts) for place, row in enumerate(rounds))
    if known:
        whole = facts["given"] + known[0]["hidden"]
        reach = max(reach, whole)
        axes.axvline(whole, color=GREY, linewidth=1, linestyle=(0, (6, 3)))
        axes.text(whole, -0.62, f"all labels: {whole:,} ", ha="right", fontsize=8, color=GREY)
    axes.set_yticks(range(len(rounds)), [f"round {row['round']}" for row in rounds])
    axes.set_ylim(len(rounds) - 0.35, -0.8)
    axes.set_xlim(0, 1.04 * reach)
    axes.set_xlabel("labels")
    axes.set_title("Labels by round", loc="left", weight="bold", fontsize=10.5)
    quieten(axes, grid="x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    estimated = any(row["missing"] is not None for row in rounds)
    _legend(figure, measured=bool(known), estimated=estimated)
    return figure


def _draw_round(axes: Axes, place: int, row: Mapping[str, Any], facts: Mapping[str, Any]) -> float:
    """Draws a bar, and says how far it reaches."""
    given, added = facts["given"], row["added"]
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
        text += f", precision {measured['precision']:.3f}, recall {measured['recall']:.3f}"
    if row["removed"]:
        text += f"; {row['removed']:,} taken out"
    axes.text(0, place + 0.44, text, fontsize=8, color=GREY, va="center")
    return float(end)


def _legend(figure: Figure, *, measured: bool, estimated: bool) -> None:
    from matplotlib.patches import Patch

    kinds = [Patch(color=BLUE, label="given")]
    if measured:
        kinds.append(Patch(color=GREEN, label="put back, right"))
        kinds.append(Patch(color=VERMILION, label="put back, wrong"))
    else:
        kinds.append(Patch(color=GREEN, label="put back"))
    if estimated:
        kinds.append(
            Patch(facecolor="none", edgecolor=GREY, linestyle=_DOTS, label="missing, by estimate")
        )
    figure.legend(
        handles=kinds, loc="outside lower center", ncols=len(kinds), frameon=False, fontsize=8
    )
