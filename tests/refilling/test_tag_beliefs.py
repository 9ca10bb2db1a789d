"""What taggers believe, against sums over all rows of tags."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
import torch

from lacuner import Ambiguity, Corpus, Entity, Sentence
from lacuner.corpus.tagging import decode_tags
from lacuner.models.batching import Examples
from lacuner.models.distribution import outputs
from lacuner.models.token_tagger import TokenTagger
from lacuner.refilling.gap_estimate import GapEstimate
from lacuner.refilling.tag_beliefs import (
    believed,
    layout_of,
    open_words,
    word_margins,
    write_beliefs,
)
from lacuner.training.corpus_array import read_array
from tests.training.tiny_training import NoisyWords

LABELS = ("LOC", "PER")
WORDS = ("Holt", "left", "Oslo")
PLAIN = Corpus((Sentence("a", WORDS),), LABELS)
Spans = list[tuple[int, int, str]]


def _tagger(seed: int = 3, scheme: str = "bioes") -> TokenTagger:
    torch.manual_seed(seed)
    model = TokenTagger(NoisyWords(), LABELS, scheme=scheme, head="crf").eval()
    assert model.crf is not None
    torch.nn.init.normal_(model.crf.follow)
    return model


def _rows(model: TokenTagger) -> Iterator[tuple[tuple[int, ...], Spans, float]]:
    """All rows of tags of `WORDS` that the scheme allows: their entities, and their weight."""
    assert model.crf is not None
    examples = Examples(PLAIN.sentences, model.encoder, model.label_numbers)
    ((_, _, output),) = outputs(model, examples)
    tags = model.tag_set.tags
    for row in product(range(len(tags)), repeat=len(WORDS)):
        found = decode_tags([tags[tag] for tag in row], model.tag_set.scheme, repair=True)
        if not found.broken:
            with torch.no_grad():
                score = model.crf.score(output.scores, torch.tensor([row]), output.mask)
            yield row, found.spans, exp(score.item())


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_margin_is_the_log_odds_that_an_entity_begins(scheme: str) -> None:
    model = _tagger(scheme=scheme)
    rows = list(_rows(model))
    whole = sum(weight for _, _, weight in rows)
    look = word_margins(model, PLAIN, PLAIN, batch_words=100)
    for word, margin in enumerate(look.margins):
        begins = sum(w for _, spans, w in rows if any(start == word for start, _, _ in spans))
        assert margin == pytest.approx(log(begins / (whole - begins)), abs=1e-3)
    assert not look.is_held.any() and look.held_back == 0


def test_only_words_that_nothing_is_said_of_have_a_margin() -> None:
    given = Corpus(
        (
            Sentence("a", WORDS, (Entity(0, 1, "PER"), Entity(2, 3, "LOC"))),
            Sentence("empty", ()),
            Sentence("b", WORDS, outside=((1, 2),), ambiguous=(Ambiguity(2, 3, ()),)),
            Sentence("c", WORDS, (Entity(0, 1, "PER"),), complete=True),
        ),
        LABELS,
    )
    first, *rest = given.sentences
    shown = given.with_sentences([first.with_entities([Entity(0, 1, "PER")]), *rest])
    look = word_margins(_tagger(), given, shown, batch_words=100)
    assert len(look.margins) == 3  # 'left' and 'Oslo' of a, 'Holt' of b
    assert sorted(look.is_held.tolist()) == [False, False, True] and look.held_back == 1


@pytest.mark.parametrize("offset", [0.0, 1.7])
def test_words_are_open_by_their_probability_with_entities_lifted_once(offset: float) -> None:
    model = _tagger(7)
    lifted = [(row, weight * exp(offset * len(spans))) for row, spans, weight in _rows(model)]
    whole = sum(weight for _, weight in lifted)
    chances = [sum(w for row, w in lifted if row[word]) / whole for word in range(len(WORDS))]
    between = (min(chances) + max(chances)) / 2
    (found,) = open_words(model, PLAIN, offset, between, batch_words=100)
    assert found.tolist() == [chance >= between for chance in chances]
    assert found.any() and not found.all()


def test_beliefs_are_the_mean_over_rows_that_agree_with_the_labels(tmp_path: Path) -> None:
    models = [_tagger(3), _tagger(4)]
    corpus = Corpus((Sentence("empty", ()), Sentence("a", WORDS, (Entity(2, 3, "LOC"),))), LABELS)
    write_beliefs(tmp_path / "beliefs.npy", models, corpus, batch_words=100)
    mean = np.zeros((len(WORDS), len(models[0].tag_set)))
    for model in models:
        agree = [(row, w) for row, spans, w in _rows(model) if (2, 3, "LOC") in spans]
        for row, weight in agree:
            mean[range(len(WORDS)), row] += weight / sum(w for _, w in agree) / len(models)
    found = read_array(tmp_path / "beliefs.npy")
    assert found.astype(float) == pytest.approx(mean, abs=2e-3)
    assert found[2, models[0].tag_set.tags.index("S-LOC")] == pytest.approx(1, abs=2e-3)


def _beliefs(path: Path, corpus: Corpus, rows: list[dict[str, float]]) -> TokenTagger:
    """Writes beliefs by hand: the probabilities of some tags of each word, the rest being O."""
    model = _tagger()
    tags = model.tag_set.tags
    array = np.zeros((layout_of(corpus).places, len(tags)), dtype=np.float16)
    for word, row in enumerate(rows):
        for tag, chance in row.items():
            array[word, tags.index(tag)] = chance
        array[word, 0] = 1 - sum(row.values())
    np.save(path, array)
    return model


def test_candidates_are_as_likely_as_their_weakest_word(tmp_path: Path) -> None:
    words = ("Ada", "Holt", "left", "Oslo", "for", "Rome")
    corpus = Corpus((Sentence("a", words),), LABELS)
    rows = [
        {"B-PER": 0.8, "B-LOC": 0.05},
        {"E-PER": 0.6, "E-LOC": 0.2},
        {"S-LOC": 0.01},
        {"S-LOC": 0.3},
        {"S-PER": 0.02},
        {"S-LOC": 0.5, "S-PER": 0.4},
    ]
    path = tmp_path / "beliefs.npy"
    model = _beliefs(path, corpus, rows)
    found = believed(path, corpus, model.tag_set, offset=0.7)
    assert [one.key for one in found] == [(0, 2, "PER"), (3, 4, "LOC"), (5, 6, "LOC")]
    gaps = GapEstimate(0.7, 4.0, 2.0, 8.0, 12)
    chances = gaps.probabilities(np.array([one.margin for one in found]))
    assert chances == pytest.approx([0.65, 0.3, 0.9], abs=2e-3)
    assert [one.certainty for one in found] == pytest.approx([0.6 / 0.65, 1, 5 / 9], abs=2e-3)


def test_what_is_known_is_no_candidate(tmp_path: Path) -> None:
    sure = [{"S-LOC": 0.9}, {"S-LOC": 0.9}, {"S-LOC": 0.9}]
    path = tmp_path / "beliefs.npy"
    for sentence, keys in [
        (Sentence("a", WORDS), [0, 1, 2]),
        (Sentence("a", WORDS, (Entity(0, 1, "PER"),), outside=((1, 2),)), [2]),
        (Sentence("a", WORDS, rejected=((2, 3),), ambiguous=(Ambiguity(0, 1, ()),)), [1]),
        (Sentence("a", WORDS, complete=True), []),
    ]:
        corpus = Corpus((sentence,), LABELS)
        model = _beliefs(path, corpus, sure)
        found = believed(path, corpus, model.tag_set, offset=0.0)
        assert [one.start for one in found] == keys
