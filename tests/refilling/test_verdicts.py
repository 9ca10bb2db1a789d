"""What a model says of labels, against probabilities taken from its scores by hand."""

from __future__ import annotations

import pytest
import torch

from lacuner import Corpus, Entity, Sentence
from lacuner.models.batching import Examples
from lacuner.models.distribution import outputs
from lacuner.models.span_classifier import SpanClassifier
from lacuner.refilling.verdicts import Verdict, judge_labels
from tests.training.tiny_training import NoisyWords

WORDS = ("Holt", "left", "Bergen", "for", "Oslo")
GIVEN = Corpus(
    (
        Sentence("empty", ()),
        Sentence("a", WORDS, (Entity(0, 1, "PER"), Entity(2, 5, "LOC"))),
        Sentence("b", WORDS, (Entity(0, 1, "PER"),), complete=True),
        Sentence("c", WORDS, (Entity(2, 3, "PER"),), outside=((3, 4),), rejected=((4, 5),)),
    ),
    ("LOC", "PER"),
)


@pytest.fixture
def model() -> SpanClassifier:
    """A model that has learnt nothing, with opinions all the same."""
    torch.manual_seed(3)
    return SpanClassifier(NoisyWords(), GIVEN.labels, max_width=3, hidden=8)


def _verdicts(model: SpanClassifier) -> list[Verdict]:
    return judge_labels([model], GIVEN.sentences, batch_words=100)


def test_margin_and_certainty_are_those_of_the_label(model: SpanClassifier) -> None:
    examples = Examples(GIVEN.sentences, model.encoder, model.label_numbers)
    scores = {n: out.scores[row] for numbers, _, out in outputs(model, examples)
              for row, n in enumerate(numbers)}  # fmt: skip
    for one in _verdicts(model):
        given = one.given
        place = given.sentence - 1  # the empty sentence has no scores
        none, loc, per = scores[place][given.start, given.end - given.start - 1].exp().tolist()
        own = loc if given.label == "LOC" else per
        assert given.certainty == pytest.approx(own / (loc + per), rel=1e-4)
        assert torch.tensor((loc + per) / none).log().item() == pytest.approx(
            given.margin, abs=1e-4
        )


def test_labels_get_a_verdict_but_those_of_complete_sentences(model: SpanClassifier) -> None:
    judged = [(one.given.sentence, *one.given.key) for one in _verdicts(model)]
    assert judged == [(1, 0, 1, "PER"), (1, 2, 5, "LOC"), (3, 2, 3, "PER")]
    model.max_width = 2
    assert len(_verdicts(model)) == 2  # it has no score for three words


def test_rivals_touch_the_label_and_are_not_known_to_be_none(model: SpanClassifier) -> None:
    seen = 0
    for seed in range(8):
        torch.manual_seed(seed)
        with torch.no_grad():
            for weights in model.head.parameters():
                weights.normal_()
        for one in _verdicts(model):
            for rival in one.rivals:
                seen += 1
                assert rival.key != one.given.key and rival.sentence == one.given.sentence
                assert rival.start < one.given.end and one.given.start < rival.end
                if rival.sentence == 3:
                    assert not rival.start <= 3 < rival.end
    assert seen


def test_of_another_sentence_and_back_from_json() -> None:
    from dataclasses import asdict

    from lacuner.refilling.candidates import Candidate

    one = Verdict(Candidate(0, 1, 2, "PER", 0.5, 0.9), (Candidate(0, 1, 3, "LOC", 1.0, 0.8),))
    assert Verdict.from_dict(asdict(one)) == one
    moved = one.of_sentence(7)
    assert moved.given.sentence == 7 and moved.rivals[0].sentence == 7
    assert moved.of_sentence(0) == one


def test_a_label_its_rivals_and_no_entity_exclude_each_other() -> None:
    from math import exp

    from lacuner.refilling.candidates import Candidate
    from lacuner.refilling.gap_estimate import GapEstimate

    gaps = GapEstimate(0.5, 40.0, 30.0, 50.0, 10)
    given = Candidate(0, 1, 2, "PER", -0.5, 0.9)
    longer, later = Candidate(0, 1, 3, "PER", 2.0, 0.8), Candidate(0, 0, 2, "LOC", 0.5, 0.8)
    relabelled = Candidate(0, 1, 2, "LOC", -0.5, 0.1)
    odds = exp(0.0), exp(2.5), exp(1.0)
    assert Verdict(given).chance(gaps) == pytest.approx(odds[0] / (1 + odds[0]))
    assert Verdict(given, (longer, later)).chance(gaps) == pytest.approx(odds[0] / (1 + sum(odds)))
    # Another label of the same span is no other place: certainty tells them apart.
    assert Verdict(given, (relabelled,)).chance(gaps) == Verdict(given).chance(gaps)
