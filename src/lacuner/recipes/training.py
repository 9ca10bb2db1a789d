"""`lacuner.train`: a corpus and a recipe in, a recogniser and its run folder out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Corpus
from lacuner.errors import UsageError
from lacuner.files import written_aside
from lacuner.inference.predictor import Predictor
from lacuner.inference.recogniser import Recogniser, load
from lacuner.recipes import RECIPES
from lacuner.recipes.encoder_file import encoder_file_fingerprint, is_encoder_file
from lacuner.recipes.recipe import Recipe
from lacuner.recipes.stages import resolve, train_in_stages
from lacuner.suggestions import unknown_name
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Listener, Run
from lacuner.training.side_by_side import check_jobs

DEFAULT_RECIPE = "refill"


def find_recipe(name: str) -> Recipe:
    """The recipe of that name.

    Raises:
        UsageError: There is none; the message names the close ones.
    """
    if name not in RECIPES:
        raise UsageError(unknown_name("recipe", name, RECIPES))
    return RECIPES[name]


def train(
    corpus: Corpus,
    recipe: str = DEFAULT_RECIPE,
    *,
    dev: Corpus | None = None,
    out: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    listeners: Iterable[Listener] = (),
    stopped: Callable[[], bool] = lambda: False,
    hidden: Corpus | None = None,
    jobs: int = 1,
) -> Recogniser:
    """Trains a recogniser.

    Args:
        corpus: What to learn from; what it does not label is unknown.
        recipe: A name of `lacuner recipes`; the default puts missing labels back.
        dev: What the model is chosen on; without it the last one is taken.
        out: The run folder; None keeps it in a temporary place until the program ends.
        settings: Nested values in place of defaults, such as `{"training": {"epochs": 3}}`.
        resume: Go on with the run that is in `out`.
        overwrite: Replace the run that is in `out`.
        listeners: Called with the stage's name and each event of the loop; where several processes
            train together, in the main one.
        stopped: Asked after every step whether to save the state and stop.
        hidden: The same sentences with the entities that are missing in `corpus`, as `mask` gives
            them: the run then records how many of them it took for negatives. Nothing is learnt
            from them.
        jobs: How many trainings to make at once, where a recipe has several that do not depend on
            each other, such as members of an ensemble; each has its share of the threads.

    Example:
        >>> recogniser = lacuner.train(corpus, dev=dev, out="run")  # doctest: +SKIP

    Raises:
        UsageError: A recipe or setting that does not exist, or a corpus that does not fit.
    """
    chosen = find_recipe(recipe)
    check_jobs(jobs)
    resolved = resolve(chosen, settings or {})
    if not any(sentence.tokens for sentence in corpus):
        raise UsageError("The corpus has no words to learn from.")
    if not corpus.labels:
        raise UsageError("The corpus has no label, and names none: there is nothing to learn.")
    gone, absent = _in_order(hidden, corpus)
    folder = Path(out) if out is not None else on_main(_temporary_folder)
    run = Run.create(
        folder,
        recipe,
        resolved.as_dict(),
        corpus,
        dev,
        resume=resume,
        overwrite=overwrite,
        listeners=listeners,
        stopped=stopped,
        hidden=gone,
        encoder=_described_encoder(resolved.as_dict()),
        jobs=jobs,
    )
    if not on_main(lambda: run.is_finished):
        with run.replaced.given_back_on_failure():
            run.report(absent)
            predictor = train_in_stages(chosen, corpus, dev, resolved, run)
            on_main(lambda: _save(predictor, run.model_folder))
    return load(folder)


def _temporary_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="lacuner-")) / "run"


def _described_encoder(settings: Mapping[str, Any]) -> str | None:
    """What stands for the content of the file that describes the encoder, if one does."""
    name = settings.get("encoder", {}).get("name", "")
    return encoder_file_fingerprint(Path(name)) if is_encoder_file(name) else None


def _save(predictor: Predictor, folder: Path) -> None:
    with written_aside(folder, overwrite=True) as aside:
        predictor.save(aside)


def _in_order(hidden: Corpus | None, corpus: Corpus) -> tuple[Corpus | None, Findings]:
    """The hidden entities, sentence by sentence of the corpus; and sentences they do not have."""
    findings = Findings()
    if hidden is None:
        return None, findings
    if all(hidden.get(sentence.id) is None for sentence in corpus):
        raise UsageError(
            f"The hidden labels have none of the sentences of the corpus, such as "
            f"'{corpus.sentences[0].id}': they belong to another corpus."
        )
    rows = []
    for sentence in corpus:
        gone = hidden.get(sentence.id)
        if gone is None:
            findings.lose(
                "sentence that the hidden labels do not have: none counts as hidden there",
                sentence.id,
                "take the file that 'lacuner mask' wrote beside the corpus",
            )
            gone = sentence.unlabelled()
        elif sentence.tokens != gone.tokens:
            raise UsageError(
                f"The hidden labels of sentence '{sentence.id}' belong to other words than the "
                "corpus has there."
            )
        rows.append(gone)
    return hidden.with_sentences(rows), findings
