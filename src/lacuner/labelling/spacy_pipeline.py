"""Candidate phrases by a spaCy pipeline: any that sets parts of speech.

A sentence that has its text is cut by the pipeline itself, for that is how its tagger learnt;
candidates are then found again in our words. Other sentences are tagged word by word as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lacuner.corpus.sentence import Sentence, Span
from lacuner.errors import MissingExtra, UsageError
from lacuner.labelling.phrases import PhraseFinder, Tagged, candidate_phrases

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# Parts of pipelines that take long and never set a part of speech.
_NOT_NEEDED = {
    "entity_linker",
    "entity_ruler",
    "lemmatizer",
    "ner",
    "parser",
    "senter",
    "sentencizer",
    "span_ruler",
    "spancat",
    "textcat",
    "textcat_multilabel",
    "trainable_lemmatizer",
}


def spacy_phrases(pipeline: str, *, units: str = "words") -> PhraseFinder:
    """A finder of candidates that uses a spaCy pipeline.

    Args:
        pipeline: The name of an installed pipeline, or its folder.
        units: `characters` if the words of sentences without text are single characters.

    Raises:
        MissingExtra: spaCy is not installed.
        UsageError: There is no such pipeline, or it sets no parts of speech.
    """
    nlp = _loaded(pipeline)
    checked = False

    def find(sentences: Sequence[Sentence]) -> list[set[Span]]:
        nonlocal checked
        texts = [_text_and_offsets(sentence, units) for sentence in sentences]
        docs = list(nlp.pipe(_docs(nlp, sentences, [text for text, _ in texts])))
        if not checked and any(len(doc) for doc in docs):
            _check_parts(docs, pipeline)
            checked = True
        found = []
        for doc, (_, offsets) in zip(docs, texts, strict=True):
            spans = candidate_phrases([Tagged(token.text, token.pos_) for token in doc])
            found.append(spans if offsets is None else _in_words(spans, doc, offsets))
        return found

    return find


def _loaded(pipeline: str) -> Language:
    try:
        import spacy
    except ImportError:
        raise MissingExtra("Finding candidate phrases", "spacy") from None
    if not Path(pipeline).exists() and not spacy.util.is_package(pipeline):
        raise UsageError(
            f"There is no spaCy pipeline '{pipeline}' here. Install one, as in 'python -m spacy "
            "download en_core_web_sm', or give the folder of one."
        )
    try:
        nlp = spacy.load(pipeline)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"The spaCy pipeline '{pipeline}' cannot be loaded: {reason}") from None
    for name in nlp.pipe_names:
        if nlp.get_pipe_meta(name).factory in _NOT_NEEDED:
            nlp.disable_pipe(name)
    nlp.max_length = 10**9  # the limit guards parsers, which do not run here
    return nlp


def _text_and_offsets(sentence: Sentence, units: str) -> tuple[str | None, Sequence[Span] | None]:
    if sentence.text is not None and sentence.offsets is not None:
        return sentence.text, sentence.offsets
    if units != "characters":
        return None, None
    offsets, end = [], 0
    for token in sentence.tokens:
        offsets.append((end, end + len(token)))
        end += len(token)
    return "".join(sentence.tokens), offsets


def _docs(
    nlp: Language, sentences: Sequence[Sentence], texts: Sequence[str | None]
) -> Iterator[Doc]:
    from spacy.tokens import Doc

    for sentence, text in zip(sentences, texts, strict=True):
        if text is None:
            yield Doc(nlp.vocab, words=list(sentence.tokens))
        else:
            yield nlp.make_doc(text)


def _check_parts(docs: Sequence[Doc], pipeline: str) -> None:
    if not any(token.pos for doc in docs for token in doc):
        raise UsageError(
            f"The spaCy pipeline '{pipeline}' sets no parts of speech. Take one with a tagger, "
            "such as en_core_web_sm."
        )


def _in_words(spans: set[Span], doc: Any, offsets: Sequence[Span]) -> set[Span]:
    """Spans of a pipeline's tokens as spans of words, where both begin and end together."""
    first = {begin: place for place, (begin, _) in enumerate(offsets)}
    last = {end: place + 1 for place, (_, end) in enumerate(offsets)}
    found = set()
    for start, stop in spans:
        begin, end = doc[start].idx, doc[stop - 1].idx + len(doc[stop - 1])
        if begin in first and end in last:
            found.add((first[begin], last[end]))
    return found
