"""What taggers with a CRF believe of the words that labels leave open: margins, and probabilities.

The margin of a word is the log-odds that an entity begins there. As for spans, labels that were
held back say by how much gaps shift margins (`refilling.gap_estimate`). An entity is missing once,
however many words it has, so that the offset is added where an entity begins.

Beliefs are the probabilities of all tags of all words, the mean of several taggers, kept on disk;
only rows of tags that the labels do not contradict are summed over. They need no offset: those
taggers were never taught that words which may be in an entity are O.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lacuner.corpus.sentence import Corpus, Entity, Sentence, overlap
from lacuner.corpus.tag_set import TagSet
from lacuner.inference.decode import decode_tags
from lacuner.models.allowed_tags import allowed_tags
from lacuner.models.batch import Output
from lacuner.models.batching import Examples
from lacuner.models.crf import LinearChainCrf
from lacuner.models.distribution import TINY, outputs
from lacuner.models.token_tagger import TokenTagger
from lacuner.refilling.candidates import NEARLY, Candidate, margins_from
from lacuner.refilling.gap_estimate import Booleans, Floats
from lacuner.refilling.rounds import Look
from lacuner.training.corpus_array import Array, Layout, read_array, write_array


def word_margins(model: TokenTagger, corpus: Corpus, shown: Corpus, *, batch_words: int) -> Look:
    """What a tagger says of the words of which the labels that it was shown say nothing.

    Args:
        model: The tagger.
        corpus: With all labels that were given.
        shown: With those that it learnt from.
        batch_words: Most places for words in a batch, padding included.
    """
    margins, is_held, held_back = list[Floats](), list[Booleans](), 0
    for sentence, chances in _said(model, shown.sentences, batch_words):
        given, seen = corpus.sentences[sentence], shown.sentences[sentence]
        if seen.complete:
            continue
        begins = [entity.start for entity in set(given.entities) - set(seen.entities)]
        held_back += len(begins)
        held = np.zeros(len(seen), dtype=bool)
        held[begins] = True
        is_open = ~_known(seen)
        odds = chances[:, list(_beginnings(model.tag_set))].sum(1)[is_open]
        margins.append(margins_from(np.log(np.maximum(odds, TINY))))
        is_held.append(held[is_open])
    return Look(
        np.concatenate([np.zeros(0), *margins]),
        np.concatenate([np.zeros(0, dtype=bool), *is_held]),
        held_back,
    )


def open_words(
    model: TokenTagger, shown: Corpus, offset: float, least: float, *, batch_words: int
) -> list[Booleans]:
    """Which words may be in an entity, though no label says so.

    Args:
        model: Looks at them.
        shown: What it learnt from.
        offset: Which margins need.
        least: The least probability of being in an entity.
        batch_words: Most places for words in a batch, padding included.

    Returns:
        For each sentence of the corpus.  # [words]
    """
    found: list[Booleans] = [np.zeros(len(sentence), dtype=bool) for sentence in shown]
    for number, chances in _said(model, shown.sentences, batch_words, offset):
        found[number] = 1 - chances[:, 0] >= least
    return found


def write_beliefs(
    path: Path, models: Sequence[TokenTagger], corpus: Corpus, *, batch_words: int
) -> None:
    """Writes the mean probabilities of all tags of all words.

    Args:
        path: The file.
        models: The taggers, of one tag set.
        corpus: The labels that no answer contradicts.
        batch_words: Most places for words in a batch, padding included.
    """
    layout = layout_of(corpus)
    tag_set = models[0].tag_set

    def fill(array: Array) -> None:
        for model in models:
            assert model.crf is not None
            examples = Examples(corpus.sentences, model.encoder, model.label_numbers)
            for numbers, batch, output in outputs(model, examples, batch_words=batch_words):
                allowed = allowed_tags(batch, tag_set)
                found = model.crf.marginals(output.scores, output.mask, allowed)
                layout.add(array, numbers, found / len(models))

    write_array(path, (layout.places, len(tag_set)), np.float16, fill)


def layout_of(corpus: Corpus) -> Layout:
    """Where the words of each sentence that has some stand in beliefs."""
    return Layout([len(sentence) for sentence in corpus if sentence.tokens])


def believed(path: Path, corpus: Corpus, tag_set: TagSet, offset: float) -> list[Candidate]:
    """The entities without a label that beliefs take for such, or nearly do; none over another.

    Args:
        path: The beliefs.
        corpus: The labels that were given.
        tag_set: The tags of the beliefs.
        offset: That of the gaps. It is taken off the margins of candidates, so that adding it gives
            the probabilities that are believed.
    """
    array, layout = read_array(path), layout_of(corpus)
    crf = LinearChainCrf(tag_set)  # says what may follow what, and nothing else
    found: list[Candidate] = []
    places = (number for number, sentence in enumerate(corpus) if sentence.tokens)
    for row, number in enumerate(places):
        sentence = corpus.sentences[number]
        if sentence.complete:
            continue
        chances = layout.rows(array, row).astype(np.float64)
        for start, end in _runs(chances, tag_set, crf):
            if _may_be_new(sentence, start, end):
                found += _candidates(number, start, end, chances, tag_set, offset)
    return found


def _runs(chances: Floats, tag_set: TagSet, crf: LinearChainCrf) -> Iterator[tuple[int, int]]:
    """The entities of the best row of tags, and those of the best when O counts less."""
    logs = torch.from_numpy(np.log(np.maximum(chances, TINY))).float()[None]
    mask = torch.ones(1, len(chances), dtype=torch.bool)
    nearly = logs.clone()
    nearly[:, :, 0] -= NEARLY
    taken: list[Entity] = []
    for scores in (logs, nearly):
        output = Output(scores, scores, mask)
        for entity in decode_tags(output, tag_set, crf=crf)[0]:
            if not any(overlap(entity.span, one.span) for one in taken):
                taken.append(entity)
    yield from sorted(entity.span for entity in taken)


def _candidates(
    number: int, start: int, end: int, chances: Floats, tag_set: TagSet, offset: float
) -> list[Candidate]:
    """A run of words as a candidate for its likeliest label: as likely as its weakest word."""
    first, inner, last, only = tag_set.place_numbers
    width = end - start
    places = [only] if width == 1 else [first, *[inner] * (width - 2), last]
    by_label = np.array(
        [
            min(
                chances[start + word, 1 + label * tag_set.places + place]
                for word, place in enumerate(places)
            )
            for label in range(len(tag_set.labels))
        ]
    )
    some = float(by_label.sum())
    if not some:
        return []
    best = int(by_label.argmax())
    margin = float(margins_from(np.log(some))) - offset
    certainty = float(by_label[best] / some)
    return [Candidate(number, start, end, tag_set.labels[best], margin, certainty)]


def _may_be_new(sentence: Sentence, start: int, end: int) -> bool:
    """Does nothing that is known speak of these words?"""
    return (start, end) not in sentence.rejected and not _known(sentence)[start:end].any()


def _known(sentence: Sentence) -> Booleans:
    """The words of which somebody says something.  # [words]"""
    known = np.zeros(len(sentence), dtype=bool)
    for start, end in [
        *(entity.span for entity in sentence.entities),
        *(found.span for found in sentence.ambiguous),
        *sentence.outside,
    ]:
        known[start:end] = True
    return known


