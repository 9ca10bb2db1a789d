"""Decoding against brute force, and its corners."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from lacuner import Corpus, Entity
from lacuner.corpus.tag_set import TagSet
from lacuner.inference.decode import decode, decode_spans, decode_tags
from lacuner.models import build_model
from lacuner.models.batch import Output
from lacuner.models.crf import LinearChainCrf
from lacuner.models.span_features import band_mask
from tests.neural import HashedWords, batch_of, output_of, sentence

LABELS = ("LOC", "PER")


def _random_output(seed: int, lengths: list[int], widths: int, scale: float = 2.0) -> Output:
    rng = torch.Generator().manual_seed(seed)
    words = max(lengths)
    mask = band_mask(torch.tensor(lengths), words, min(words, widths))
    return output_of(scale * torch.randn(*mask.shape, 3, generator=rng), mask)


def _clash(first: Entity, second: Entity, nested: bool) -> bool:
    if first.end <= second.start or second.end <= first.start:
        return False
    within = (first.start <= second.start and second.end <= first.end) or (
        second.start <= first.start and first.end <= second.end
    )
    return not (nested and within)


def _candidates(output: Output, row: int, thresholds: dict[str, float]) -> list[Entity]:
    found = []
    for start in range(output.mask.shape[1]):
        for width in range(output.mask.shape[2]):
            if output.mask[row, start, width]:
                probabilities = torch.softmax(output.scores[row, start, width].double(), 0)
                label = int(probabilities.argmax())
                score = float(probabilities[label])
                if label and score >= thresholds.get(LABELS[label - 1], 0):
                    found.append(Entity(start, start + width + 1, LABELS[label - 1], None, score))
    return found


def _greedy(candidates: list[Entity], nested: bool) -> list[Entity]:
    kept: list[Entity] = []
    for entity in sorted(candidates, key=lambda e: -(e.score or 0)):
        if not any(_clash(entity, other, nested) for other in kept):
            kept.append(entity)
    return sorted(kept, key=lambda e: (e.start, -e.end))


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from([{}, {"PER": 0.8}, {"PER": 0.6, "LOC": 1.0}, {"UNSEEN": 0.9}]),
)
def test_spans_are_chosen_greedily_by_score(
    seed: int, lengths: list[int], widths: int, nested: bool, thresholds: dict[str, float]
) -> None:
    output = _random_output(seed, lengths, widths)
    found = decode_spans(output, LABELS, nested=nested, thresholds=thresholds)
    for row, entities in enumerate(found):
        right = _greedy(_candidates(output, row, thresholds), nested)
        assert [e.key for e in entities] == [e.key for e in right]
        assert [e.score for e in entities] == pytest.approx([e.score for e in right])


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_chosen_spans_are_the_best_of_all_sets_that_do_not_clash(seed: int, nested: bool) -> None:
    """Of all sets without a clash, sorted by score, the greedy one is first in the alphabet."""
    output = _random_output(seed, [4], 3)
    candidates = _candidates(output, 0, {})
    best: list[float] = []
    for size in range(len(candidates) + 1):
        for chosen in combinations(candidates, size):
            if not any(_clash(a, b, nested) for a, b in combinations(chosen, 2)):
                best = max(best, sorted((e.score or 0.0 for e in chosen), reverse=True))
    (found,) = decode_spans(output, LABELS, nested=nested)
    assert sorted((e.score or 0.0 for e in found), reverse=True) == pytest.approx(best)


def _output_with(length: int, *spans: tuple[int, int, int, float]) -> Output:
    mask = band_mask(torch.tensor([length]), length, length)
    scores = torch.zeros(1, length, length, 3)
    scores[..., 0] = 3.0
    for start, end, label, score in spans:
        scores[0, start, end - start - 1, label] = score
    return output_of(scores, mask)


def test_nested_keeps_what_lies_within_and_drops_what_crosses() -> None:
    output = _output_with(6, (0, 4, 1, 9.0), (1, 3, 2, 8.0), (3, 5, 1, 7.0), (4, 6, 2, 6.0))
    (flat,) = decode_spans(output, LABELS)
    assert [e.key for e in flat] == [(0, 4, "LOC"), (4, 6, "PER")]
    (nested,) = decode_spans(output, LABELS, nested=True)
    assert [e.key for e in nested] == [(0, 4, "LOC"), (1, 3, "PER"), (4, 6, "PER")]


def test_span_below_its_threshold_makes_room_for_others() -> None:
    output = _output_with(3, (0, 2, 1, 6.0), (1, 3, 2, 5.0))
    assert [e.key for e in decode_spans(output, LABELS)[0]] == [(0, 2, "LOC")]
    (found,) = decode_spans(output, LABELS, thresholds={"LOC": 0.99})
    assert [e.key for e in found] == [(1, 3, "PER")]


def test_very_sure_spans_still_compete_by_score() -> None:
    output = _output_with(3, (0, 2, 1, 28.0), (1, 3, 2, 30.0))
    assert [e.key for e in decode_spans(output, LABELS)[0]] == [(1, 3, "PER")]


def test_temperature_softens_scores_and_changes_no_label() -> None:
    output = _output_with(2, (0, 1, 1, 6.0))
    ((sure,),) = decode_spans(output, LABELS)
    ((unsure,),) = decode_spans(output, LABELS, temperature=3.0)
    assert sure.key == unsure.key
    expected = torch.softmax(torch.tensor([3.0, 6.0, 0.0]) / 3, 0)[1].item()
    assert unsure.score == pytest.approx(expected)


def test_source_is_named() -> None:
    ((entity,),) = decode_spans(_output_with(1, (0, 1, 1, 6.0)), LABELS, source="run-1")
    assert entity.source == "run-1"


def _tag_scores(tag_set: TagSet, tags: list[str], sure: list[float]) -> tuple[Tensor, Tensor]:
    """Scores whose softmax gives these tags these probabilities."""
    count = len(tag_set)
    rest = [(1 - p) / (count - 1) for p in sure]
    table = torch.tensor([[r] * count for r in rest])
    for row, (tag, p) in enumerate(zip(tags, sure, strict=True)):
        table[row, tag_set.tags.index(tag)] = p
    return table.log()[None], torch.ones(1, len(tags), dtype=torch.bool)


def test_tags_become_entities_with_the_score_of_their_weakest_word() -> None:
    tag_set = TagSet(LABELS, "bio")
    tags = ["B-PER", "I-PER", "O", "B-LOC"]
    scores, mask = _tag_scores(tag_set, tags, [0.9, 0.7, 0.8, 0.6])
    (found,) = decode_tags(output_of(scores, mask), tag_set)
    assert [e.key for e in found] == [(0, 2, "PER"), (3, 4, "LOC")]
    assert [e.score for e in found] == pytest.approx([0.7, 0.6])
    (kept,) = decode_tags(output_of(scores, mask), tag_set, thresholds={"LOC": 0.65})
    assert [e.key for e in kept] == [(0, 2, "PER")]


def test_broken_rows_of_tags_are_repaired() -> None:
    tag_set = TagSet(LABELS, "bioes")
    tags = ["I-PER", "E-PER", "O", "B-LOC", "O"]
    scores, mask = _tag_scores(tag_set, tags, [0.9] * 5)
    (found,) = decode_tags(output_of(scores, mask), tag_set)
    assert [e.key for e in found] == [(0, 2, "PER"), (3, 4, "LOC")]


def test_crf_decodes_valid_rows_with_exact_scores() -> None:
    tag_set = TagSet(LABELS, "bio")
    crf = LinearChainCrf(tag_set)
    torch.manual_seed(2)
    for parameter in crf.parameters():
        nn.init.normal_(parameter)
    mask = torch.arange(6) < torch.tensor([6, 3, 1])[:, None]
    scores = 2 * torch.randn(3, 6, len(tag_set))
    found = decode_tags(output_of(scores, mask), tag_set, crf=crf)
    tags, _ = crf.viterbi(scores, mask)
    assert sum(map(len, found)) >= 3
    for row, entities in enumerate(found):
        for entity in entities:
            assert tags[row, entity.start] == tag_set.tags.index(f"B-{entity.label}")
            allowed = torch.ones(1, 6, len(tag_set), dtype=torch.bool)
            words = torch.arange(entity.start, entity.end)
            allowed[0, words] = False
            allowed[0, words, tags[row, words]] = True
            one = scores[row : row + 1], mask[row : row + 1]
            share = crf.log_partition(*one, allowed) - crf.log_partition(*one)
            assert entity.score == pytest.approx(share.exp().item(), abs=1e-4)


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("span_classifier", {"features": "endpoints"}),
        ("token_tagger", {"head": "softmax"}),
        ("token_tagger", {"head": "crf", "scheme": "bioes"}),
        ("token_tagger", {"head": "two_part", "scheme": "io"}),
    ],
)
def test_decode_serves_every_model(
    kind: str, arguments: dict[str, str], small_corpus: Corpus
) -> None:
    torch.manual_seed(0)
    model = build_model(kind, HashedWords(), LABELS, **arguments).eval()
    found = [*small_corpus.sentences, sentence(1)]
    with torch.inference_mode():
        entities = decode(model, model(batch_of(found, LABELS, model.encoder)))
    assert len(entities) == 21
    assert any(entities)
    for each, row in zip(found, entities, strict=True):
        each.with_entities(row)  # a sentence refuses spans outside of it
        assert all(e.label in LABELS and 0 <= (e.score or -1) <= 1 for e in row)


def test_model_that_finds_nothing_gives_empty_lists() -> None:
    mask = band_mask(torch.tensor([2, 1]), 2, 2)
    scores = torch.zeros(2, 2, 2, 3)
    scores[..., 0] = 5
    assert decode_spans(output_of(scores, mask), LABELS) == [[], []]
    tag_set = TagSet(LABELS)
    tags = torch.zeros(2, 2, 5)
    tags[..., 0] = 5
    words = mask[:, :, 0]
    assert decode_tags(output_of(tags, words), tag_set) == [[], []]
    assert decode_tags(output_of(tags, words), tag_set, crf=LinearChainCrf(tag_set)) == [[], []]


@pytest.mark.parametrize("head", ["softmax", "crf"])
def test_offset_of_a_tagger_is_taken_off_the_scores_of_outside(
    head: str, small_corpus: Corpus
) -> None:
    torch.manual_seed(0)
    model = build_model("token_tagger", HashedWords(), LABELS, head=head).eval()
    with torch.inference_mode():
        output = model(batch_of(small_corpus.sentences, LABELS, model.encoder))
    moved = output.scores.clone()
    moved[..., 0] -= 1.5
    expected = decode(model, output_of(moved, output.mask))
    assert decode(model, output, offset=1.5) == expected != decode(model, output)


def test_offset_finds_more_the_larger_it_is() -> None:
    model = build_model("span_classifier", HashedWords(), LABELS, max_width=3)
    output = _random_output(3, [9, 4], 3)
    words = [
        sum(entity.end - entity.start for found in entities for entity in found)
        for entities in (decode(model, output, offset=offset) for offset in (-20.0, 0.0, 20.0))
    ]
    assert words[0] == 0 < words[1] <= words[2] == 13
