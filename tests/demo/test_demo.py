"""The embedded corpus is what it says, and its dictionary has the gaps that it should."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import lacuner
from lacuner import demo
from lacuner.corpus.alignment import aligned
from lacuner.corpus.raw_text import split_sentences
from lacuner.errors import OutputExists
from lacuner.evaluation.scores import Scores, score_entities
from lacuner.labelling.compiling import compile_names
from lacuner.labelling.distant import label
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.names import Name

ALL = [sentence for part in demo.PARTS for sentence in demo.gold(part)]


def test_demo_has_its_parts() -> None:
    assert {part: len(demo.gold(part)) for part in demo.PARTS} == {
        "train": 600,
        "dev": 100,
        "test": 200,
    }
    assert all(demo.gold(part).labels == demo.LABELS for part in demo.PARTS)


def test_demo_sentences_are_all_different() -> None:
    texts = Counter(" ".join(sentence.tokens).lower() for sentence in ALL)
    assert texts.most_common(1)[0][1] == 1


def test_demo_sentences_share_no_pattern() -> None:
    frames: Counter[tuple[str, ...]] = Counter()
    for sentence in ALL:
        frame, before = [], 0
        for entity in sentence.entities:
            frame += [*sentence.tokens[before : entity.start], entity.label]
            before = entity.end
        frames[tuple([*frame, *sentence.tokens[before:]])] += 1
    assert frames.most_common(1)[0][1] == 1


def test_demo_sentences_are_of_varied_length() -> None:
    lengths = [len((sentence.text or "").split()) for sentence in ALL]
    assert min(lengths) >= 5 and max(lengths) <= 45
    assert sum(length < 10 for length in lengths) > 60
    assert sum(length > 30 for length in lengths) > 60


def test_demo_names_repeat_or_stand_alone_and_some_are_ambiguous() -> None:
    forms: dict[str, Counter[str]] = {}
    for sentence in ALL:
        for entity in sentence.entities:
            forms.setdefault(sentence.surface(*entity.span), Counter())[entity.label] += 1
    assert sum(labels.total() == 1 for labels in forms.values()) > 300
    assert sum(labels.total() >= 3 for labels in forms.values()) > 60
    assert set(forms["Jordan"]) >= {"PER", "LOC"} or set(forms["Hamilton"]) >= {"PER", "LOC"}
    assert sum(len(labels) > 1 for labels in forms.values()) >= 10


def test_demo_lines_are_one_sentence_each() -> None:
    assert all(len(split_sentences(sentence.text or "")) == 1 for sentence in ALL)


def test_demo_markup_is_fully_read() -> None:
    for sentence in ALL:
        assert sentence.text is not None
        assert not re.search(r"[\[\]]", sentence.text)
        assert sentence.complete


def test_demo_raw_text_gives_no_label_away() -> None:
    assert demo.raw("train").entity_count == 0
    assert not any(sentence.complete for sentence in demo.raw("train"))


def _dictionary_scores(part: str) -> Scores:
    names = [Name(n, kind, f"{kind}.txt") for kind, found in demo.names().items() for n in found]
    gazetteer = compile_names(names, MatchOptions(units="words"))
    gold = demo.gold(part)
    return score_entities(aligned(gold.with_sentences(label(demo.raw(part), gazetteer)), gold))


def test_demo_dictionary_has_gaps_and_errors() -> None:
    total = _dictionary_scores("train").total
    assert 0.30 <= total.recall <= 0.45
    assert 0.80 <= total.precision <= 0.97


def test_demo_files_can_be_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    demo.write_files(folder)
    assert lacuner.read(folder / "train_gold.jsonl") == demo.gold("train")
    assert len((folder / "train.txt").read_text("utf-8").splitlines()) == 600
    assert sorted(path.stem for path in (folder / "names").iterdir()) == list(demo.LABELS)
    with pytest.raises(OutputExists):
        demo.write_files(folder)
