"""`lacuner.adapt`: text and an encoder in, a Hugging Face folder out.

The folder is an encoder for `lacuner train` and a model for `lacuner augment`. How it came about is
kept in its subfolder `adaptation`, which is a run folder: settings, metrics, and, until the end,
the state that a killed training goes on from.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from lacuner.adaptation.budget import plan_steps
from lacuner.adaptation.curve import write_curve
from lacuner.adaptation.gaps import GapExamples, Masking
from lacuner.adaptation.held_out import GapScore, hold_out, measure
from lacuner.adaptation.packing import pack
from lacuner.adaptation.settings import AdaptationSettings
from lacuner.augmentation.capitals import CapitalsHeard, write_capitals
from lacuner.corpus.sentence import Sentence
from lacuner.encoders.language_model import MaskedLanguageModel, load_language_model
from lacuner.errors import OutputExists, UsageError
from lacuner.files import written_aside
from lacuner.models.gap_filler import GapFiller
from lacuner.objectives.gap_filling import GapCrossEntropy
from lacuner.settings import as_dict, build
from lacuner.training import loop
from lacuner.training.events import Evaluation
from lacuner.training.processes import on_main, processes
from lacuner.training.run_folder import Listener, Run, Stage

RECORD = "adaptation"  # the subfolder of the run
_STAGE = "fill"
_MOST_ROWS_A_BATCH = 1024  # rows are counted by their pieces; this is for very short ones


@dataclass(frozen=True)
class Adapted:
    """What an adaptation led to.

    Attributes:
        folder: A Hugging Face folder.
        steps: Steps of training.
        before: How well gaps of held-out text were filled before.
        after: How well they are filled now.
    """

    folder: Path
    steps: int
    before: GapScore
    after: GapScore

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        before, after = self.before.as_dict(), self.after.as_dict()
        return {"folder": str(self.folder), "steps": self.steps, "before": before, "after": after}


def adapt(
    text: Iterable[Sentence],
    encoder: str | Path = "minilm",
    *,
    out: str | Path,
    settings: Mapping[str, Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    listeners: Iterable[Listener] = (),
    stopped: Callable[[], bool] = lambda: False,
) -> Adapted:
    """Trains an encoder further on text, by filling gaps; without a head it gets one.

    Args:
        text: Sentences, of which only the words are looked at: a corpus, or what
            `lacuner.stream` yields, which is not kept in memory.
        encoder: The name or folder of a Hugging Face encoder.
        out: The folder to make.
        settings: Nested values in place of the defaults of `AdaptationSettings`.
        resume: Go on with the adaptation that is in `out`.
        overwrite: Replace the adaptation that is in `out`.
        listeners: Called with the stage's name and each event of the loop.
        stopped: Asked after every step whether to save the state and stop.

    Example:
        >>> lacuner.adapt(lacuner.stream("raw.txt"), "minilm", out="my-minilm")  # doctest: +SKIP

    Raises:
        UsageError: An encoder or setting that does not exist or fit, or a text that is too short.
    """
    folder, chosen = Path(out), build(AdaptationSettings, settings or {})
    _check_precision(chosen)
    on_main(lambda: _check_output(folder, encoder, resume=resume, overwrite=overwrite))
    seed = chosen.training.seed
    torch.manual_seed(loop.step_seed(seed, "weights"))
    language_model = load_language_model(encoder, fresh_head=True)
    _freeze(language_model, chosen.freeze)
    heard = CapitalsHeard()
    room = _room(language_model, chosen.length)
    packed = pack(heard.hear(text), language_model.subwords, room)
    if not len(packed):
        raise UsageError("The text has no words to learn from.")
    rng = np.random.default_rng(loop.step_seed(seed, "held out"))
    to_learn, to_measure = hold_out(packed, chosen.held_out, rng)
    # What was there before goes only now, when nothing is left that could be refused.
    if overwrite and not resume:
        on_main(lambda: _remove(folder))
    run = _AdaptationRun(folder / RECORD, listeners=listeners, stopped=stopped)
    run.begin(
        {"recipe": "adapt", "encoder": str(encoder), **as_dict(chosen)},
        {"corpus": packed.fingerprint(), "selected_on": "held-out text"},
        resume=resume,
        overwrite=overwrite,
    )
    if on_main(lambda: run.is_finished):
        on_main(lambda: _remove_state(run))
        return _result(folder, run)
    examples = GapExamples(packed, to_learn, language_model, chosen.masking, seed)
    # Measured alike whatever the settings: every chosen piece is masked.
    plain = Masking(masked=1.0, random=0.0)
    held_out = GapExamples(packed, to_measure, language_model, plain, seed)
    _train(GapFiller(language_model), examples, held_out, chosen, run.stage(_STAGE))
    if language_model.subwords.is_uncased:
        on_main(lambda: write_capitals(heard.words(), folder))
    on_main(lambda: _finish(language_model, run, folder))
    return _result(folder, run)


class _AdaptationRun(Run):
    """The record of an adaptation, whose model is in the folder around it."""

    @property
    def is_finished(self) -> bool:
        """Is there a model?"""
        return (self.folder.parent / "config.json").exists()


def _train(
    model: GapFiller,
    examples: GapExamples,
    held_out: GapExamples,
    settings: AdaptationSettings,
    stage: Stage,
) -> None:
    training = settings.training
    model.to(processes().device)

    def score() -> tuple[float, dict[str, Any]]:
        found = measure(model, held_out, batch_pieces=training.batch_pieces)
        return -found.loss, found.as_dict()  # the loss is the finer measure to choose by

    if not stage.run.metrics():
        value, scores = on_main(score)
        stage.record(Evaluation(0, 0.0, value, False, scores))
    plan = on_main(lambda: plan_steps(model, examples, score, settings, stage.run.folder))
    arguments = {**as_dict(training), "batch_size": _MOST_ROWS_A_BATCH}
    arguments["batch_words"] = arguments.pop("batch_pieces")
    for event in loop.train(
        cast(Any, model),  # of a model the loop needs an encoder with parameters, and scores
        cast(Any, examples),  # and of examples their lengths, and batches
        GapCrossEntropy(),
        stage,
        epochs=plan.steps,  # of at least one step each
        most_steps=plan.steps,
        score=score,
        score_steps=math.ceil(plan.steps / plan.evaluations),
        **arguments,
    ):
        stage.record(event)


def _finish(model: MaskedLanguageModel, run: Run, folder: Path) -> None:
    """Writes the model; its configuration comes last, so that half a model is none."""
    write_curve(run.metrics(), run.folder / "curve.svg")
    for half_written in folder.glob(".config.json.*"):
        shutil.rmtree(half_written, ignore_errors=True)
    with written_aside(folder / "config.json", overwrite=True) as aside:
        model.save(aside.parent)
    _remove_state(run)


def _remove_state(run: Run) -> None:
    shutil.rmtree(run.folder / "stages", ignore_errors=True)


def _result(folder: Path, run: Run) -> Adapted:
    rows = [row for row in run.metrics() if "held_out_loss" in row]
    last = max(rows[1:], key=lambda row: (row["best"], row["step"]))
    return Adapted(
        folder,
        max(row["step"] for row in rows),
        *(GapScore(row["accuracy"], row["held_out_loss"]) for row in (rows[0], last)),
    )


def _check_output(folder: Path, encoder: str | Path, *, resume: bool, overwrite: bool) -> None:
    """Refuses a folder that may not be written; what is no adaptation is never removed."""
    if Path(encoder).is_dir() and folder.exists() and Path(encoder).samefile(folder):
        raise UsageError(f"{folder} is the encoder itself. Choose another folder for the output.")
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not resume and not overwrite:
        raise OutputExists(folder)
    if not (folder / RECORD).is_dir():
        wanted = "resumed" if resume else "overwritten"
        raise UsageError(f"{folder} holds no adaptation that could be {wanted}.")


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _check_precision(settings: AdaptationSettings) -> None:
    if settings.training.precision == "fp16" and processes().device.type == "cpu":
        raise UsageError("training.precision is 'fp16', which a CPU cannot do; take no or bf16.")


def _room(model: MaskedLanguageModel, length: int) -> int:
    room = min(length, model.limit or length) - model.subwords.specials
    if room < 1:
        raise UsageError(f"A row of {length} pieces has no room for text beside special ones.")
    return room


def _freeze(model: MaskedLanguageModel, what: str | int) -> None:
    model.freeze(what)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise UsageError(f"With freeze = {what} nothing is left to train.")