def _said(
    model: TokenTagger, sentences: Sequence[Sentence], batch_words: int, offset: float = 0.0
) -> Iterator[tuple[int, Floats]]:
    """The probabilities of the tags of the words of each sentence that has some, by its number."""
    assert model.crf is not None
    examples = Examples(sentences, model.encoder, model.label_numbers)
    places = [number for number, sentence in enumerate(sentences) if sentence.tokens]
    for numbers, _, output in outputs(model, examples, batch_words=batch_words):
        scores = _lifted(output.scores, model.tag_set, offset)
        found = model.crf.marginals(scores, output.mask).double().cpu().numpy()
        for row, number in enumerate(numbers):
            place = places[number]
            yield place, found[row, : len(sentences[place])]


def _lifted(scores: Tensor, tag_set: TagSet, offset: float) -> Tensor:
    """Scores by which each entity counts more by the offset.  # [batch, words, tags]"""
    lift = scores.new_zeros(scores.shape[-1])
    lift[list(_beginnings(tag_set))] = offset
    return scores + lift


def _beginnings(tag_set: TagSet) -> tuple[int, ...]:
    """The tags that the first word of an entity has, and no other word."""
    first, _, _, only = tag_set.place_numbers
    places = sorted({first, only})
    return tuple(
        1 + label * tag_set.places + place
        for label in range(len(tag_set.labels))
        for place in places
    )
