"""How an adaptation went, as a picture beside its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lacuner.evaluation.curves import Curve
from lacuner.evaluation.line_chart import Line, line_chart
from lacuner.files import written_aside

_STYLE = (
    "<style>text{font:12px sans-serif;fill:#333}.end{text-anchor:end}.middle{text-anchor:middle}"
    ".grid{stroke:#ddd}.line{fill:none;stroke:#1f6f8b;stroke-width:2}circle{fill:#1f6f8b}</style>"
)


def write_curve(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Draws held-out accuracy by step as SVG."""
    curve = Curve.of([row for row in rows if "held_out_loss" in row], f1="accuracy")
    chart = line_chart(
        [Line("held out", curve.f1, 1)],
        title="Share of masked pieces that are guessed right, by step",
        x_title="steps",
        y_title="masked accuracy",
        markers=True,
    )
    chart = chart.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    with written_aside(path, overwrite=True) as aside:
        aside.write_text(chart.replace("<title>", f"{_STYLE}<title>", 1), "utf-8")
