"""The embedded corpus: English sentences written for Lacuner, with gold labels, and a dictionary.

Six hundred sentences for training, whose gold is kept aside, 100 for dev and 200 for test; labels
PER, ORG, LOC and PRODUCT. The dictionary knows only some of the names, and a few wrong ones, as
dictionaries do. Nothing needs a download.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from lacuner.corpus.raw_text import split_words
from lacuner.corpus.sentence import Corpus, Entity, Sentence
from lacuner.files import written_aside

PARTS = ("train", "dev", "test")
LABELS = ("LOC", "ORG", "PER", "PRODUCT")

_MARKED = re.compile(r"\[([^\[\]]+)\]\(([A-Z]+)\)")


def gold(part: str) -> Corpus:
    """The sentences of `train`, `dev` or `test` with all their labels.

    Example:
        >>> gold("dev").sentences[0].id
        'dev-1'
    """
    lines = (files(__name__) / "corpus" / f"{part}.txt").read_text("utf-8").splitlines()
    sentences = (_sentence(f"{part}-{number}", line) for number, line in enumerate(lines, 1))
    return Corpus(tuple(sentences), LABELS)


def raw(part: str) -> Corpus:
    """The same sentences without labels."""
    return gold(part).unlabelled()


def names() -> dict[str, list[str]]:
    """The dictionary: the names of each label."""
    folder = files(__name__) / "names"
    return {label: (folder / f"{label}.txt").read_text("utf-8").splitlines() for label in LABELS}


def write_files(folder: Path, *, overwrite: bool = False) -> None:
    """Writes the demo as files to play with: raw text, gold as JSONL, the dictionary.

    Raises:
        OutputExists: The folder is there and `overwrite` is false.
    """
    from lacuner.corpus.reading import write

    with written_aside(folder, overwrite=overwrite) as aside:
        aside.mkdir()
        lines = "".join(f"{sentence.text}\n" for sentence in raw("train"))
        (aside / "train.txt").write_text(lines, "utf-8")
        write(gold("train"), aside / "train_gold.jsonl")
        write(gold("dev"), aside / "dev.jsonl")
        write(gold("test"), aside / "test.jsonl")
        (aside / "names").mkdir()
        for label, entries in names().items():
            (aside / "names" / f"{label}.txt").write_text("\n".join(entries) + "\n", "utf-8")


def _sentence(sentence_id: str, line: str) -> Sentence:
    """Reads `[Maren Holt](PER) left [Bergen](LOC).`"""
    text, begins = "", {}
    position = 0
    for match in _MARKED.finditer(line):
        text += line[position : match.start()]
        begins[len(text)] = (len(text) + len(match[1]), match[2])
        text += match[1]
        position = match.end()
    text += line[position:]
    tokens, offsets = zip(*split_words(text), strict=True)
    ends = {end: number for number, (_, end) in enumerate(offsets, start=1)}
    entities = tuple(
        Entity(number, ends[begins[begin][0]], begins[begin][1], source="gold")
        for number, (begin, _) in enumerate(offsets)
        if begin in begins
    )
    return Sentence(
        sentence_id, tokens, entities, complete=True, text=text, offsets=offsets,
        document=sentence_id,
    )  # fmt: skip
