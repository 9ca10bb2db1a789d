"""Class priors from incomplete labels: which share of words belongs to entities of each label.

No gold is asked. If a share c of the entities is labelled, whichever they are, then c of the words
that surely are entities are labelled, too, and the prior is the share of labelled words over c. The
words that surely are entities are found by models of other folds, which learn to tell labelled
words from all others: it is enough that the words they are surest of are pure. This is best-bin
estimation (Garg et al. 2021, "Mixture Proportion Estimation and PU Learning: A Modern Approach"),
with Wilson's bound on a share in place of a bound on distribution functions, which says nothing
about classes of a few per cent.

Labels are expected to be missing about as often as each other: of one that is missing more often,
the estimate is too small.

Where labels are missing by name, as a dictionary misses them, labelled names are labelled wherever
they stand: then the surest words are nearly all labelled, and the estimate is a lower bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.corpus.tagging import without_overlap
from lacuner.errors import UsageError
from lacuner.files import read_json, write_json
from lacuner.models.batching import Examples
from lacuner.models.distribution import log_probabilities, outputs
from lacuner.models.targets import tag_targets
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.cross_entropy import TagCrossEntropy
from lacuner.objectives.generalized_cross_entropy import vouched_words
from lacuner.recipes.parts import fit
from lacuner.recipes.training_settings import TrainingSettings
from lacuner.training.loop import step_seed
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Run
from lacuner.training.state import drop_result

FOLDS = 2
_LEAST_SHARE = 0.2  # of the labelled words that a bin holds at least
_ENOUGH = 1_000  # words of complete sentences from which on these tell
_FEW = 100  # labelled words below which a label is judged by all labels together
_DEVIATIONS = 1.64  # the bound holds in 19 of 20 cases

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def labelled_shares(corpus: Corpus) -> dict[str, float]:
    """The share of words that is labelled with each label, among those that nobody vouches for.

    On gold labels with `vouched(complete=False)` these are the true priors.
    """
    return _shares([sentence for sentence in corpus if not sentence.complete], corpus.labels)


def vouched_shares(corpus: Corpus) -> dict[str, float] | None:
    """The same for sentences that somebody vouches for; None where these do not tell.

    They do not where they are too few, nor where less of them is labelled than of many others that
    may miss labels: then they are text of another kind, chosen because it has no entities, say.
    """
    complete = [sentence for sentence in corpus if sentence.complete]
    others = [sentence for sentence in corpus if not sentence.complete]
    if sum(map(len, complete)) < _ENOUGH:
        return None
    shares, least = (_shares(some, corpus.labels) for some in (complete, others))
    if sum(map(len, others)) >= _ENOUGH and sum(shares.values()) < sum(least.values()):
        return None
    return shares


def _shares(sentences: Sequence[Sentence], labels: Sequence[str]) -> dict[str, float]:
    counts = dict.fromkeys(labels, 0)
    for sentence in sentences:
        entities, _ = without_overlap(sentence.entities)
        for entity in entities:
            counts[entity.label] += entity.end - entity.start
    total = max(1, sum(map(_open_words, sentences)))
    return {label: count / total for label, count in counts.items()}


def _open_words(sentence: Sentence) -> int:
    """How many words of a complete sentence are settled, or of another are not vouched for.

    Words of ambiguous spans alone are neither.
    """
    is_open = np.ones(len(sentence), dtype=bool)
    closed = () if sentence.complete else sentence.outside
    for start, end in (*closed, *(found.span for found in sentence.ambiguous)):
        is_open[start:end] = False
    for entity in sentence.entities:
        is_open[entity.start : entity.end] = True
    return int(is_open.sum())


def label_frequency(scores: Floats, labelled: Bools) -> float:
    """Which share of the entities is labelled, judged from the words that score highest.

    Of all bins "the k highest" that hold at least a fifth of the labelled words, the one counts
    whose labelled share has the highest lower bound.

    Args:
        scores: How surely each word is labelled, by a model that has not seen it.  # [words]
        labelled: Whether it is.  # [words]

    Returns:
        Between 0 and 1; 1 where nothing is labelled.
    """
    if not labelled.any():
        return 1.0
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(labelled[order])
    sizes = np.arange(1, len(hits) + 1)
    bounds = np.where(hits >= _LEAST_SHARE * hits[-1], _wilson(hits / sizes, sizes), 0.0)
    best = int(bounds.argmax())
    return float(hits[best] / sizes[best])


def _wilson(shares: Floats, sizes: NDArray[np.int64]) -> Floats:
    """The lower bound of a share that was seen in so many cases (Wilson 1927)."""
    z = _DEVIATIONS
    centre = shares + z**2 / (2 * sizes)
    spread = z * np.sqrt(shares * (1 - shares) / sizes + z**2 / (4 * sizes**2))
    bounds: Floats = (centre - spread) / (1 + z**2 / sizes)
    return bounds


def priors_from(
    chances: Floats, tags: NDArray[np.int64], labels: Sequence[str]
) -> dict[str, float]:
    """The priors of all labels.

    Args:
        chances: How surely each word has each IO tag, O first, by models that have not seen it;
            only their order within a column counts.  # [words, 1 + labels]
        tags: The tags of the words, 0 where there is no label.  # [words]
        labels: In the order of their numbers from 1.

    Returns:
        By label. A label's own frequency counts where it is above that of all labels together: the
        surest words of one label hold words of others, too, so that it can only come out too small.
    """
    together = label_frequency(-chances[:, 0], tags > 0)
    priors = {}
    for number, label in enumerate(labels, 1):
        has = tags == number
        own = label_frequency(chances[:, number], has) if has.sum() >= _FEW else 0.0
        frequency = max(own, together)
        priors[label] = min(1.0, float(has.mean()) / frequency) if has.any() else 0.0
    return priors


def estimate_priors(
    corpus: Corpus,
    new_tagger: Callable[[str], TokenTagger],
    training: TrainingSettings,
    run: Run,
    folds: int = FOLDS,
) -> dict[str, float]:
    """Estimates the priors by taggers of other folds, in stages of the run.

    Args:
        corpus: With incomplete labels; nothing else is asked.
        new_tagger: Makes a tagger with IO tags for the stage of that name.
        training: How they are trained.
        run: Where the stages are kept.
        folds: In how many parts the corpus is cut.

    Raises:
        UsageError: Too few sentences for the folds.
    """
    part = run.within("prior")
    part.hidden = None  # it is told for all sentences, and these are some
    done = part.stage("estimate")
    path = done.folder / "priors.json"
    stages = [part.stage(f"fold-{fold}") for fold in range(1, folds + 1)]
    if not on_main(lambda: done.is_finished):
        whole = corpus.with_sentences(sentence for sentence in corpus if sentence.tokens)
        cut = _folds(len(whole), folds, training.seed)
        found = []
        for numbers, stage in zip(cut, stages, strict=True):
            others = sorted(set(range(len(whole))) - set(numbers))
            model = new_tagger(stage.name)
            some = whole.with_sentences(whole.sentences[number] for number in others)
            fit(model, some, None, TagCrossEntropy(model), training, stage)
            rest = [whole.sentences[number] for number in numbers]
            found.append(_said_of(model, rest, training.batch_words))
        chances, tags = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        on_main(lambda: write_json(priors_from(chances, tags, corpus.labels), path))
        on_main(done.finish)
    for stage in stages:
        drop_result(stage)
    priors: dict[str, float] = on_main(lambda: read_json(path))
    return priors


def _folds(sentences: int, folds: int, seed: int) -> list[list[int]]:
    if not 2 <= folds <= sentences:
        raise UsageError(
            f"prior.folds is {folds}; it must be at least 2, and at most the {sentences} sentences "
            "that have words."
        )
    rng = np.random.default_rng(step_seed(seed, "prior"))
    order = rng.permutation(sentences).tolist()
    return [sorted(order[fold::folds]) for fold in range(folds)]


def _said_of(
    model: TokenTagger, sentences: Sequence[Sentence], batch_words: int
) -> tuple[Floats, NDArray[np.int64]]:
    """The ranks of all open words for each tag [words, tags], and their tags [words].

    Ranks, from 0 to 1, can be compared between models; probabilities hardly.
    """
    examples = Examples(sentences, model.encoder, model.label_numbers)
    chances: list[Any] = [np.zeros((0, len(model.tag_set)))]
    tags: list[Any] = [np.zeros(0, dtype=np.int64)]
    for _, batch, output in outputs(model, examples, batch_words=batch_words):
        targets, settled = tag_targets(batch, model.tag_set)
        words = settled & ~vouched_words(batch, targets)
        chances.append(log_probabilities(model, output)[words].double().cpu().numpy())
        tags.append(targets[words].cpu().numpy())
    rows = np.concatenate(chances)
    ranks: Floats = rows.argsort(0, kind="stable").argsort(0, kind="stable") / max(1, len(rows))
    return ranks, np.concatenate(tags)
