"""A step of training: the span classifier against a bare token classifier on the same encoder.

    python -m benchmarks.training_step

MiniLM with frozen word embeddings, batches of 16 sentences of similar length as in training, all
spans up to 10 words. Every model makes the same steps on the same batches, in turns within one run.
Then one step on sentences of 64 to 512 words, each length in a process of its own. Results go to
`benchmarks/results/training_step.{json,md}`; about five minutes on two cores.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

import numpy as np
import orjson
import torch

from benchmarks.machine import process_memory
from benchmarks.neural_material import (
    RESULTS,
    THREADS,
    conll_lengths,
    machine,
    machine_line,
    sentences_of,
    table,
    write_results,
)
from benchmarks.training_step_models import BARE, KINDS, PARTS, SEED, SPAN, WIDEST, Trained
from lacuner import demo
from lacuner.models.batch import Batch
from lacuner.models.batching import Examples, shuffled_batches
from lacuner.models.label_numbers import number_labels

BATCHES, BATCH_SIZE = 12, 16
LONG, LONG_BATCH, LONG_STEPS = (64, 128, 256, 512), 4, 4
TARGET = 1.15


def batches(examples: Examples) -> list[Batch]:
    """As training draws them; a few, from the shortest sentences to the longest."""
    numbers = shuffled_batches(
        examples.lengths,
        BATCH_SIZE,
        np.random.default_rng(SEED),
        max_words=4096,
        sizes=examples.sizes,
    )
    numbers.sort(key=lambda each: sum(examples.lengths[number] for number in each))
    step = len(numbers) // BATCHES
    return [examples.batch(each) for each in numbers[step // 2 :: step]]


def compare(rounds: int) -> dict[str, Any]:
    """All models in turns on the same batches."""
    sentences = sentences_of(conll_lengths(BATCH_SIZE * 4 * BATCHES, SEED), SEED)
    trained = {name: Trained(name) for name in KINDS}
    examples = Examples(sentences, trained[SPAN].model.encoder, number_labels(demo.LABELS))
    drawn = batches(examples)
    for each in trained.values():
        each.step(drawn[0])
    times = {name: np.zeros((rounds, len(drawn))) for name in KINDS}
    parts: dict[str, list[dict[str, float]]] = {BARE: [], SPAN: []}
    for turn in range(rounds):
        for place, batch in enumerate(drawn):
            for name in list(KINDS) if turn % 2 else reversed(KINDS):
                times[name][turn, place] = trained[name].step(batch)
        print(f"… round {turn + 1} of {rounds}", flush=True)
    for _ in range(max(1, rounds // 3)):
        for batch in drawn:
            for name, rows in parts.items():
                rows.append(trained[name].parts(batch))
    paired = (times[SPAN] / times[BARE]).flatten()
    return {
        "batches": len(drawn),
        "rounds": rounds,
        "words_a_sentence": round(_mean_words(drawn), 1),
        "milliseconds": {name: _milliseconds(of) for name, of in times.items()},
        "ratio": {
            name: round(_milliseconds(of) / _milliseconds(times[BARE]), 3)
            for name, of in times.items()
        },
        "paired_quartiles": [round(float(value), 3) for value in quantiles(paired, n=4)],
        "parts": {
            name: {part: round(1000 * median(row[part] for row in rows), 2) for part in PARTS}
            for name, rows in parts.items()
        },
        "collating_milliseconds": round(1000 * _collating(examples), 2),
    }  # fmt: skip


def _mean_words(drawn: list[Batch]) -> float:
    return float(torch.cat([batch.lengths for batch in drawn]).float().mean())


def _milliseconds(times: Any) -> float:
    """A step on the mean batch: each batch's median over the rounds."""
    return round(1000 * float(np.median(times, axis=0).mean()), 2)


def _collating(examples: Examples) -> float:
    begin = perf_counter()
    made = batches(examples)
    return (perf_counter() - begin) / len(made)


def one_length(words: int) -> dict[str, float]:
    """Time and memory of a step on long sentences, in this process."""
    trained = Trained(SPAN)
    examples = Examples(
        sentences_of([8] * LONG_BATCH + [words] * LONG_BATCH, SEED),
        trained.model.encoder,
        number_labels(demo.LABELS),
    )
    short, long = (examples.batch(range(begin, begin + LONG_BATCH)) for begin in (0, LONG_BATCH))
    trained.step(short)  # gradients and the optimiser's state are there from now on
    Path("/proc/self/clear_refs").write_text("5")  # the peak of memory counts from here
    base = process_memory("VmRSS")
    seconds = median([trained.step(long) for _ in range(1 + LONG_STEPS)][1:])
    return {
        "words": words,
        "pieces": int(long.inputs["attention"].sum()) // LONG_BATCH,
        "milliseconds": round(1000 * seconds, 1),
        "base_mb": round(base, 1),
        "peak_above_base_mb": round(process_memory("VmHWM") - base, 1),
    }


