"""Two corpora of the same sentences, side by side: labels and their gold."""

from __future__ import annotations

from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.errors import LacunerError


class NotAligned(LacunerError):
    """The corpora do not hold the same sentences."""


def aligned(corpus: Corpus, gold: Corpus) -> list[tuple[Sentence, Sentence]]:
    """Each sentence with its gold: by id where the ids agree, else by order.

    Gold may have more sentences than the corpus when the ids agree.

    Raises:
        NotAligned: A sentence has no partner, or the words differ; the message says where.
    """
    partners = [gold.get(sentence.id) for sentence in corpus]
    by_id = [
        (sentence, partner)
        for sentence, partner in zip(corpus, partners, strict=True)
        if partner is not None and partner.tokens == sentence.tokens
    ]
    if len(by_id) == len(corpus):
        return by_id
    if len(corpus) != len(gold):
        raise NotAligned(
            f"The corpus has {len(corpus):,} sentences and the gold {len(gold):,}, and their ids "
            "do not agree. Both must hold the same sentences."
        )
    pairs = list(zip(corpus, gold, strict=True))
    for number, (sentence, partner) in enumerate(pairs, start=1):
        if sentence.tokens != partner.tokens:
            raise NotAligned(
                f"Sentence {number} differs: {_opening(sentence)} in the corpus, "
                f"{_opening(partner)} in the gold. Both must hold the same words."
            )
    return pairs


def _opening(sentence: Sentence) -> str:
    words = " ".join(sentence.tokens[:8])
    return f"'{words}{' …' if len(sentence) > 8 else ''}' ({len(sentence)} words)"
