"""Drawn spans: where they may be, that each is as likely as any other, and their tags."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from lacuner.corpus.tag_set import TagSet
from lacuner.corpus.tagging import decode_tags
from lacuner.errors import UsageError
from lacuner.objectives.non_entities import NonEntities, drawn_spans

FREE = np.array([1, 1, 1, 0, 1, 1, 0, 1], dtype=bool)


@pytest.mark.parametrize("max_width", [None, 2])
def test_every_span_of_free_words_is_drawn_equally_often(max_width: int | None) -> None:
    rng = np.random.default_rng(0)
    possible = [
        (start, end)
        for start in range(8)
        for end in range(start + 1, 9)
        if FREE[start:end].all() and end - start <= (max_width or 8)
    ]
    draws = 9000
    seen = Counter(drawn_spans(FREE, 1, rng, max_width)[0] for _ in range(draws))
    assert set(seen) == set(possible)
    expected = draws / len(possible)
    assert max(abs(count - expected) for count in seen.values()) < 5 * expected**0.5


def test_drawn_spans_are_free_and_apart_and_as_many_as_fit() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        count = int(rng.integers(0, 9))
        spans = drawn_spans(FREE, count, rng)
        words = [word for start, end in spans for word in range(start, end)]
        assert len(words) == len(set(words)) and FREE[words].all()
        # Fewer than asked for only where no free word is left.
        assert len(spans) == count or len(words) == FREE.sum()
    assert drawn_spans(np.zeros(4, dtype=bool), 3, rng) == []


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_drawn_spans_have_ordinary_tags_of_the_last_type(scheme: str) -> None:
    tag_set = TagSet(("A", "NON"), scheme)
    targets = torch.zeros(2, 8, dtype=torch.long)
    targets[0, 3] = 1 + tag_set.place_numbers[3]  # an entity of one word
    free = torch.from_numpy(np.stack([FREE, np.ones(8, dtype=bool)]))
    free[1, 5:] = False
    rng = torch.Generator().manual_seed(2)
    changed, drawn = NonEntities(tag_set, rate=0.3)(targets, free, torch.tensor([8, 5]), rng)
    names = [[tag_set.tags[tag] for tag in row] for row in changed.tolist()]
    found = [decode_tags(row, scheme) for row in names]
    assert not any(one.broken for one in found)
    spans = [[s for s in one.spans if s[2] == "NON"] for one in found]
    assert sum(map(len, spans)) == drawn
    assert len(spans[0]) == 3 and 1 <= len(spans[1]) <= 2  # ⌈0.3 · 8⌉, ⌈0.3 · 5⌉ if they fit
    assert (3, 4, "A") in found[0].spans
    assert not changed[~free & (targets == 0)].any()
    assert int((targets > 0).sum()) == 1  # what was given is not changed


def test_draw_comes_from_the_generator_and_rate_0_draws_nothing() -> None:
    tag_set = TagSet(("A", "NON"), "bio")
    targets, free = torch.zeros(3, 20, dtype=torch.long), torch.ones(3, 20, dtype=torch.bool)
    lengths = torch.tensor([20, 20, 20])
    draw = NonEntities(tag_set, rate=0.2)
    first, second, other = (
        draw(targets, free, lengths, torch.Generator().manual_seed(seed))[0] for seed in (1, 1, 2)
    )
    assert torch.equal(first, second) and not torch.equal(first, other)
    none, drawn = NonEntities(tag_set, rate=0.0)(targets, free, lengths, torch.Generator())
    assert not none.any() and drawn == 0


@pytest.mark.parametrize(("rate", "width"), [(-0.1, None), (1.5, None), (0.1, 0)])
def test_wrong_rates_and_widths_are_refused(rate: float, width: int | None) -> None:
    with pytest.raises(UsageError, match=r"sampling\."):
        NonEntities(TagSet(("A",), "bio"), rate=rate, max_width=width)
