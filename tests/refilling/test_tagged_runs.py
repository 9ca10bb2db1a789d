"""What a tagger takes for entities, against probabilities taken from its scores by hand."""

from __future__ import annotations

import copy
import math

import pytest
import torch

from lacuner import Ambiguity, Entity, Sentence
from lacuner.models.batching import Examples
from lacuner.models.distribution import outputs
from lacuner.models.token_tagger import TokenTagger, TwoPartHead
from lacuner.refilling.candidates import Candidate
from lacuner.refilling.tagged_runs import find_tagged, judge_by_tags
from tests.training.tiny_training import NoisyWords

WORDS = ("Holt", "left", "Bergen", "for", "Oslo")
PLAIN = Sentence("a", WORDS)


@pytest.fixture
def model() -> TokenTagger:
    """A tagger with chosen opinions: each word of `WORDS` has its own row of scores."""
    torch.manual_seed(3)
    return TokenTagger(NoisyWords(), ("LOC", "PER"), scheme="io", head="two_part")


def _teach(model: TokenTagger, entity: list[float], person: list[float]) -> None:
    """Weights by which the words are in an entity, and a person if so, with these probabilities."""
    examples = Examples([PLAIN], model.encoder, model.label_numbers)
    vectors: list[torch.Tensor] = []
    hook = model.head.register_forward_hook(lambda _, inputs, __: vectors.append(inputs[0]))
    list(outputs(model, examples))
    hook.remove()
    words = vectors[0][0]  # [words, width]
    wanted = torch.logit(torch.tensor([entity, person]))  # [2, words]
    head = model.head
    assert isinstance(head, TwoPartHead)
    with torch.no_grad():
        found = torch.linalg.lstsq(words, wanted.T).solution.T
        head.entity.weight.copy_(found[:1])
        head.label.weight.copy_(torch.stack([torch.zeros_like(found[1]), found[1]]))
        head.entity.bias.zero_()
        head.label.bias.zero_()


def _logit(chance: float) -> float:
    return math.log(chance / (1 - chance))


def _is(found: Candidate, key: tuple[int, int, str], chances: tuple[float, float]) -> None:
    """Asserts the place and label, and the probabilities of LOC and PER for the run."""
    assert found.key == key
    assert found.margin == pytest.approx(_logit(sum(chances)), rel=1e-3)
    assert found.certainty == pytest.approx(chances[key[2] == "PER"] / sum(chances), rel=1e-3)


def test_a_run_is_as_likely_as_its_weakest_word_and_those_beside_it(model: TokenTagger) -> None:
    _teach(model, [0.9, 0.8, 0.05, 0.2, 0.95], [0.9, 0.6, 0.5, 0.3, 0.1])
    first, last = find_tagged([model], [PLAIN], batch_words=100)
    # PER: 0.81, 0.48, and not the next word 0.975; LOC: 0.09, 0.32, 0.975.
    _is(first, (0, 2, "PER"), (0.09, 0.48))
    _is(last, (4, 5, "LOC"), (0.855, 0.095))


def test_words_that_are_nearly_in_an_entity_are_looked_at(model: TokenTagger) -> None:
    _teach(model, [0.9, 0.02, 0.2, 0.02, 0.02], [0.9, 0.5, 0.1, 0.5, 0.5])
    sure, nearly = find_tagged([model], [PLAIN], batch_words=100)
    _is(sure, (0, 1, "PER"), (0.09, 0.81))
    _is(nearly, (2, 3, "LOC"), (0.18, 0.02))


def test_labels_and_what_is_known_to_be_none_leave_nothing_to_find(model: TokenTagger) -> None:
    _teach(model, [0.9, 0.02, 0.9, 0.02, 0.9], [0.9, 0.5, 0.1, 0.5, 0.1])

    def found(**knowledge: object) -> list[tuple[int, int, str]]:
        sentences = [Sentence("empty", ()), Sentence("a", WORDS, **knowledge)]  # type: ignore[arg-type]
        candidates = find_tagged([model], sentences, batch_words=100)
        assert all(candidate.sentence == 1 for candidate in candidates)
        return [candidate.key for candidate in candidates]

    assert found() == [(0, 1, "PER"), (2, 3, "LOC"), (4, 5, "LOC")]
    assert found(entities=(Entity(1, 3, "PER"),)) == [(0, 1, "PER"), (4, 5, "LOC")]
    assert found(ambiguous=(Ambiguity(0, 1),)) == [(2, 3, "LOC"), (4, 5, "LOC")]
    assert found(rejected=((2, 3),)) == [(0, 1, "PER"), (4, 5, "LOC")]
    assert found(outside=((4, 5),)) == [(0, 1, "PER"), (2, 3, "LOC")]
    assert found(complete=True) == []


def test_a_part_of_a_name_has_the_whole_as_its_rival(model: TokenTagger) -> None:
    _teach(model, [0.9, 0.8, 0.02, 0.02, 0.95], [0.9, 0.9, 0.5, 0.5, 0.1])
    given = Sentence("a", WORDS, (Entity(1, 2, "PER"), Entity(4, 5, "LOC")))
    part, whole = judge_by_tags([model], [given], batch_words=100)
    # The word before is a person, too, with 0.81: the part alone is one with 0.19 at most.
    _is(part.given, (1, 2, "PER"), (0.08, 0.19))
    (rival,) = part.rivals
    _is(rival, (0, 2, "PER"), (0.08, 0.72))
    _is(whole.given, (4, 5, "LOC"), (0.855, 0.095))
    assert whole.rivals == ()
    vouched = Sentence("b", WORDS, (Entity(1, 2, "PER"),), complete=True)
    assert judge_by_tags([model], [vouched], batch_words=100) == []
    (alone,) = judge_by_tags(
        [model], [Sentence("c", WORDS, (Entity(1, 2, "PER"),), outside=((0, 1),))], batch_words=100
    )
    assert alone.rivals == ()


def test_what_several_taggers_say_is_their_mean(model: TokenTagger) -> None:
    other = copy.deepcopy(model)
    _teach(model, [0.9, 0.1, 0.1, 0.1, 0.1], [0.9, 0.5, 0.5, 0.5, 0.5])
    _teach(other, [0.5, 0.1, 0.1, 0.1, 0.1], [0.5, 0.5, 0.5, 0.5, 0.5])
    together = find_tagged([model, other], [PLAIN], batch_words=100)
    person, place = (0.9 * 0.9 + 0.5 * 0.5) / 2, (0.9 * 0.1 + 0.5 * 0.5) / 2
    _is(together[0], (0, 1, "PER"), (place, person))