def growth(rounds: int) -> dict[str, Any]:
    """Each length in a process of its own, the lengths in turns."""
    found: dict[int, list[dict[str, float]]] = {words: [] for words in LONG}
    for turn in range(rounds):
        for words in LONG if turn % 2 else LONG[::-1]:
            run = subprocess.run(
                [sys.executable, "-m", "benchmarks.training_step", "--words", str(words)],
                stdout=subprocess.PIPE,
                check=True,
            )
            found[words].append(orjson.loads(run.stdout))
        print(f"… long sentences, round {turn + 1} of {rounds}", flush=True)
    rows = [{key: median(row[key] for row in of) for key in of[0]} for of in found.values()]
    first, last = rows[0], rows[-1]
    return {
        "batch": LONG_BATCH,
        "rounds": rounds,
        "words": round(last["words"] / first["words"], 2),
        "time": round(last["milliseconds"] / first["milliseconds"], 2),
        "memory": round(last["peak_above_base_mb"] / first["peak_above_base_mb"], 2),
        "lengths": rows,
    }


def as_markdown(results: dict[str, Any]) -> str:
    """The results as tables, ratios first."""
    compared, grown = results["compared"], results["growth"]
    ratio, quartiles = compared["ratio"][SPAN], compared["paired_quartiles"]
    times = grown["words"]
    lines = [
        "# A step of training",
        "",
        "Written by `python -m benchmarks.training_step`. A step is forward, loss, backward, clip "
        "and fused AdamW; MiniLM with frozen word embeddings, the shape of words at its input.",
        "",
        *table(
            ("what", "target", "measured", "met"),
            [
                ("step of the span classifier / of a bare token classifier", f"≤ {TARGET}",
                 f"{ratio} (single pairs: quartiles {', '.join(map(str, quartiles))})",
                 _met(ratio <= TARGET)),
                (f"time of a step, 512 words / 64 words ({times:g} times the words)",
                 f"≤ {times:g}", grown["time"], _met(grown["time"] <= times)),
                ("peak memory of a step above that of the model, 512 words / 64 words",
                 f"≤ {times:g}", grown["memory"], _met(grown["memory"] <= times)),
            ],
        ),
        "",
        f"## All heads, batches of {BATCH_SIZE}",
        "",
        f"{compared['batches']} batches of sentences of similar length, as in training, mean "
        f"{compared['words_a_sentence']} words (see `benchmarks/neural_material.py`: words of the "
        "embedded corpus, lengths like CoNLL-2003's), all spans up to "
        f"{WIDEST} words; each batch's median of {compared['rounds']} rounds, models in turns; "
        f"seed {SEED}.",
        "",
        *table(
            ("model", "times the bare one", "ms a step"),
            [(name, compared["ratio"][name], compared["milliseconds"][name]) for name in KINDS],
        ),
        "",
        "## Where the time of a step goes, in ms",
        "",
        *table(
            ("part", *compared["parts"]),
            [(part, *(of[part] for of in compared["parts"].values())) for part in PARTS],
        ),
        "",
        f"Medians over the batches. Making the tensors of a batch, "
        f"{compared['collating_milliseconds']} ms, is not part of a step here.",
        "",
        "## Long sentences",
        "",
        f"The span classifier, {grown['batch']} sentences a batch, each length in "
        f"{grown['rounds']} processes of its own, medians. More than 512 pieces "
        "are read in windows that overlap.",
        "",
        *table(
            ("words", "pieces read", "ms a step", "MB above the base", "MB of the base"),
            [
                (row["words"], row["pieces"], row["milliseconds"], row["peak_above_base_mb"],
                 row["base_mb"])
                for row in grown["lengths"]
            ],
        ),
        "",
        machine_line(results["machine"]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _met(is_met: bool) -> str:
    return "yes" if is_met else "no"


def main() -> None:
    """Runs everything, or one length for the process above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--words", type=int, help="measure only this length, in this process")
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(THREADS)
    if given.words:
        sys.stdout.buffer.write(orjson.dumps(one_length(given.words)))
        return
    results = {
        "machine": machine(),
        "growth": growth(max(1, given.rounds // 3)),
        "compared": compare(given.rounds),
    }
    write_results("training_step", results, as_markdown(results), given.results)


if __name__ == "__main__":
    main()
