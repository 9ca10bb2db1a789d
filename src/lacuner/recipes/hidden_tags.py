"""What models think of the tags that labels leave open, kept on disk from one round to the next.

A model is asked about sentences that it did not learn from; its answer never contradicts their
labels, for only allowed tags are summed or searched over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lacuner.corpus.sentence import Corpus, Entity, Sentence
from lacuner.corpus.tag_set import TagSet
from lacuner.corpus.tagging import decode_tags
from lacuner.models.allowed_tags import allowed_tags
from lacuner.models.batch import Batch, Output
from lacuner.models.batching import Examples
from lacuner.models.distribution import TINY, outputs
from lacuner.models.token_tagger import TokenTagger
from lacuner.training.corpus_array import Array, Layout, read_array, write_array


@dataclass(frozen=True)
class Asked:
    """A model that is asked about sentences.

    Attributes:
        model: The model.
        offset: With which it decides: taken off its scores of O.
        numbers: The numbers of the sentences.
    """

    model: TokenTagger
    offset: float
    numbers: Sequence[int]


class HiddenTags:
    """Guesses of the tags of all words of a corpus.

    Args:
        corpus: The sentences, each with a word, and their labels.
        tag_set: The tags.
        soft: Keep the probabilities of all tags instead of the best row.
        batch_words: Most places for words in a batch, padding included.
    """

    def __init__(self, corpus: Corpus, tag_set: TagSet, *, soft: bool, batch_words: int) -> None:
        self._corpus = corpus
        self._tag_set = tag_set
        self._soft = soft
        self._batch_words = batch_words
        self._layout = Layout([len(sentence) for sentence in corpus])

    def write(self, path: Path, asked: Sequence[Asked]) -> None:
        """Asks models about their sentences, and keeps the answers in one file.

        Args:
            path: The file.
            asked: Models and sentences; together they hold every sentence once.
        """

        def fill(array: Array) -> None:
            for one in asked:
                self._ask(one.model, one.offset, one.numbers, array)

        places = self._layout.places
        if self._soft:
            write_array(path, (places, len(self._tag_set)), np.float16, fill)
        else:
            write_array(path, (places,), np.int16, fill)

    def _ask(self, model: TokenTagger, offset: float, numbers: Sequence[int], array: Array) -> None:
        assert model.crf is not None
        sentences = [self._corpus.sentences[number] for number in numbers]
        examples = Examples(sentences, model.encoder, model.label_numbers)
        said = outputs(model, examples, batch_words=self._batch_words, offset=offset)
        for some, batch, output in said:
            allowed = allowed_tags(batch, self._tag_set)
            if self._soft:
                found = model.crf.marginals(output.scores, output.mask, allowed)
            else:
                found, _ = model.crf.viterbi(output.scores, output.mask, allowed)
            self._layout.scatter(array, [numbers[number] for number in some], found)

    def as_corpus(self, path: Path) -> Corpus:
        """The corpus with the best rows in place of its labels, as if they were complete.

        An entity on a span that somebody rejected is left out.
        """
        tags = np.asarray(read_array(path))
        begins = np.cumsum([0, *(len(sentence) for sentence in self._corpus)]).tolist()
        return self._corpus.with_sentences(
            self._labelled(sentence, tags[begins[number] : begins[number + 1]].tolist())
            for number, sentence in enumerate(self._corpus)
        )

    def _labelled(self, sentence: Sentence, tags: list[int]) -> Sentence:
        names = [self._tag_set.tags[tag] for tag in tags]
        entities = [
            Entity(start, end, label)
            for start, end, label in decode_tags(names, self._tag_set.scheme).spans
            if (start, end) not in sentence.rejected
        ]
        return Sentence(sentence.id, sentence.tokens, tuple(entities), complete=True)

    def beliefs(self, path: Path, numbers: Sequence[int]) -> SoftTags:
        """The probabilities of a file, for a training on these sentences."""
        return SoftTags(read_array(path), self._layout, numbers)


class SoftTags:
    """For a batch, logarithms of how probable each tag of each word is.

    Args:
        array: Probabilities of the tags of all words.  # [places, tags]
        layout: Where the words of each sentence stand in it.
        numbers: The numbers, in that layout, of the sentences that are learnt from.
    """

    def __init__(self, array: Array, layout: Layout, numbers: Sequence[int]) -> None:
        self._array, self._layout, self._numbers = array, layout, numbers

    def __call__(self, output: Output, batch: Batch) -> Tensor:
        """[batch, words, tags]"""
        numbers = [self._numbers[number] for number in batch.numbers]
        found = self._layout.gather(self._array, numbers, output)
        return torch.log(found.clamp(min=TINY))
