"""A page that shows what systems do on one test corpus: self-contained HTML, for a browser.

One file without scripts or links: a table of systems, learning curves, scores by label, and example
sentences. Everything that comes from data is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from lacuner.corpus.sentence import Corpus
from lacuner.evaluation.curves import Curve, thinned
from lacuner.evaluation.line_chart import Line, line_chart
from lacuner.evaluation.report_examples import LEGEND, example, instructive
from lacuner.evaluation.scores import Score, Scores
from lacuner.files import written_aside

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class SystemResult:
    """One system of the report.

    Attributes:
        name: What to call it, in a few words.
        scores: Its scores on the gold corpus.
        predicted: What it says of the sentences of the gold corpus.
        curve: How its training went; None for one that was not trained.
        note: A short remark, such as what it was trained on.
    """

    name: str
    scores: Scores
    predicted: Corpus
    curve: Curve | None = None
    note: str = ""


def report_page(
    title: str,
    systems: Sequence[SystemResult],
    gold: Corpus,
    *,
    introduction: str = "",
    examples: int = 8,
) -> str:
    """The HTML of a report.

    Args:
        title: The heading.
        systems: What is compared, in the order of the tables.
        gold: The test corpus with its true labels.
        introduction: A paragraph of plain text below the heading.
        examples: How many sentences to show: those on which the systems differ most.
    """
    style = (files(__package__) / "report.css").read_text("utf-8")
    body = "\n".join(
        part
        for part in (
            f"<h1>{escape(title)}</h1>",
            f'<p class="introduction">{escape(introduction)}</p>' if introduction else "",
            _systems(systems, gold),
            _curves(systems),
            _labels(systems),
            _examples(systems, gold, examples),
        )
        if part
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def write_report(
    path: Path,
    title: str,
    systems: Sequence[SystemResult],
    gold: Corpus,
    *,
    introduction: str = "",
    examples: int = 8,
    overwrite: bool = False,
) -> None:
    """Writes a report; takes what `report_page` takes.

    Raises:
        OutputExists: The file is there and `overwrite` is false.
    """
    page = report_page(title, systems, gold, introduction=introduction, examples=examples)
    with written_aside(path, overwrite=overwrite) as aside:
        aside.write_text(page, "utf-8")


def _systems(systems: Sequence[SystemResult], gold: Corpus) -> str:
    rows = []
    for system in systems:
        score = system.scores.total
        note = f"<small>{escape(system.note)}</small>" if system.note else ""
        rows.append(
            f'<tr><th scope="row">{escape(system.name)}{note}</th>'
            f"<td>{score.precision:.3f}</td><td>{score.recall:.3f}</td>"
            f'<td class="f1"><b>{score.f1:.3f}</b>'
            f'<span class="bar" style="width:{score.f1:.1%}"></span></td></tr>'
        )
    return (
        '<section><h2>Systems</h2><div class="wide"><table class="systems">'
        '<thead><tr><th scope="col">system</th><th scope="col">precision</th>'
        '<th scope="col">recall</th><th scope="col" class="f1">F1</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        f'<p class="caption">On {len(gold):,} sentences with {gold.entity_count:,} entities. '
        "An entity counts as right when its boundaries and its label are.</p></section>"
    )


def _curves(systems: Sequence[SystemResult]) -> str:
    trained = [(n, s.name, s.curve) for n, s in enumerate(systems, 1) if s.curve is not None]
    loss = line_chart(
        [Line(name, thinned(curve.loss, most=60), n) for n, name, curve in trained],
        title="Training loss over training steps",
        x_title="training steps",
        y_title="training loss",
    )
    f1 = line_chart(
        [Line(name, curve.f1, n) for n, name, curve in trained],
        title="F1 on the dev corpus over training steps",
        x_title="training steps",
        y_title="F1 on dev (0 to 1)",
        markers=True,
    )
    if not loss and not f1:
        return ""
    return f'<section><h2>Learning curves</h2><div class="charts">{f1}{loss}</div></section>'


def _labels(systems: Sequence[SystemResult]) -> str:
    labels = sorted({label for system in systems for label in system.scores.by_label})
    if not labels:
        return ""
    nothing = Score(0, 0, 0)
    rows = []
    for label in labels:
        by_system = [system.scores.by_label.get(label, nothing) for system in systems]
        count = max(score.gold for score in by_system)  # 0 where only some system gives it
        rows += [
            f"<tr>{_label_cell(label, count, len(systems)) if number == 0 else ''}"
            f'<td class="name">{escape(system.name)}</td>'
            f"<td>{score.precision:.3f}</td>"
            f"<td>{score.recall:.3f}</td><td><b>{score.f1:.3f}</b></td></tr>"
            for number, (system, score) in enumerate(zip(systems, by_system, strict=True))
        ]
    return (
        '<section><h2>By label</h2><div class="wide"><table class="labels">'
        '<thead><tr><th scope="col">label</th><th scope="col" class="name">system</th>'
        '<th scope="col">precision</th><th scope="col">recall</th><th scope="col">F1</th>'
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _label_cell(label: str, count: int, rows: int) -> str:
    entities = "entity" if count == 1 else "entities"
    return (
        f'<th scope="rowgroup" rowspan="{rows}">{escape(label)}'
        f"<small>{count:,} {entities}</small></th>"
    )


def _examples(systems: Sequence[SystemResult], gold: Corpus, count: int) -> str:
    chosen = instructive([system.predicted for system in systems], gold, count)
    if not chosen:
        return ""
    names = [system.name for system in systems]
    shown = "".join(example(names, given, sentence) for sentence, given in chosen)
    return (
        f"<section><h2>Example sentences</h2>{LEGEND}{shown}"
        '<p class="caption">Chosen because the systems differ on them: they are no fair sample. '
        "Of entities within one another, the longest is marked.</p></section>"
    )
