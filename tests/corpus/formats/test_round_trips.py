"""Every format that is written gives back, when read, all that it can keep; the rest it reports."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lacuner import Corpus, Entity, Sentence, read, write
from lacuner.corpus.findings import Findings
from lacuner.corpus.formats import FORMATS
from lacuner.corpus.formats.format import Format
from lacuner.corpus.tagging import SCHEMES, runs, without_overlap
from lacuner.errors import DataError
from tests.strategies import corpora

ROUNDS = settings(deadline=None, max_examples=60)


@dataclass
class Trip:
    """A corpus after it was written and read."""

    sentences: tuple[Sentence, ...]
    labels: tuple[str, ...]
    written: Findings
    read: Findings


def trip(corpus: Corpus, name: str, **options: Any) -> Trip:
    """Writes and reads a corpus; a corpus of which nothing is left has no sentences."""
    format = FORMATS[name]
    written, found = Findings(keep_all=True), Findings(keep_all=True)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"corpus{format.suffixes[0] if format.suffixes else ''}"
        write(corpus, path, format=name, findings=written, **options)
        try:
            again = read(path, format=name, findings=found)
        except DataError as error:
            assert "there is no sentence" in str(error), error
            again = Corpus(())
    return Trip(again.sentences, again.labels, written, found)


def skip_without_extra(format: Format) -> None:
    """Skips where the package behind a format is not installed."""
    if format.extra and importlib.util.find_spec(format.extra) is None:
        pytest.skip(f"{format.name} needs the extra '{format.extra}'")


@ROUNDS
@given(corpora())
def test_lacuner_keeps_everything(corpus: Corpus) -> None:
    after = trip(corpus, "lacuner")
    assert after.sentences == corpus.sentences
    assert after.labels == corpus.labels
    assert not after.written.counts and not after.read.counts


def kept_by_tags(
    corpus: Corpus, scheme: str, unknown: str | None, respell: Callable[[str], str]
) -> list[Sentence]:
    """What files of tags can keep, derived from the definition and not from the writer."""
    kept: list[Sentence] = []
    for sentence in corpus:
        if not sentence.tokens:
            continue
        entities, dropped = without_overlap(sentence.entities)
        unsettled = [e.span for e, _ in dropped] + [a.span for a in sentence.ambiguous]
        known = [
            (sentence.complete or any(a <= i < b for a, b in sentence.outside))
            and not any(a <= i < b for a, b in unsettled)
            and not any(e.start <= i < e.end for e in entities)
            for i in range(len(sentence))
        ]
        plain = [Entity(e.start, e.end, e.label.replace(" ", "_")) for e in entities]
        kept.append(
            Sentence(
                str(len(kept) + 1),
                tuple(respell(token) for token in sentence.tokens),
                tuple(merged(plain) if scheme == "io" else plain),
                outside=tuple(runs(known)) if unknown else (),
                document=sentence.document,
            )
        )
    if not any(has_unknown(sentence) for sentence in kept):
        kept = [replace(sentence, outside=()) for sentence in kept]  # the file never says UNK
    return kept


def has_unknown(sentence: Sentence) -> bool:
    said = sum(e.end - e.start for e in sentence.entities)
    return said + sum(end - start for start, end in sentence.outside) < len(sentence)


def merged(entities: list[Entity]) -> list[Entity]:
    joined: list[Entity] = []
    for entity in entities:
        if joined and joined[-1].end == entity.start and joined[-1].label == entity.label:
            joined[-1] = replace(joined[-1], end=entity.end)
        else:
            joined.append(entity)
    return joined


def numbered_documents(sentences: list[Sentence]) -> list[Sentence]:
    number, before, renamed = 0, None, []
    for sentence in sentences:
        number += sentence.document != before
        before = sentence.document
        renamed.append(replace(sentence, document=str(number) if number else None))
    return renamed


def without_documents(sentences: list[Sentence]) -> list[Sentence]:
    return [replace(sentence, document=None) for sentence in sentences]


def in_columns(word: str) -> str:
    word = re.sub("[\0\ufeff]", "\ufffd", re.sub("[\t\r\n]", " ", word))
    return "DOCSTART" if word == "-DOCSTART-" else word


def between_spaces(word: str) -> str:
    return re.sub("[\0\ufeff]", "\ufffd", re.sub("[ \t\r\n]", "_", word))


TAGS: dict[str, tuple[Callable[[str], str], Callable[[list[Sentence]], list[Sentence]]]] = {
    "conll": (in_columns, numbered_documents),
    "pairs": (between_spaces, without_documents),
    "bond": (str, without_documents),
}


@pytest.mark.parametrize("name", TAGS)
@ROUNDS
@given(corpus=corpora(), scheme=st.sampled_from(SCHEMES), unknown=st.sampled_from([None, "UNK"]))
def test_tags_keep_words_and_flat_entities(
    name: str, corpus: Corpus, scheme: str, unknown: str | None
) -> None:
    respell, documents = TAGS[name]
    after = trip(corpus, name, scheme=scheme, unknown=unknown)
    assert list(after.sentences) == documents(kept_by_tags(corpus, scheme, unknown, respell))
    assert not after.read.counts


@pytest.mark.parametrize("name", TAGS)
@ROUNDS
@given(corpus=corpora(min_words=1))
def test_tags_report_what_they_lose(name: str, corpus: Corpus) -> None:
    respell, _ = TAGS[name]
    counts = trip(corpus, name).written.counts
    expected = Counter(
        {
            "overlapping": sum(len(without_overlap(s.entities)[1]) for s in corpus),
            "rejected span left out": sum(len(s.rejected) for s in corpus),
            "ambiguous span left out": sum(len(s.ambiguous) for s in corpus),
            "respelt": sum(respell(word) != word for s in corpus for word in s.tokens),
        }
    )
    found = Counter(
        {
            "overlapping": counts["nested entity left out"] + counts["overlapping entity left out"],
            "rejected span left out": counts["rejected span left out"],
            "ambiguous span left out": counts["ambiguous span left out"],
            "respelt": counts["characters that the file cannot hold replaced"],
        }
    )
    assert found == expected


@ROUNDS
@given(corpus=corpora())
def test_literals_keep_words_and_all_entities(corpus: Corpus) -> None:
    after = trip(corpus, "literals")
    worded = [sentence for sentence in corpus if sentence.tokens]
    assert [s.tokens for s in after.sentences] == [s.tokens for s in worded]
    assert [[e.key for e in s.entities] for s in after.sentences] == [
        [e.key for e in s.entities] for s in worded
    ]
    lost = sum(len(s.rejected) + len(s.ambiguous) + len(s.outside) for s in worded)
    assert sum(after.written.counts.values()) == lost + len(corpus) - len(worded)


@ROUNDS
@given(corpus=corpora(wild=False, min_words=1))
def test_text_keeps_the_letters_and_reports_every_entity(corpus: Corpus) -> None:
    after = trip(corpus, "text")
    assert "".join("".join(s.tokens) for s in after.sentences) == "".join(
        "".join(s.tokens) for s in corpus
    )
    assert after.written.counts["entity left out"] == corpus.entity_count


@pytest.mark.parametrize(
    "format", [format for format in FORMATS.values() if format.write], ids=lambda f: f.name
)
@settings(deadline=None, max_examples=25)
@given(corpus=corpora(min_words=1))
def test_no_entity_vanishes_or_appears_silently(format: Format, corpus: Corpus) -> None:
    skip_without_extra(format)
    after = trip(corpus, format.name)
    before, now = named_entities(corpus.sentences), named_entities(after.sentences)
    reported = after.written.counts + after.read.counts
    assert before == now or reported, (before - now, now - before)


def named_entities(sentences: tuple[Sentence, ...]) -> Counter[tuple[str, str]]:
    """How often each surface has each label, apart from what is seen by nobody."""
    return Counter(
        (entity.label, visible("".join(sentence.tokens[entity.start : entity.end])))
        for sentence in sentences
        for entity in sentence.entities
    )


def visible(text: str) -> str:
    """The text without white space and control characters, of which raw text makes no words."""
    return "".join(c for c in text if not c.isspace() and not category(c).startswith("C"))
