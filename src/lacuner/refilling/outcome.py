"""What all rounds came to, kept in the run folder for `lacuner refill`.

refill/filled.jsonl    the corpus with the labels that were put back, without those taken out
refill/changes.jsonl   every label put back or taken out, every doubt: place, score, round, reason
refill/gaps.json       how many labels are missing, in all and by label, and what was done
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from lacuner.corpus.reading import write
from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.errors import DataError
from lacuner.evaluation.scores import Score
from lacuner.files import read_json, read_json_lines, write_json, written_aside
from lacuner.refilling.changes import (
    ADDED,
    DOUBTFUL,
    REMOVED,
    Change,
    changes,
    gaps_by_label,
)
from lacuner.refilling.filling import is_added, is_doubt
from lacuner.refilling.rounds import Round

FOLDER = "refill"
FILLED, CHANGES, GAPS = "filled.jsonl", "changes.jsonl", "gaps.json"
_COUNTED = (ADDED, REMOVED, DOUBTFUL)


def keep_outcome(
    run_folder: Path, corpus: Corpus, rounds: list[Round], hidden: Corpus | None
) -> None:
    """Writes what the rounds came to.

    Args:
        run_folder: The folder of the run.
        corpus: The labels that were given.
        rounds: All rounds, finished.
        hidden: What is missing in the corpus, where somebody knows.
    """
    last = rounds[-1]
    filled, gaps, candidates = last.filled(corpus), last.gaps, last.candidates
    changed = list(changes(filled, candidates, gaps, last.number, last.wrong))
    by_label = gaps_by_label(corpus, changed, candidates, gaps)
    facts = {
        "given": corpus.entity_count,
        "estimate": asdict(gaps),
        "labels": {
            label: asdict(found) | _measured(filled, hidden, label)
            for label, found in by_label.items()
        },
        "rounds": [_facts(one, corpus, hidden) for one in rounds],
    }
    with written_aside(run_folder / FOLDER, overwrite=True) as aside:
        aside.mkdir()
        write(corpus.with_sentences(map(without_doubts, filled)), aside / FILLED)
        with open(aside / CHANGES, "wb") as file:
            for change in changed:
                file.write(orjson.dumps(change.as_dict()) + b"\n")
        write_json(facts, aside / GAPS)


def without_doubts(sentence: Sentence) -> Sentence:
    """The sentence without what the refilling doubted: nobody knows that it is an entity."""
    kept = [found for found in sentence.ambiguous if not is_doubt(found)]
    return sentence.with_labels(sentence.entities, kept)


def read_changes(run_folder: Path) -> list[Change]:
    """What the run changed."""
    path = _folder(run_folder) / CHANGES
    return [Change(**row) for _, row in read_json_lines(path)]


def read_gaps(run_folder: Path) -> dict[str, Any]:
    """What the run knows of the gaps."""
    path = _folder(run_folder) / GAPS
    facts: dict[str, Any] = read_json(path)
    rows = [*facts.get("labels", {}).values(), *facts.get("rounds", [])]
    if not rows or any(name not in row for row in rows for name in _COUNTED):
        raise DataError(
            path,
            f"it does not say for each round and label what was {', '.join(_COUNTED)}",
            right="Another version wrote it, or it is damaged: train again",
        )
    return facts


def filled_file(run_folder: Path) -> Path:
    """The file with the filled corpus."""
    return _folder(run_folder) / FILLED


def _folder(run_folder: Path) -> Path:
    folder = run_folder / FOLDER
    if not folder.is_dir():
        begun = (run_folder / "settings.toml").exists()
        raise DataError(
            run_folder,
            "this run has put back no labels" if begun else "this is no folder of a run",
            right="Runs of the recipe refill put some back, before their last training",
        )
    return folder


def _facts(one: Round, corpus: Corpus, hidden: Corpus | None) -> dict[str, Any]:
    return {
        "round": one.number,
        **one.counts(corpus),
        "missing": one.gaps.missing,
        **_measured(one.filled(corpus), hidden),
    }


def _measured(filled: Corpus, hidden: Corpus | None, label: str | None = None) -> dict[str, Any]:
    """How well added labels, all or those of one kind, are the hidden ones, where these are known.

    Returns:
        A field `measured`, or none.
    """
    if hidden is None:
        return {}
    gone = [{e.key for e in sentence.entities if label in (None, e.label)} for sentence in hidden]
    added = [
        [e.key for e in sentence.entities if is_added(e) and label in (None, e.label)]
        for sentence in filled
    ]
    right = sum(key in keys for some, keys in zip(added, gone, strict=True) for key in some)
    score = Score(right, sum(map(len, added)), sum(map(len, gone)))
    found = {"precision": score.precision, "recall": score.recall, "hidden": score.gold}
    return {"measured": found}
