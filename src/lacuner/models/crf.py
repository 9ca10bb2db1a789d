"""A linear-chain CRF: scores of whole rows of tags.

The score of a row is the sum of its words' scores (the emissions) and of what each tag says about
the one before it. Everything is vectorised over the batch; words are walked one after the other.

Rows that the tagging scheme forbids score `FORBIDDEN` instead of minus infinity: as good as
impossible, and without NaN in any gradient.

A step of the sums is a product of matrices: exp(what came before) × exp(scores of neighbours), both
scaled by their largest entry. That is a tenth of the work of a log-sum-exp over all pairs of tags.
A tag that is less likely than its best rival at the same word by a factor of 10³⁰ is out of reach.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from lacuner.corpus.tag_set import TagSet

FORBIDDEN = -1e4
_LEAST = 1e-30  # the least sum that counts: far above where floats, and gradients by 1/sum, end


class _Potentials(NamedTuple):
    """What a tag says of its neighbours: first tag [tags], before × after, last tag [tags]."""

    begin: Tensor
    follow: Tensor
    end: Tensor


class LinearChainCrf(nn.Module):
    """Scores of neighbouring tags, and what follows from them.

    Emissions are [batch, words, tags]; `mask` [batch, words] says which places hold a word, the
    words of a sentence standing to the left. `allowed` [batch, words, tags], where given, keeps
    only rows that have an allowed tag at every word. `temperature` divides all scores, of words
    and of neighbours, before anything else. A sentence without words has one row of
    tags, which scores 0.

    `removed` [batch, words], where given, leaves words out of the score of every row: neither their
    emission counts nor what their tag says about the one before it. Their tag itself stays part of
    the row, for the word behind it (two-step learning, "Implementation of CRF").

    Args:
        tag_set: The tags, which say what may follow what.

    Attributes:
        begin: Scores of the first tag.  # [tags]
        follow: Scores of a tag (second index) behind another (first).  # [tags, tags]
        end: Scores of the last tag.  # [tags]
    """

    def __init__(self, tag_set: TagSet) -> None:
        super().__init__()
        tags = tag_set.tags
        self.begin = nn.Parameter(torch.zeros(len(tags)))
        self.follow = nn.Parameter(torch.zeros(len(tags), len(tags)))
        self.end = nn.Parameter(torch.zeros(len(tags)))
        # Known from the scheme, so not kept with the weights.
        self._may_begin: Tensor
        self._may_follow: Tensor
        self._may_end: Tensor
        begins = torch.tensor([tag_set.may_begin(tag) for tag in tags])
        follows = torch.tensor([[tag_set.may_follow(a, b) for b in tags] for a in tags])
        ends = torch.tensor([tag_set.may_end(tag) for tag in tags])
        self.register_buffer("_may_begin", begins, persistent=False)
        self.register_buffer("_may_follow", follows, persistent=False)
        self.register_buffer("_may_end", ends, persistent=False)

    def log_partition(
        self,
        emissions: Tensor,
        mask: Tensor,
        allowed: Tensor | None = None,
        *,
        temperature: float = 1.0,
        removed: Tensor | None = None,
    ) -> Tensor:
        """Logarithm of the sum of exp(score) over all rows of tags.  # [batch]"""
        potentials = self._potentials(temperature)
        emissions = emissions / temperature
        if removed is not None:
            emissions = emissions.masked_fill(removed[:, :, None], 0.0)
        alphas = _walk_right(_allow(emissions, allowed), mask, potentials, removed)
        return _close(alphas, mask, potentials)

    def score(
        self,
        emissions: Tensor,
        tags: Tensor,
        mask: Tensor,
        *,
        temperature: float = 1.0,
        removed: Tensor | None = None,
    ) -> Tensor:
        """The score of one row of tags a sentence.

        Args:
            emissions: Scores of words.  # [batch, words, tags]
            tags: Tag numbers; those of places without a word do not matter.  # [batch, words]
            mask: Which places hold a word.  # [batch, words]
            temperature: As everywhere here.
            removed: As everywhere here.

        Returns:
            The scores.  # [batch]
        """
        if not tags.shape[1]:
            return emissions.new_zeros(len(tags))
        potentials = self._potentials(temperature)
        counts = mask if removed is None else mask & ~removed
        summed = _running_score(emissions / temperature, tags, counts, potentials)[:, -1]
        last = tags.gather(1, _last_place(mask)[:, None])[:, 0]
        return torch.where(mask.any(1), summed + potentials.end[last], 0.0)

    def viterbi(
        self, emissions: Tensor, mask: Tensor, allowed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The best row of tags.

        Returns:
            Tag numbers, 0 where there is no word [batch, words], and their scores [batch].
        """
        batch, words, _ = emissions.shape
        potentials = self._potentials()
        steps = _allow(emissions, allowed).unbind(1)
        tags = torch.zeros(batch, words, dtype=torch.long, device=emissions.device)
        if not words:
            return tags, emissions.new_zeros(batch)
        best = potentials.begin + steps[0]  # [batch, tags]
        pointers = []
        for place in range(1, words):
            scores, pointer = (best[:, :, None] + potentials.follow).max(1)
            pointers.append(pointer)  # the best tag before each tag
            best = torch.where(mask[:, place, None], scores + steps[place], best)
        score, tag = (best + potentials.end).max(1)  # [batch]
        tags[:, -1] = tag
        for place in range(words - 1, 0, -1):
            before = pointers[place - 1].gather(1, tag[:, None])[:, 0]
            tag = torch.where(mask[:, place], before, tag)
            tags[:, place - 1] = tag
        return tags.masked_fill(~mask, 0), torch.where(mask.any(1), score, 0.0)

    def marginals(
        self,
        emissions: Tensor,
        mask: Tensor,
        allowed: Tensor | None = None,
        *,
        temperature: float = 1.0,
    ) -> Tensor:
        """The probability of each tag at each word, over all rows.

        Places without a word have probability 0.

        Returns:
            Probabilities.  # [batch, words, tags]
        """
        potentials = self._potentials(temperature)
        emissions = _allow(emissions / temperature, allowed)
        alphas = _walk_right(emissions, mask, potentials)
        betas = _walk_left(emissions, mask, potentials)
        logs = alphas + betas - _close(alphas, mask, potentials)[:, None, None]
        return logs.exp() * mask[:, :, None]

    def run_probabilities(
        self,
        emissions: Tensor,
        tags: Tensor,
        mask: Tensor,
        runs: Tensor,
        *,
        temperature: float = 1.0,
    ) -> Tensor:
        """The probability that all words of a run have the tags that they are given.

        It is exact, over all rows of tags: words of a run are not taken as independent.

        Args:
            emissions: Scores of words.  # [batch, words, tags]
            tags: A row of tags a sentence, such as the best one.  # [batch, words]
            mask: Which places hold a word.  # [batch, words]
            runs: Sentence, start and end (exclusive) of the runs.  # [runs, 3]
            temperature: As everywhere here.

        Returns:
            Probabilities.  # [runs]
        """
        potentials = self._potentials(temperature)
        emissions = emissions / temperature
        alphas = _walk_right(emissions, mask, potentials)
        betas = _walk_left(emissions, mask, potentials)
        score = _running_score(emissions, tags, mask, potentials)
        sentence, first, last = runs[:, 0], runs[:, 1], runs[:, 2] - 1
        before = alphas[sentence, first, tags[sentence, first]]
        within = score[sentence, last] - score[sentence, first]
        after = betas[sentence, last, tags[sentence, last]]
        return (before + within + after - _close(alphas, mask, potentials)[sentence]).exp()

    def _potentials(self, temperature: float = 1.0) -> _Potentials:
        return _Potentials(
            (self.begin / temperature).masked_fill(~self._may_begin, FORBIDDEN),
            (self.follow / temperature).masked_fill(~self._may_follow, FORBIDDEN),
            (self.end / temperature).masked_fill(~self._may_end, FORBIDDEN),
        )


def _allow(emissions: Tensor, allowed: Tensor | None) -> Tensor:
    return emissions if allowed is None else emissions.masked_fill(~allowed, FORBIDDEN)


def _last_place(mask: Tensor) -> Tensor:
    """The place of each sentence's last word; 0 if it has none.  # [batch]"""
    return (mask.sum(1) - 1).clamp(min=0)


def _walk_right(
    emissions: Tensor, mask: Tensor, potentials: _Potentials, removed: Tensor | None = None
) -> Tensor:
    """Log-sums over all beginnings of rows that end here with a tag.  # [batch, words, tags]

    Places after the last word repeat what stands at the last word. Emissions of removed words are
    zero, or `FORBIDDEN`.
    """
    if not emissions.shape[1]:
        return emissions
    steps, words = emissions.unbind(1), mask[:, :, None].unbind(1)
    follow, scale = _scaled(potentials.follow)
    alphas = [potentials.begin + steps[0]]
    if removed is not None:
        alphas[0] = torch.where(removed[:, :1], steps[0], alphas[0])
        free = removed[:, :, None].unbind(1)
        scales = torch.where(removed[:, :, None], 0.0, scale).unbind(1)
    for place, (step, is_word) in enumerate(zip(steps[1:], words[1:], strict=True), 1):
        if removed is None:
            moved = _log_product(alphas[-1], follow) + (step + scale)
        else:
            moved = _log_product(alphas[-1], follow, free[place]) + (step + scales[place])
        alphas.append(torch.where(is_word, moved, alphas[-1]))
    return torch.stack(alphas, 1)


def _walk_left(emissions: Tensor, mask: Tensor, potentials: _Potentials) -> Tensor:
    """Log-sums over all rests of rows behind a tag that stands here.  # [batch, words, tags]"""
    if not emissions.shape[1]:
        return emissions
    steps, words = emissions.unbind(1), mask[:, :, None].unbind(1)
    follow, scale = _scaled(potentials.follow.T)
    betas = [potentials.end.expand_as(steps[0])]
    for step, is_word in zip(steps[:0:-1], words[:0:-1], strict=True):
        moved = _log_product(step + betas[-1], follow) + scale
        betas.append(torch.where(is_word, moved, betas[-1]))
    return torch.stack(betas[::-1], 1)


def _scaled(scores: Tensor) -> tuple[Tensor, Tensor]:
    """exp(scores - largest), and the largest of them."""
    largest = scores.detach().max()
    return (scores - largest).exp(), largest


def _log_product(logs: Tensor, factors: Tensor, free: Tensor | None = None) -> Tensor:
    """log(exp(logs) × factors), without overflow.  # [batch, tags] × [tags, tags]

    Where all summands are as good as zero it is `FORBIDDEN` below the largest of `logs`. Rows that
    are `free` [batch, 1] have factors of 1: any tag goes with any tag before it.
    """
    largest = logs.detach().max(1, keepdim=True).values
    chances = (logs - largest).exp()
    sums = chances @ factors
    if free is not None:
        sums = torch.where(free, chances.sum(1, keepdim=True), sums)
    some = sums > _LEAST
    return torch.where(some, torch.where(some, sums, 1.0).log(), FORBIDDEN) + largest


def _close(alphas: Tensor, mask: Tensor, potentials: _Potentials) -> Tensor:
    """The log-partition, from what `_walk_right` found.  # [batch]"""
    if not alphas.shape[1]:
        return alphas.new_zeros(len(alphas))
    return torch.where(mask.any(1), torch.logsumexp(alphas[:, -1] + potentials.end, 1), 0.0)


def _running_score(
    emissions: Tensor, tags: Tensor, mask: Tensor, potentials: _Potentials
) -> Tensor:
    """The score of a row of tags up to each word, without its end.  # [batch, words]"""
    steps = emissions.gather(2, tags[:, :, None])[:, :, 0]
    begin = potentials.begin[tags[:, :1]]  # [batch, 1]
    follow = potentials.follow[tags[:, :-1], tags[:, 1:]]  # [batch, words - 1]
    return torch.where(mask, steps + torch.cat([begin, follow], 1), 0.0).cumsum(1)
