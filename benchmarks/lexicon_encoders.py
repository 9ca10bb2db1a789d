"""Encoders with a lexicon: training speed against the plain encoder, memory, matching.

    python -m benchmarks.lexicon_encoders DATA --transformer FOLDER --lexicon FOLDER

DATA is the folder of corpora (Weibo and Resume of it); the transformer is m3e-small and the lexicon
that of `benchmarks.lexicon_material`, see README.md. A token tagger with a CRF is trained on the
same batches of Weibo with each encoder, in turns within one run; a step includes making the tensors
of its batch, and its time is that of the processor on one thread, so that other work on the machine
does not count. Then the memory of a step of `flat_lattice` on 10 sentences of 300 characters, in a
process of its own, and the lexicon matched on a million characters. Results go to
`benchmarks/results/lexicon_encoders.{json,md}`; about three minutes.
"""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
from pathlib import Path
from statistics import quantiles
from time import perf_counter, process_time
from typing import Any

import numpy as np
import orjson
import torch
from torch import nn

from benchmarks.machine import process_memory
from benchmarks.neural_material import RESULTS, machine, machine_line, table, write_results
from lacuner.corpus.reading import read
from lacuner.corpus.sentence import Corpus, Sentence
from lacuner.encoders import build_encoder
from lacuner.encoders.lexicon import Lexicon, word_slots
from lacuner.encoders.lexicon_compiling import open_lexicon
from lacuner.models.batching import Examples, shuffled_batches
from lacuner.models.token_tagger import TokenTagger
from lacuner.objectives.cross_entropy import CrfLikelihood
from lacuner.training.loop import make_optimiser

SEED, BATCHES, BATCH_SIZE = 1, 4, 16
LONG, LONG_BATCH = 300, 10
PLAIN = {"lexicon_bert": "transformer", "word_fusion": "transformer", "flat_lattice": "bilstm"}
KINDS = ("transformer", "lexicon_bert", "word_fusion", "bilstm", "flat_lattice")
LEAST, MOST_MB, MOST_SECONDS = 0.6, 1500, 10


class Trained:
    """A tagger over an encoder, with all that a step of training needs."""

    def __init__(self, kind: str, corpus: Corpus, given: argparse.Namespace) -> None:
        torch.manual_seed(SEED)
        arguments: dict[str, Any] = {}
        if kind in ("transformer", "lexicon_bert", "word_fusion"):
            arguments["freeze"] = "embeddings"
        else:
            arguments["vectors"] = str(given.data / "embeddings" / "zh_char_100d.model")
        if kind in PLAIN:
            arguments["lexicon"] = str(given.lexicon)
        if kind in ("lexicon_bert", "word_fusion"):
            arguments["transformer"] = str(given.transformer)
        name = str(given.transformer) if kind == "transformer" else kind
        encoder = build_encoder(name, corpus.sentences, **arguments)
        self.model = TokenTagger(encoder, corpus.labels, scheme="bioes", head="crf")
        self.objective, self.rng = CrfLikelihood(self.model), torch.Generator()
        self.optimiser = make_optimiser(self.model, 1.5e-4, 1e-3, 0.01)
        self.model.train()
        self.corpus = corpus

    def examples(self, sentences: tuple[Sentence, ...]) -> Examples:
        """The sentences, tokenised and matched."""
        return Examples(sentences, self.model.encoder, self.model.label_numbers)

    def step(self, examples: Examples, numbers: list[int]) -> float:
        """Seconds of the processor for a step, as the loop makes it."""
        begin = process_time()
        batch = examples.batch(numbers)
        loss: Any = self.objective(self.model(batch), batch, self.rng).total
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return process_time() - begin


def weibo(data: Path) -> Corpus:
    """The training sentences of Weibo."""
    return read(data / "weibo" / "train.char.bmes").vouched()


