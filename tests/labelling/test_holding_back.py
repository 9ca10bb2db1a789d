"""Labels held back, by mention and by name, and which of them a corpus asks for."""

from __future__ import annotations

import numpy as np
import pytest

from lacuner import Corpus, Entity, Sentence
from lacuner.demo import gold
from lacuner.labelling.holding_back import gap_unit, hold_back
from lacuner.labelling.masking import mask

CORPUS = gold("train").vouched(complete=False)


def _names(corpus: Corpus) -> set[tuple[str, str]]:
    return {(s.surface(*e.span), e.label) for s in corpus for e in s.entities}


@pytest.mark.parametrize("unit", ["mention", "name"])
def test_about_the_share_is_held_back_the_same_for_a_seed(unit: str) -> None:
    shown = hold_back(CORPUS, 0.2, 1, unit=unit)
    assert 0.7 < shown.entity_count / CORPUS.entity_count < 0.9
    assert shown == hold_back(CORPUS, 0.2, 1, unit=unit) != hold_back(CORPUS, 0.2, 2, unit=unit)
    given = {(s.id, e.key) for s in CORPUS for e in s.entities}
    assert {(s.id, e.key) for s in shown for e in s.entities} < given


def test_by_name_all_mentions_go_together() -> None:
    shown = hold_back(CORPUS, 0.3, 1, unit="name")
    gone = {
        (s.surface(*e.span), e.label)
        for s, seen in zip(CORPUS, shown, strict=True)
        for e in set(s.entities) - set(seen.entities)
    }
    assert gone and gone.isdisjoint(_names(shown))
    by_mention = hold_back(CORPUS, 0.3, 1, unit="mention")
    assert _names(by_mention) & (_names(CORPUS) - _names(shown))


def test_complete_sentences_keep_their_labels() -> None:
    complete = CORPUS.vouched()
    assert hold_back(complete, 0.5, 1) == complete
    assert gap_unit(complete) == "mention"


def test_lists_label_names_everywhere_and_chance_does_not() -> None:
    rng = np.random.default_rng(0)
    assert gap_unit(mask(CORPUS, 0.5, rng, unit="name").corpus) == "name"
    for rate in (0.1, 0.5, 0.9):
        assert gap_unit(mask(CORPUS, rate, rng, unit="mention").corpus) == "mention"
    assert gap_unit(CORPUS.unlabelled()) == "mention"


def test_a_frequent_word_with_a_wrong_label_does_not_decide() -> None:
    listed = mask(CORPUS, 0.5, np.random.default_rng(0), unit="name").corpus
    wrong = Sentence("wrong", ("The", "end"), (Entity(0, 1, "ORG"),))
    assert sum(sentence.tokens.count("The") for sentence in listed) > 50
    assert gap_unit(listed.with_sentences([*listed.sentences, wrong])) == "name"


def test_a_name_inside_another_label_is_no_gap() -> None:
    sentence = Sentence(
        "a", ("Bern", "and", "the", "Bern", "Bank"), (Entity(0, 1, "LOC"), Entity(3, 5, "ORG"))
    )
    assert gap_unit(Corpus((sentence, Sentence("b", ("Bern",), (Entity(0, 1, "LOC"),))))) == "name"
