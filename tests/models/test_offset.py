"""The offset: by place where places are decided one by one, once an entity where rows are."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from lacuner.corpus.tag_set import TagSet
from lacuner.corpus.tagging import decode_tags
from lacuner.inference.decode import decode
from lacuner.models.batch import Output
from lacuner.models.distribution import shifted
from lacuner.models.token_tagger import TokenTagger
from tests.neural import HashedWords, output_of

WORDS, LABELS = 4, ("A", "B")


def _model(head: str, scheme: str, *, non_entities: bool = False) -> TokenTagger:
    torch.manual_seed(5)
    model = TokenTagger(HashedWords(), LABELS, head=head, scheme=scheme, non_entities=non_entities)
    if model.crf is not None:
        torch.nn.init.normal_(model.crf.follow)
    return model


def _output(model: TokenTagger, seed: int = 0) -> Output:
    rng = torch.Generator().manual_seed(seed)
    scores = torch.randn(1, WORDS, len(model.tag_set), generator=rng)
    return output_of(scores, torch.ones(1, WORDS, dtype=torch.bool))


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_rows_of_a_crf_gain_the_offset_once_for_each_entity(scheme: str) -> None:
    model = _model("crf", scheme)
    crf, tags = model.crf, model.tag_set.tags
    assert crf is not None
    output = _output(model)
    lifted = shifted(model, output, 1.7)
    entities = set()
    for row in product(range(len(tags)), repeat=WORDS):
        found = decode_tags([tags[tag] for tag in row], scheme, repair=True)
        if found.broken:
            continue
        numbers = torch.tensor([row])
        before = crf.score(output.scores, numbers, output.mask)
        after = crf.score(lifted.scores, numbers, output.mask)
        assert (after - before).item() == pytest.approx(1.7 * len(found.spans), abs=1e-4)
        entities.add(len(found.spans))
    assert entities == set(range(WORDS + 1))


def test_non_entities_are_not_lifted() -> None:
    model = _model("crf", "bio", non_entities=True)
    output = _output(model)
    gain = shifted(model, output, 2.0).scores - output.scores
    assert gain[0, 0].tolist() == pytest.approx([0, 2, 0, 2, 0, 0, 0], abs=1e-6)


def test_offset_below_zero_counts_at_every_word() -> None:
    model = _model("crf", "bioes")
    output = _output(model)
    gain = shifted(model, output, -2.0).scores - output.scores
    assert gain[0, :, 0].tolist() == pytest.approx([2.0] * WORDS, abs=1e-6)
    assert not gain[0, :, 1:].any()


@pytest.mark.parametrize(("head", "scheme"), [("softmax", "bioes"), ("two_part", "io")])
def test_words_decided_one_by_one_have_it_taken_off_o(head: str, scheme: str) -> None:
    model = _model(head, scheme)
    output = _output(model)
    gain = shifted(model, output, 2.0).scores - output.scores
    assert gain[0, :, 0].tolist() == pytest.approx([-2.0] * WORDS, abs=1e-6)
    assert not gain[0, :, 1:].any()


def test_io_does_not_say_where_entities_begin() -> None:
    assert TagSet(LABELS, "io").beginnings == ()
    model = _model("crf", "io")
    output = _output(model)
    gain = shifted(model, output, 2.0).scores - output.scores
    assert gain[0, :, 0].tolist() == pytest.approx([-2.0] * WORDS, abs=1e-6)


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_beginnings_are_the_tags_by_which_an_entity_begins(scheme: str) -> None:
    tag_set = TagSet(LABELS, scheme)
    assert [tag_set.tags[number] for number in tag_set.beginnings] == (
        ["B-A", "B-B"] if scheme == "bio" else ["B-A", "S-A", "B-B", "S-B"]
    )


def test_a_large_offset_finds_an_entity_at_every_word() -> None:
    model = _model("crf", "bioes")
    found = decode(model, _output(model), offset=50.0)[0]
    assert [entity.span for entity in found] == [(n, n + 1) for n in range(WORDS)]