def speed(given: argparse.Namespace) -> dict[str, Any]:
    """All encoders in turns on the same batches."""
    corpus = weibo(given.data)
    trained = {kind: Trained(kind, corpus, given) for kind in KINDS}
    examples = {kind: each.examples(corpus.sentences) for kind, each in trained.items()}
    lengths = examples["bilstm"].lengths
    drawn = shuffled_batches(lengths, BATCH_SIZE, np.random.default_rng(SEED), max_words=4096)
    drawn.sort(key=lambda numbers: sum(lengths[number] for number in numbers))
    step = len(drawn) // BATCHES
    drawn = drawn[step // 2 :: step]
    words = np.array([sum(lengths[number] for number in numbers) for numbers in drawn])
    times = {kind: np.zeros((given.rounds, len(drawn))) for kind in KINDS}
    for kind, each in trained.items():
        each.step(examples[kind], drawn[0])
    for turn in range(given.rounds):
        for place, numbers in enumerate(drawn):
            for kind in KINDS if turn % 2 else reversed(KINDS):
                times[kind][turn, place] = trained[kind].step(examples[kind], numbers)
        print(f"… round {turn + 1} of {given.rounds}", flush=True)
    # Each batch's median over the rounds, then words a second over all batches.
    rates = {kind: words.sum() / np.median(of, axis=0).sum() for kind, of in times.items()}
    paired = {
        kind: [round(float(q), 2) for q in quantiles((times[plain] / times[kind]).flatten(), n=4)]
        for kind, plain in PLAIN.items()
    }
    return {
        "rounds": given.rounds,
        "batches": len(drawn),
        "characters_a_batch": round(float(words.mean()), 1),
        "characters_a_second": {kind: round(float(rate), 1) for kind, rate in rates.items()},
        "of_the_transformer": {
            kind: round(float(rates[kind] / rates["transformer"]), 3) for kind in KINDS
        },
        "of_the_bilstm": {kind: round(float(rates[kind] / rates["bilstm"]), 3) for kind in KINDS},
        "paired_quartiles": paired,
    }


def long_lattice(given: argparse.Namespace) -> dict[str, Any]:
    """Memory of a step on long sentences, in this process."""
    corpus = weibo(given.data)
    characters = [token for sentence in corpus for token in sentence.tokens]
    long = tuple(
        Sentence(str(number), tuple(characters[number * LONG : (number + 1) * LONG]))
        for number in range(LONG_BATCH)
    )
    trained = Trained("flat_lattice", corpus, given)
    short = trained.examples(corpus.sentences)
    trained.step(short, [0])  # gradients and the optimiser's state are there from now on
    examples = trained.examples(long)
    spans = int(examples.batch(range(LONG_BATCH)).inputs["heads"].shape[1])
    Path("/proc/self/clear_refs").write_text("5")  # the peak of memory counts from here
    base = process_memory("VmRSS")
    seconds = min(trained.step(examples, list(range(LONG_BATCH))) for _ in range(3))
    return {
        "characters": LONG,
        "batch": LONG_BATCH,
        "spans": spans,
        "seconds": round(seconds, 2),
        "base_mb": round(base),
        "peak_above_base_mb": round(process_memory("VmHWM") - base),
    }


def matching(given: argparse.Namespace) -> dict[str, Any]:
    """The lexicon matched on a million characters."""
    lexicon = open_lexicon(given.lexicon, units="characters")
    begin = perf_counter()
    Lexicon.load(lexicon.folder)
    mapped = perf_counter() - begin
    texts = [
        sentence.tokens
        for corpus in ("weibo", "resume")
        for part in ("train", "dev", "test")
        for sentence in read(given.data / corpus / f"{part}.char.bmes")
    ]
    sentences: list[Sentence] = []
    characters = 0
    while characters < 1_000_000:  # a number at the end makes each of them new
        for tokens in texts:
            sentences.append(Sentence(str(len(sentences)), (*tokens, str(len(sentences)))))
            characters += len(sentences[-1])
    begin, used = perf_counter(), process_time()
    found = lexicon.find(sentences)
    slots = [word_slots(each, len(s), 5) for each, s in zip(found, sentences, strict=True)]
    return {
        "words": len(lexicon),
        "characters": characters,
        "seconds": round(perf_counter() - begin, 2),
        "seconds_of_the_processor": round(process_time() - used, 2),
        "found_a_character": round(sum(len(each.number) for each in found) / characters, 2),
        "words_over_a_character": round(sum(int((s > 0).sum()) for s in slots) / characters, 2),
        "mapping_seconds": round(mapped, 2),
    }


def as_markdown(results: dict[str, Any]) -> str:
    """The results as tables, ratios first."""
    fast, long, matched = results["speed"], results["long_lattice"], results["matching"]
    by_plain = {"transformer": fast["of_the_transformer"], "bilstm": fast["of_the_bilstm"]}
    rows = []
    for kind, plain in PLAIN.items():
        ratio = by_plain[plain][kind]
        quartiles = ", ".join(map(str, fast["paired_quartiles"][kind]))
        rows.append((f"characters a second of {kind} / of the plain {plain}", f"≥ {LEAST}",
                     f"{ratio} (single pairs: quartiles {quartiles})",
                     _met(ratio >= LEAST)))  # fmt: skip
    rows += [
        (f"memory of a step of flat_lattice, {long['batch']} sentences of {long['characters']} "
         "characters, above that of the model", f"≤ {MOST_MB} MB",
         f"{long['peak_above_base_mb']} MB", _met(long["peak_above_base_mb"] <= MOST_MB)),
        (f"{matched['words']:,} words matched on {matched['characters']:,} characters",
         f"< {MOST_SECONDS} s", f"{matched['seconds']} s", _met(matched["seconds"] < MOST_SECONDS)),
    ]  # fmt: skip
    lines = [
        "# Encoders with a lexicon",
        "",
        "Written by `python -m benchmarks.lexicon_encoders`. A step is the making of its tensors, "
        "forward, CRF, backward, clip and fused AdamW.",
        "",
        *table(("what", "target", "measured", "met"), rows),
        "",
        "## Speed of training",
        "",
        f"{fast['batches']} batches of {BATCH_SIZE} sentences of Weibo, mean "
        f"{fast['characters_a_batch']} characters, from short to long; each batch's median of "
        f"{fast['rounds']} rounds, encoders in turns. The transformer (m3e-small, word embeddings "
        "frozen) is that within `lexicon_bert` and `word_fusion`; `bilstm` and `flat_lattice` "
        "begin with the same vectors of characters. Seconds are those of the processor, on one "
        "thread.",
        "",
        *table(
            ("encoder", "of the plain transformer", "of the BiLSTM", "characters a second"),
            [
                (kind, by_plain["transformer"][kind], by_plain["bilstm"][kind],
                 fast["characters_a_second"][kind])
                for kind in KINDS
            ],
        ),
        "",
        "## The rest",
        "",
        f"The long lattices have {long['spans']} spans each (characters and words); a step takes "
        f"{long['seconds']} s, and the model with its optimiser {long['base_mb']} MB before it.",
        f"Matching used {matched['seconds_of_the_processor']} s of the processor: "
        f"{matched['found_a_character']} words a character were found, "
        f"{matched['words_over_a_character']} lie over each. A compiled lexicon is mapped and "
        f"checked in {matched['mapping_seconds']} s.",
        "",
        machine_line(results["machine"]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _met(is_met: bool) -> str:
    return "yes" if is_met else "no"


def main() -> None:
    """Runs everything, or the long lattices for the process above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--transformer", type=Path, required=True)
    parser.add_argument("--lexicon", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", action="store_true", help="only the memory, in this process")
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    logging.getLogger("lacuner").setLevel(logging.ERROR)
    if given.long:
        sys.stdout.buffer.write(orjson.dumps(long_lattice(given)))
        return
    results = {"machine": machine(), "matching": matching(given)}
    command = [sys.executable, "-m", "benchmarks.lexicon_encoders", *sys.argv[1:], "--long"]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    results["long_lattice"] = orjson.loads(run.stdout)
    results["speed"] = speed(given)
    write_results("lexicon_encoders", results, as_markdown(results), given.results)


if __name__ == "__main__":
    main()
