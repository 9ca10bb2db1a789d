"""Class priors from incomplete labels, against the truth that was hidden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lacuner import Ambiguity, Corpus, Entity, Sentence
from lacuner.errors import UsageError
from lacuner.labelling.masking import mask
from lacuner.models.token_tagger import TokenTagger
from lacuner.recipes.class_prior import (
    estimate_priors,
    label_frequency,
    labelled_shares,
    priors_from,
    vouched_shares,
)
from lacuner.recipes.training_settings import TrainingSettings
from lacuner.training.run_folder import Run
from tests.neural import HashedWords


def _words(
    frequency: float, *, count: int = 6000, prior: float = 0.1, blur: float = 0.7, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels of words: some are entities, a share of these is labelled."""
    rng = np.random.default_rng(seed)
    is_entity = rng.random(count) < prior
    scores = 2.0 * is_entity + rng.normal(0, blur, count)
    return scores, is_entity & (rng.random(count) < frequency)


@pytest.mark.parametrize("frequency", [0.2, 0.5, 0.7, 1.0])
def test_frequency_is_found_from_scores_that_know_only_the_order(frequency: float) -> None:
    found = [label_frequency(*_words(frequency, seed=seed)) for seed in range(5)]
    assert abs(np.mean(found) - frequency) < 0.08
    scores, labelled = _words(frequency)
    assert label_frequency(np.exp(3 * scores), labelled) == label_frequency(scores, labelled)


def test_worse_scores_make_the_frequency_smaller_never_larger() -> None:
    sharp, blurred = (
        np.mean([label_frequency(*_words(0.5, blur=blur, seed=s)) for s in range(5)])
        for blur in (0.3, 2.0)
    )
    assert blurred < sharp < 0.6


def test_frequency_of_nothing_is_one() -> None:
    assert label_frequency(np.arange(4.0), np.zeros(4, dtype=bool)) == 1.0


def test_rare_label_takes_the_frequency_of_all_together() -> None:
    scores, labelled = _words(0.5)
    tags = np.where(labelled, 1, 0)
    tags[np.flatnonzero(labelled)[:12]] = 2  # a dozen words of another label
    chances = np.stack([-scores, scores, np.zeros_like(scores)], 1)
    priors = priors_from(chances, tags, ("A", "B", "C"))
    assert priors["B"] == pytest.approx(12 / len(tags) / label_frequency(scores, labelled))
    assert priors["C"] == 0.0


def test_label_that_is_hard_to_tell_from_others_takes_the_frequency_of_all() -> None:
    """Two labels, each of which a model confuses with the other, but never with O."""
    rng = np.random.default_rng(0)
    scores, labelled = _words(0.3, blur=0.2, count=20_000, prior=0.2)
    tags = np.where(labelled, rng.integers(1, 3, len(scores)), 0)
    confused = np.stack([-scores, scores, scores], 1)
    own = label_frequency(scores, tags == 1)
    assert own < 0.2  # half of the surest words are of the other label
    priors = priors_from(confused, tags, ("A", "B"))
    assert all(
        abs((tags == n).mean() / priors[label] - 0.3) < 0.05 for n, label in ((1, "A"), (2, "B"))
    )


def test_shares_are_counted_among_words_that_nobody_vouches_for() -> None:
    corpus = Corpus(
        (
            Sentence(
                "1",
                tuple("abcdefgh"),
                (Entity(0, 2, "A"), Entity(2, 3, "B")),
                outside=((3, 4),),
                ambiguous=(Ambiguity(4, 6),),
            ),
            Sentence("2", tuple("abc"), (Entity(0, 3, "A"),), complete=True),
        )
    )
    assert labelled_shares(corpus) == {"A": 2 / 5, "B": 1 / 5}
    assert labelled_shares(corpus.vouched()) == {"A": 0.0, "B": 0.0}


def test_sentences_that_somebody_vouches_for_tell_the_shares_if_they_are_many() -> None:
    gold = Sentence("1", tuple("abcde"), (Entity(0, 2, "A"),), complete=True)
    other = Sentence("0", tuple("abcde"), (Entity(0, 5, "B"),))
    many = [replace(gold, id=str(number)) for number in range(1, 201)]
    assert vouched_shares(Corpus((other, *many))) == {"A": 2 / 5, "B": 0.0}
    assert vouched_shares(Corpus((other, *many[:199]))) is None


def test_complete_sentences_say_the_share_whatever_else_they_say() -> None:
    gold = Sentence("1", tuple("abcde"), (Entity(0, 2, "A"),), outside=((2, 5),), complete=True)
    many = [replace(gold, id=str(number)) for number in range(200)]
    assert vouched_shares(Corpus(tuple(many))) == {"A": 2 / 5}


def test_complete_sentences_without_entities_do_not_speak_for_others() -> None:
    none = Sentence("0", tuple("abcde"), complete=True)
    some = Sentence("1", tuple("abcde"), (Entity(0, 1, "A"),))
    corpus = Corpus(
        tuple(replace(one, id=f"{one.id}-{n}") for one in (none, some) for n in range(200)), ("A",)
    )
    assert vouched_shares(corpus) is None
    assert vouched_shares(corpus.with_sentences(corpus.sentences[:201])) == {"A": 0.0}


def test_priors_of_masked_data_are_near_the_truth(tmp_path: Path) -> None:
    """Names that are always entities, and few words, so that even a list of words can tell them."""
    rng = np.random.default_rng(0)
    sentences = []
    for number in range(200):
        words = [f"word{word}" for word in rng.integers(0, 60, 12)]
        places = sorted(rng.choice(12, 2, replace=False).tolist())
        for place in places:
            words[place] = f"Name{rng.integers(0, 20)}"
        entities = tuple(Entity(place, place + 1, "A") for place in places)
        sentences.append(Sentence(str(number), tuple(words), entities))
    corpus = Corpus(tuple(sentences))
    truth = labelled_shares(corpus)["A"]
    masked = mask(corpus, 0.6, rng).corpus
    assert labelled_shares(masked)["A"] < 0.5 * truth
    run = Run.create(tmp_path / "run", "tiny", {}, masked, None)
    training = replace(TrainingSettings(), epochs=8, head_rate=5e-2, batch_size=16)

    def tagger(stage: str) -> TokenTagger:
        encoder = HashedWords(width=16, rows=4096)
        return TokenTagger(encoder, masked.labels, scheme="io", dropout=0.0)

    priors = estimate_priors(masked, tagger, training, run)
    assert priors["A"] == pytest.approx(truth, rel=0.25)
    assert estimate_priors(masked, tagger, training, run) == priors  # kept, not made again
    other = Run.create(tmp_path / "other", "tiny", {}, masked, None)
    with pytest.raises(UsageError, match="at least 2"):
        estimate_priors(masked, tagger, training, other, folds=1)
